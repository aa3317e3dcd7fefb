"""Playing into the lake: whole games, laid out beforehand with fair sides, as a shard.

    summary = record(["master", "veteran"], "duel", games=400, seed=0, out=folder)

Games 2k and 2k+1 are a pair as in `matchup`: same seed, seats exchanged (lms: five seats each).
With more than two policies all unordered pairs take turns. One policy plays against itself; then
an exchange of seats would be the same match twice, so every game has a seed of its own. Files are
encoded and written in a second thread while the next games are played.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.lake.gather import Facts, Gather
from levelcap.lake.header import Header
from levelcap.lake.write import ShardWriter, write_shard
from levelcap.play.matchup import counted
from levelcap.play.record.plan import Plan, default_folder, make_plan
from levelcap.play.seats import Seats
from levelcap.world.match import ArenaWorld
from levelcap.world.players.bots import Bot
from levelcap.world.protocols import Policy, World
from levelcap.world.rules.patches import champion_names

SHRINK = 0.75  # finished matches are no longer asked about when this share is left


@dataclass(frozen=True)
class Summary:
    """What was recorded; `results` has a row a pairing (outside games: one row)."""

    folder: Path
    steps: int
    episodes: int
    seconds: float
    steps_per_s: float
    results: list[dict[str, Any]]
    header: Header

    def as_json(self) -> dict[str, Any]:
        """The numbers, for the last line of a command."""
        numbers = {k: v for k, v in asdict(self).items() if k not in ("header", "folder")}
        return {"shard": str(self.folder), **numbers, "quality": self.header.quality}


def record(
    policies: Sequence[Policy | str],
    world: str,
    games: int,
    seed: int = 0,
    out: Path | None = None,
    *,
    names: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    views: Sequence[str] | None = None,
    patch: str | dict[str, Any] = "1.0",
    champions: Any = None,
    lazy: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Summary:
    """Play games and publish them as a new shard.

    Args:
        policies: policies, or names that `levelcap.play.roster` knows. Outside games
            (`gym:`, `zoo:`) take one, which plays every seat.
        world: name of the world.
        games: games in all, shared evenly by the pairs of policies.
        seed: of the layout and of the matches.
        out: the shard's folder; default: below `lake/trajectories`, named by what is played.
        names: names of the policies in the shard; default: their own.
        keep: names of the policies whose steps are kept; default: all.
        views: views to store; default: what a flat net reads.
        patch: name or content of a patch (our rulesets).
        champions: as for `levelcap.world.make` (our rulesets).
        lazy: store actions only; everything else is computed again on reading (our rulesets).
        on_progress: told how many games are done, and of how many.

    Raises:
        UserError: what was asked for cannot be played. Conflict: the shard exists already.
    """
    plan = make_plan(
        policies,
        world,
        games,
        seed,
        names=names,
        keep=keep,
        views=views,
        patch=patch,
        champions=champions,
        lazy=lazy,
    )
    target = out if out is not None else default_folder(plan.header)
    winners: list[NDArray[np.int64]] = []
    began = time.perf_counter()
    header = write_shard(target, plan.header, lambda w: _fill(w, plan, winners, on_progress))
    seconds = time.perf_counter() - began
    return Summary(
        folder=target,
        steps=header.num_steps,
        episodes=header.num_episodes,
        seconds=round(seconds, 3),
        steps_per_s=round(header.num_steps / seconds, 1),
        results=_results(plan, np.concatenate(winners)),
        header=header,
    )


def _fill(
    writer: ShardWriter,
    plan: Plan,
    winners: list[NDArray[np.int64]],
    on_progress: Callable[[int, int], None] | None,
) -> None:
    """Play all games; one batch is written while the next is played."""
    with ThreadPoolExecutor(1, thread_name_prefix="shard") as pool:
        writing: Future[None] | None = None
        first, size = 0, plan.batch
        while first < plan.games:
            last = min(plan.games, first + size)
            gather, facts = _play(plan, first, last)
            first, size = last, plan.next_batch(last - first, gather.num_steps)
            winners.append(facts.winner)
            if writing is not None:
                writing.result()
            writing = pool.submit(_write, writer, gather, facts)
            if on_progress:
                on_progress(last, plan.games)
        if writing is not None:
            writing.result()


def _write(writer: ShardWriter, gather: Gather, facts: Facts) -> None:
    for steps, episodes in gather.blocks(facts):
        writer.add(steps, episodes)


def _play(plan: Plan, first: int, last: int) -> tuple[Gather, Facts]:
    """Play games first..last-1, each to its end."""
    world, seats = plan.open(first, last), plan.seats(first, last)
    kept = plan.keep[seats]
    entrants, chairs = _entrants(plan.policies, seats)
    try:
        table = Seats(world, entrants, chairs)
        gather = Gather(plan.header, np.ones_like(kept) if plan.header.lazy else kept)
        views = world.reset()
        champions = _champions(world, seats.shape)
        running = np.ones(last - first, np.bool_)
        active, asked = views["alive"].copy(), last - first
        winner = np.full(last - first, -1, np.int64)
        due: NDArray[np.bool_] | None = None
        while running.any():
            gather.look(views, active)
            views, rewards, terminated, truncated, info = world.step(table.act(views, due))
            due = info["due"]
            gather.note(
                actions=info["actions"],
                log_probs=table.log_probs,
                intents=table.intents,
                rewards=rewards,
                terminated=terminated,
                truncated=truncated,
            )
            ended = info["ended"] & running
            winner[ended] = info["winner"][ended]
            running &= ~ended
            active = info["active"] & running[:, None]
            if running.sum() < SHRINK * asked:
                table.drop(~running)
                asked = int(running.sum())
    finally:
        world.close()
    teams = np.arange(seats.shape[1]) // (seats.shape[1] // plan.header.num_teams)
    facts = Facts(plan.seeds(first, last), winner, teams, seats, champions, kept)
    return gather, facts


def _entrants(
    policies: list[Policy], seats: NDArray[np.int64]
) -> tuple[list[Policy], NDArray[np.int64]]:
    """A bot alone sits down twice, so that both cores decide."""
    if len(policies) == 1 and isinstance(policies[0], Bot):
        twin = copy.copy(policies[0])
        return [policies[0], twin], seats + np.arange(seats.shape[1]) % 2
    return policies, seats


def _champions(world: World, shape: tuple[int, ...]) -> NDArray[np.str_]:
    if not isinstance(world, ArenaWorld):
        return np.full(shape, "")
    return np.array(champion_names(world.patch))[world.state["champion"]]


def _results(plan: Plan, winners: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Wins, draws and losses of every pairing from the first one's side."""
    names = [policy["name"] for policy in plan.header.policies]
    if plan.layout is None:
        return [{"a": names[0], "games": plan.games}]
    size = plan.header.num_players // plan.header.num_teams
    seats = plan.layout.seats
    won_by = seats[np.arange(len(seats)), np.maximum(winners, 0) * size]
    found = []
    for number, (a, b) in enumerate(list(combinations(range(len(names)), 2)) or [(0, 0)]):
        mine = plan.layout.pairs == number
        if not mine.any():
            continue
        first = (winners == 0) if a == b else (won_by == a)  # alone: seen from team 0
        scores = np.where(winners < 0, 0.5, np.where(first, 1.0, 0.0))[mine]
        told = {name: round(value, 6) for name, value in counted(scores, alone=a == b).items()}
        found.append({"a": names[a], "b": names[b], "games": len(scores), **told})
    return found
