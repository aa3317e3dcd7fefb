"""One turn of one player: it learns against the opponents of its plan, checkpoint to checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from levelcap.kit.seeds import chain
from levelcap.learn.engine.folder import RunFolder
from levelcap.learn.engine.loop import Outcome, train
from levelcap.learn.engine.state import State
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks, Progress
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.learn.league.pool import Bench, LeaguePool
from levelcap.learn.rl.batch import Batch
from levelcap.learn.rl.config import RlConfig
from levelcap.learn.rl.groups import build_groups
from levelcap.learn.rl.task import RlTask
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.family import copy_net

NEVER = 2**62  # steps: past selves are the league's business


@dataclass(frozen=True)
class Turn:
    """What a player is to do."""

    world: str
    patch: str
    run: Path
    start: Path
    """the snapshot its life began from"""
    config: RlConfig
    stops: Stops
    """of its life"""
    seed: int
    shares: dict[str, float]
    """key of each opponent -> share of the matches"""
    seconds: float = 0.0
    updates: int = 0
    """length of this turn: updates, or as many as fit into `seconds`"""
    core_seconds: float = 0.0
    """or: until its life has cost as much"""
    asked: Callable[[], bool] = lambda: False
    """somebody wants the season to stop or wait: the turn ends early, at a checkpoint"""


@dataclass(frozen=True)
class Played:
    """What came of it."""

    outcome: Outcome
    over: bool
    """its life's stops are reached"""
    interrupted: bool
    tally: dict[str, list[int]]
    slots: tuple[str, ...]


class LeagueTask(RlTask):
    """Reinforcement learning whose opponents change between turns."""

    pool: LeaguePool

    def restore(self, state: State) -> Batch:
        """Take the matches back against whom they were begun, then let this turn's opponents in."""
        self.pool.take_seats(state.values["members"])
        self._num_bots = len(self.pool.members)  # all of them: none is a past self
        for group in self.groups:
            group.opponents.keep_first(0)
            for member in self.pool.members if group.pool is not None else ():
                group.opponents.add(member.policy)
        batch = super().restore(state)
        for group in self.groups:
            if group.pool is None:
                continue
            for slot in self.pool.enter(self.pool.shares, set(group.foe.tolist())):
                group.welcome(slot, self.pool.members[slot].policy)
        return batch

    def summary(self) -> dict[str, float]:
        """How the matches of this turn went so far, instead of a column for every opponent."""
        wins, draws, losses = np.sum([[0, 0, 0], *self.pool.tally.values()], axis=0).tolist()
        games = wins + draws + losses
        score = (wins + draws / 2) / games if games else 0.5
        return {"league_score": score, "league_games": float(games), "reuse": self.config.epochs}


def take_turn(turn: Turn, bench: Bench, hooks: Hooks) -> Played:
    """Train for one turn; ends at a checkpoint and a snapshot."""
    with RunFolder(turn.run) as folder:
        task = _build(turn, bench)
        settings = {"world": turn.world, "patch": turn.patch, "seed": turn.seed, "kind": "league"}
        start = {"start": turn.start.name, "config": asdict(turn.config)}
        folder.claim(settings | start)
        outcome = train(
            task, turn.config.engine, turn.stops, folder, replace(hooks, sitting=_sitting(turn))
        )
    slots = tuple(member.name for member in task.pool.members)
    done = outcome.progress
    over = turn.stops.reached(done.update, done.steps, outcome.seconds, None) is not None
    interrupted = outcome.interrupted
    return Played(outcome, over, interrupted, task.pool.tally, slots)


def _sitting(turn: Turn) -> Callable[[Progress, float, float], bool]:
    """Says when the turn is over, by updates or by seconds from where it began."""
    first: list[float] = []

    def enough(progress: Progress, seconds: float, core_seconds: float) -> bool:
        # The first time it is asked nothing has been done yet.
        first.extend(() if first else (progress.update, seconds))
        if turn.asked():
            return True
        if turn.core_seconds:
            return core_seconds >= turn.core_seconds
        if turn.updates:
            return progress.update - first[0] >= turn.updates
        return seconds - first[1] >= turn.seconds

    return enough


def _build(turn: Turn, bench: Bench) -> LeagueTask:
    spec = spec_of_world(turn.world, turn.patch)
    net, meta, digest = load_world_net(turn.start)
    # Without dropout: what is learned from must be what acted.
    net.eval()
    reference = copy_net(net, meta)
    meta = replace(meta, parents=(digest,), metrics={})
    pool = LeaguePool(bench)
    # A new run starts its matches with these; one that is restored lets them in afterwards.
    pool.enter(turn.shares, set())
    config = replace(
        turn.config,
        gamma=turn.config.gamma or spec.gamma,
        past_every_steps=NEVER,
        teacher="",
    )
    views = (*meta.views, *net.critic_views)
    groups = build_groups(spec, views, config, pool, chain(turn.seed, 3))
    return LeagueTask(net, meta, config, groups, pool, reference, chain(turn.seed, 4))
