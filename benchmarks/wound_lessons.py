"""Lessons in which a wound is the only thing that says why a wary teacher flees.

In matches as they are everything else says it, too: hp stays low after a wound, the body is seen
running, and whoever was in a fight is hurt. A clone reads whichever of these is nearest (causal
confusion, de Haan et al. 2019). So chance takes a hand here, whatever the players do:

    heals    hp goes up at random moments: what hp is now says nothing of what it was
    hurts    hp falls at random moments, by more or by less than makes a wary one flee
    charms   for a while a player cannot be hurt: the same fights, without a wound
    drivers  most bodies are driven by bots that do not care, while a wary twin in the same seat
             says what it would want and do (as `reinforce --teacher` does); some of them run away
             at random moments, unhurt: neither is one who flees seen running, nor the other way

A share of the matches is left as it is. The labels are always the wary twin's.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.lake.gather import Facts, Gather
from levelcap.lake.header import Header
from levelcap.lake.write import ShardWriter, write_shard
from levelcap.nets.hierarchy.shape import VIEWS
from levelcap.play.record.plan import make_plan
from levelcap.play.roster import find
from levelcap.play.seats import NOBODY, Seats
from levelcap.world.match import ArenaWorld
from levelcap.world.players.wary import FLIGHT

DRIVERS = ("master", "veteran", "rookie", "wanderer")
# Shares of the seats whose body the teacher drives itself, and of those that run when they like.
OWN, SKITTISH = 0.3, 0.3
AS_IT_IS = 0.25  # share of the matches in which chance keeps out
HEAL, HURT, CHARM, FRIGHT = 1 / 120, 1 / 600, 1 / 120, 1 / 250  # chances a decision
FULL, LEAST = 100_000, 3_000  # thousandths of a hp
MATCHES = 48  # at once


@dataclass
class Chance:
    """What chance does to the hp of everybody, [M, P] each."""

    rng: np.random.Generator
    off: NDArray[np.bool_]
    left: NDArray[np.int64]  # decisions of a hurt to come
    pace: NDArray[np.int64]  # what each of them costs
    charm: NDArray[np.int64]  # decisions of a charm to come
    floor: NDArray[np.int64]  # hp below which a charmed one does not fall

    @classmethod
    def of(cls, shape: tuple[int, int], rng: np.random.Generator) -> Chance:
        """Nothing has happened yet."""
        off = np.broadcast_to(rng.random((shape[0], 1)) < AS_IT_IS, shape).copy()
        return cls(rng, off, *(np.zeros(shape, np.int64) for _ in range(4)))

    def meddle(self, hp: NDArray[Any], active: NDArray[np.bool_]) -> None:
        """Change hp [M, P] in place, of whoever lives."""
        rng, shape = self.rng, hp.shape
        lives = (hp > 0) & active & ~self.off
        draws = rng.random((3, *shape))
        # A hurt of 15 to 75 hp that takes .1 to 3.5 s, and ends a charm.
        begins = lives & (draws[0] < HURT) & (self.left == 0)
        long = rng.integers(1, 36, shape)
        cost = rng.integers(15_000, 75_000, shape) // long
        self.left[begins], self.pace[begins], self.charm[begins] = long[begins], cost[begins], 0
        hurts = lives & (self.left > 0)
        self.left[self.left > 0] -= 1
        hp[hurts] = np.maximum(hp[hurts] - self.pace[hurts], np.minimum(hp[hurts], LEAST))
        # Whole again, or by any part of what is missing.
        heals = lives & (draws[1] < HEAL)
        part = np.where(rng.random(shape) < 0.6, 1.0, rng.random(shape))
        healed = hp + ((FULL - hp) * part).astype(hp.dtype)
        hp[heals] = healed[heals]
        charmed = lives & (draws[2] < CHARM) & (self.charm == 0) & (self.left == 0)
        self.charm[charmed] = rng.integers(100, 500, shape)[charmed]
        whole = charmed & (rng.random(shape) < 0.6)
        hp[whole] = FULL
        self.floor[charmed] = hp[charmed]
        safe = lives & (self.charm > 0)
        self.charm[self.charm > 0] -= 1
        self.floor[safe] = np.maximum(self.floor, hp)[safe]
        hp[safe] = self.floor[safe]


def record_lessons(world: str, teacher: str, games: int, seed: int, out: Path) -> Header:
    """Play games as above and publish them as a shard of the teacher's."""
    plan = make_plan(
        [teacher],
        world,
        games,
        seed,
        names=None,
        keep=None,
        views=VIEWS,
        patch="1.0",
        champions=None,
        lazy=False,
    )

    def fill(writer: ShardWriter) -> None:
        for first in range(0, games, MATCHES):
            gather, facts = _play(plan, first, min(games, first + MATCHES), seed)
            for steps, episodes in gather.blocks(facts):
                writer.add(steps, episodes)

    return write_shard(out, plan.header, fill)


def _frighten(mind: Any, rng: np.random.Generator) -> None:
    """Let bodies of wary bots run because of nothing, and not because of a wound."""
    mind["lost"][:] = 0.0
    runs = (rng.random(len(mind["left"])) < FRIGHT) & (mind["left"] == 0)
    mind["left"][runs] = rng.integers(FLIGHT // 4, FLIGHT, len(runs))[runs]


def _play(plan: Any, first: int, last: int, seed: int) -> tuple[Gather, Facts]:
    """Games first..last-1; every seat is a pupil's."""
    world = plan.open(first, last)
    assert isinstance(world, ArenaWorld)
    shape = (last - first, world.spec.num_players)
    rng = np.random.default_rng((seed, first))
    lot, driver = rng.random(shape), rng.integers(0, len(DRIVERS), shape)
    driver = np.where(lot < OWN, NOBODY, np.where(lot < OWN + SKITTISH, len(DRIVERS), driver))
    twins = Seats(world, plan.policies, np.zeros(shape, np.int64))
    teacher = plan.policies[0].name
    drivers = Seats(world, [find(name) for name in (*DRIVERS, teacher)], driver)
    everybody = np.ones(shape, np.bool_)
    gather = Gather(plan.header, everybody)
    chance = Chance.of(shape, rng)
    views = world.reset()
    active, running = views["alive"].copy(), np.ones(len(driver), np.bool_)
    winner = np.full(len(driver), -1, np.int64)
    while running.any():
        gather.look(views, active)
        told = twins.act(views)
        _frighten(drivers.states[-1], rng)
        done = np.where((driver == NOBODY)[..., None], told, drivers.act(views))
        views, rewards, terminated, truncated, info = world.step(done)
        gather.note(
            actions=told,
            log_probs=twins.log_probs,
            intents=twins.intents,
            rewards=rewards,
            terminated=terminated,
            truncated=truncated,
        )
        ended = info["ended"] & running
        winner[ended] = info["winner"][ended]
        running &= ~ended
        active = info["active"] & running[:, None]
        chance.meddle(world.state["hp"][:, : shape[1]], active)
        views = world.observe()
    teams = np.arange(shape[1]) // (shape[1] // plan.header.num_teams)
    champions = np.full(shape, "")
    policy = np.zeros(shape, np.int64)  # what is recorded is the teacher's
    return gather, Facts(plan.seeds(first, last), winner, teams, policy, champions, everybody)
