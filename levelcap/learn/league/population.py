"""Main and its siblings: who loses to another takes over its checkpoint and its settings."""

from __future__ import annotations

from levelcap.kit.backend import Backend
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.seeds import chain, stream
from levelcap.learn.engine.state import checkpoints
from levelcap.learn.league.config import MAIN, SIBLING
from levelcap.learn.league.players import Player
from levelcap.learn.league.shelf import copy_published
from levelcap.learn.league.state import League
from levelcap.learn.league.tuning import Tuning, explored
from levelcap.play.units import play_series
from levelcap.world.spec import WORLDS

SERIES = 7  # purpose of the seeds of comparisons


def found_siblings(league: League, main: Player, seed: int) -> None:
    """Players that begin as main does, each with settings of its own."""
    config = league.config
    if config.siblings and league.world not in WORLDS:
        what, remedy = "siblings are compared in match-ups", "Leave siblings at 0 in outside games"
        raise BadValue(refuse(what, league.world, remedy))
    for number in range(1, config.siblings + 1):
        name = f"{SIBLING}{number}"
        factors = explored(
            {}, stream(seed, name), factor=config.tune_factor, most=config.tune_range
        )
        league.put(main.with_(player_id=name, agent_type=SIBLING, run=f"{name}-0", factors=factors))


def tune(league: League, player: Player, seed: int, backend: Backend) -> Tuning | None:
    """Compare a member with another, drawn; if it loses it becomes that one, with a change.

    None: no other has learned anything yet.
    """
    config = league.config
    rng = stream(chain(seed, league.turn), "tuning")
    kin = [p for p in league.learners() if p.agent_type in (MAIN, SIBLING) and p.updates]
    others = [p for p in kin if p.player_id != player.player_id]
    if not others:
        return None
    other = others[int(rng.integers(len(others)))]
    series, games = chain(seed, league.turn, SERIES), config.tune_games
    mine, theirs = (str(league.place / str(p.checkpoint)) for p in (player, other))
    score = float(play_series(backend, mine, theirs, league.world, games, series).mean())
    said = (other.player_id, other.sha256, series, games, score, player.factors)
    if score >= config.tune_below:
        return Tuning(*said, None, player.factors)
    after = explored(other.factors, rng, config.tune_factor, config.tune_range)
    _take_over(league, player, other, after)
    return Tuning(*said, other.factors, after)


def _take_over(league: League, player: Player, other: Player, factors: dict[str, float]) -> None:
    life = player.life + 1
    taken = league.put(
        player.with_(
            checkpoint=other.checkpoint,
            sha256=other.sha256,
            start=other.start,
            life=life,
            run=f"{player.player_id}-{life}",
            updates=other.updates,
            steps=other.steps,
            slots=other.slots,
            # What it publishes is named by steps, which must not come twice.
            ahead=max(player.ahead + player.steps, other.steps) - other.steps,
            factors=factors,
        )
    )
    # With optimizer, slow weights and unfinished matches: it goes on where the other stood.
    newest = checkpoints(league.run_folder(other) / "checkpoints")[-1]
    target = league.run_folder(taken) / "checkpoints"
    target.mkdir(parents=True)
    copy_published(newest, target / newest.name)
    league.payoff.take_over(player.player_id, other.player_id)
