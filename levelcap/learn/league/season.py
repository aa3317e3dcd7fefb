"""A season: players take turns at learning, are frozen when they are strong, and start anew.

    play_season(Season("duel", hero, folder, minutes=30), LeagueConfig(), for_world("duel"))

AlphaStar's league at laptop size (Vinyals et al. 2019): one main player that shall lose to nobody,
an exploiter that shall beat the main player, one that shall beat the whole league. A turn is a
transaction (`state.py`); the same call again goes on after the last whole one. With `turn_updates`
a season that was killed computes the same bits as one that was not.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from levelcap.kit.backend import Backend, Inline
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.publish import sweep
from levelcap.kit.seeds import chain, check_seed, stream
from levelcap.learn.engine.folder import RunFolder
from levelcap.learn.engine.task import Hooks
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.learn.league.config import BOT, LEARNERS, MAIN, SIBLING, LeagueConfig
from levelcap.learn.league.pairing import Pairing, narrowed, plan
from levelcap.learn.league.players import Player
from levelcap.learn.league.population import found_siblings, tune
from levelcap.learn.league.rated import rate_newcomer
from levelcap.learn.league.rules import (
    is_due,
    length_of_life,
    next_learner,
    start_of_life,
    starts_anew,
    to_be_tuned,
)
from levelcap.learn.league.shelf import Shelf, copy_published
from levelcap.learn.league.state import (
    FROZEN,
    PLAYERS,
    SNAPSHOTS,
    STATE,
    League,
    read_league,
)
from levelcap.learn.league.tidy import remove_unneeded, take_back
from levelcap.learn.league.tuning import tuned
from levelcap.learn.league.turn import Played, Turn, take_turn
from levelcap.learn.rl.config import RlConfig
from levelcap.learn.rl.opponents import training_names
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.meta import check_fits
from levelcap.world.spec import WORLDS

PAUSE_LOOK_S = 0.2


@dataclass(frozen=True)
class Season:
    """What a season was asked for."""

    world: str
    start: Path
    """the hero that all players begin as"""
    out: Path
    minutes: float = 0.0
    turns: int = 0
    """length: minutes of turns of `turn_s`, or a number of turns"""
    seed: int = 0
    patch: str = "1.0"

    def num_turns(self, config: LeagueConfig) -> int:
        """Turns of the whole season."""
        if (self.minutes > 0) == (self.turns > 0):
            remedy = "Give --minutes or --turns, above 0"
            raise BadValue(refuse("a season needs one length", (self.minutes, self.turns), remedy))
        return self.turns or max(1, round(self.minutes * 60 / config.turn_s))


@dataclass(frozen=True)
class Ending:
    """How a call ended: all turns taken, or asked to stop."""

    league: League
    reason: str

    @property
    def interrupted(self) -> bool:
        """Is there more to play?"""
        return self.reason in ("stop file", "interrupted")


OnTurn = Callable[[League, dict[str, Any]], None]


def play_season(
    season: Season,
    config: LeagueConfig,
    rl: RlConfig,
    hooks: Hooks | None = None,
    on_turn: OnTurn | None = None,
    backend: Backend | None = None,
) -> Ending:
    """Play until the last turn, or until asked to stop; the same call again goes on.

    on_turn: told the league and the row of every turn that counts. backend: plays rated matches.
    """
    check_seed(season.seed)
    torch.set_num_threads(1)
    season.num_turns(config)
    with RunFolder(season.out) as folder:
        wanted: dict[str, Any] = asdict(season) | {"out": None, "kind": "league"}
        wanted["start"] = str(season.start)
        table = _Table(season, config, rl, hooks or Hooks(), backend or Inline())
        folder.claim({**wanted, "config": asdict(config), "rl": asdict(rl)})
        table.open()
        reason = "all turns taken"
        while not table.over():
            if folder.asked_to_stop():
                reason = "stop file"
                break
            if folder.paused():
                time.sleep(PAUSE_LOOK_S)
                continue
            if table.turn(on_turn, folder).interrupted:
                reason = "interrupted"
                break
        folder.clear_stop()
        return Ending(table.league, reason)


class _Table:
    """The running season."""

    def __init__(
        self, season: Season, config: LeagueConfig, rl: RlConfig, hooks: Hooks, backend: Backend
    ) -> None:
        self.season, self.config, self.rl, self.backend = season, config, rl, backend
        # What a turn's run publishes is not the season's; `_freeze` says what is.
        self.hooks, self.on_publish = replace(hooks, on_publish=None), hooks.on_publish
        self.total = season.num_turns(config)
        net, meta, _ = load_world_net(season.start)
        spec = spec_of_world(season.world, season.patch)
        check_fits(meta, spec)
        # An outside game does not say who plays together, so each of its players is a side.
        if season.world not in WORLDS and spec.num_players != 2:
            what, remedy = "a season is of two sides", "Give a game of two players"
            raise BadValue(refuse(what, f"{spec.num_players} in {season.world}", remedy))
        del net
        self.steps_before = meta.steps
        self.league = League(season.out, season.world, config)

    def open(self) -> None:
        """Read the season, or found it."""
        for name in (PLAYERS, FROZEN, SNAPSHOTS):
            (self.season.out / name).mkdir(exist_ok=True)
            sweep(self.season.out / name)
        if (self.season.out / STATE).exists():
            self.league = read_league(self.season.out)
            take_back(self.league)
        self.shelf = Shelf(self.league)
        if not self.league.players:
            self._found()

    def _found(self) -> None:
        digest = self.shelf.keep(self.season.start)
        place = f"{FROZEN}/{digest}"
        first = Player(f"{MAIN}-0", MAIN, place, digest, created_at_step=self.steps_before)
        self.league.put(first)
        names = training_names(self.config.bots, self.config.cousins, self.season.seed)
        for name in names if ":" not in self.season.world else ():
            self.league.put(Player(name, BOT, name, ""))
        for kind in LEARNERS:
            if self.config.weight(kind) > 0:
                player = Player(kind, kind, place, digest, trainable=True, parent_id=f"{MAIN}-0")
                self.league.put(player.with_(run=f"{kind}-0", start=place))
        found_siblings(self.league, self.league.players[MAIN], self.season.seed)
        self.league.save()

    def over(self) -> bool:
        """Have all turns been taken?"""
        return self.league.turn >= self.total

    def turn(self, on_turn: OnTurn | None, folder: RunFolder) -> Played:
        """The next player's turn, and all that follows from it."""
        league, began, core = self.league, time.monotonic(), time.process_time()
        before = next_learner(league)
        pairings = self._pairings(before)
        order = replace(
            self._order(before, pairings), asked=lambda: folder.asked_to_stop() or folder.paused()
        )
        played = take_turn(order, self.shelf, self.hooks)
        player = self._take_in(before, played)
        change = None
        if to_be_tuned(league, player, self.total):
            change = tune(league, player, self.season.seed, self.backend)
        frozen, matches = self._freeze(league.players[player.player_id], played.over)
        took, progress = time.monotonic() - began, played.outcome.progress
        row = {
            "turn": league.turn,
            "player": player.player_id,
            "run": player.run,
            "sha256_before": before.sha256,
            "sha256": player.sha256,
            "updates": progress.update,
            "steps": progress.steps,
            "seconds": round(took, 3),
            "opponents": [pairing.as_json() for pairing in pairings],
            "results": played.tally,
            "frozen": frozen,
            "tuned": None if change is None else change.as_json(),
        }
        league.turn += 1
        league.seconds += took
        league.core_seconds += time.process_time() - core
        league.commit(row, matches)
        remove_unneeded(league)
        if on_turn is not None:
            on_turn(league, row)
        return played

    def _pairings(self, player: Player) -> list[Pairing]:
        """Opponents of the turn, all of whom can be loaded."""
        league, most = self.league, self.config.opponents
        rng = stream(chain(self.season.seed, league.turn), "league draw")
        while True:
            main = league.players[MAIN]
            found = plan(player, league.frozen(), main, league.payoff, self.config)
            drawn = narrowed(found, most, rng)
            others = {p.opponent for p in drawn} - {player.player_id}
            dead = [name for name in others if not self.shelf.alive(league.players[name])]
            # The dead are marked and never drawn again, so this ends.
            if not dead:
                return drawn

    def _order(self, player: Player, pairings: list[Pairing]) -> Turn:
        league, config = self.league, self.config
        assert player.start is not None
        shares = {league.players[p.opponent].key: p.share for p in pairings}
        shares.pop(player.key, None)  # self-play has its own lanes
        # One checkpoint and one snapshot a turn, at its end.
        engine = replace(self.rl.engine, checkpoint_s=1e9, snapshot_s=1e9)
        own = config.self_play if player.agent_type in (MAIN, SIBLING) else 0.0
        kind = zlib.crc32(player.player_id.encode())
        return Turn(
            league.world,
            self.season.patch,
            league.run_folder(player),
            league.place / player.start,
            tuned(replace(self.rl, self_play=own, engine=engine), player.factors),
            length_of_life(league, player, self.total),
            chain(self.season.seed, kind, player.life),
            shares,
            config.turn_s,
            config.turn_updates,
        )

    def _take_in(self, player: Player, played: Played) -> Player:
        """The learner as it is after its turn, and what the turn says of the payoffs."""
        league, progress = self.league, played.outcome.progress
        for name, (wins, draws, losses) in played.tally.items():
            league.payoff.add(player.player_id, name, (wins, draws, losses), fading=True)
        # Kept each turn: others meet the learner as it is after it, not as it was when frozen.
        digest = self.shelf.keep(played.outcome.snapshot)
        return league.put(
            player.with_(
                checkpoint=f"{FROZEN}/{digest}",
                sha256=digest,
                turns=player.turns + 1,
                updates=progress.update,
                steps_since_snapshot=player.steps_since_snapshot + progress.steps - player.steps,
                steps=progress.steps,
                slots=played.slots,
            )
        )

    def _freeze(self, player: Player, over: bool) -> tuple[str | None, list[dict[str, Any]]]:
        """A snapshot joins the league when it is due; an exploiter then starts anew."""
        league = self.league
        # Siblings are there to find settings: what they learn comes in when main takes it over.
        if player.agent_type == SIBLING or not (over or is_due(league, player, self.total)):
            return None, []
        kin = [p for p in league.players.values() if p.agent_type == player.agent_type]
        newcomer = league.put(
            Player(
                f"{player.agent_type}-{len(kin) - 1}",
                player.agent_type,
                player.checkpoint,
                player.sha256,
                parent_id=player.player_id,
                born=league.turn + 1,
                created_at_step=self.steps_before + player.steps + player.ahead,
            )
        )
        player = league.put(player.with_(steps_since_snapshot=0, frozen_at=player.turns))
        if player.agent_type == MAIN:
            self._publish(player)
        seed = chain(self.season.seed, league.turn)
        matches = rate_newcomer(league, newcomer, self.shelf, seed, self.backend)
        if starts_anew(league, player, over, self.season.seed):
            self._start_anew(player)
        return newcomer.player_id, matches

    def _publish(self, main: Player) -> None:
        """The main player's snapshots are the season's, as those of any run."""
        assert main.checkpoint is not None
        place = self.league.place / SNAPSHOTS / f"step-{main.steps + main.ahead:012d}"
        if not place.exists():
            copy_published(self.league.place / main.checkpoint, place)
        if self.on_publish is not None:
            self.on_publish(place)

    def _start_anew(self, player: Player) -> None:
        league, life = self.league, player.life + 1
        start = start_of_life(league, self.total)
        # It is somebody else now.
        league.payoff.forget(player.player_id)
        league.put(
            player.with_(
                checkpoint=start.checkpoint,
                sha256=start.sha256,
                start=start.checkpoint,
                parent_id=start.player_id,
                life=life,
                run=f"{player.agent_type}-{life}",
                updates=0,
                steps=0,
                slots=(),
            )
        )
