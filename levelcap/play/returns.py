"""Mean return of one policy in an outside game: N episodes, each counted once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.seeds import chain, check_seed
from levelcap.kit.stats import mean_interval
from levelcap.play.seats import Seats
from levelcap.world import make
from levelcap.world.protocols import Policy

LANES = 64


@dataclass(frozen=True)
class Returns:
    """Mean return over episodes (the mean over players where there are several)."""

    mean: float
    ci_low: float
    ci_high: float
    mean_length: float
    episodes: int

    def as_json(self) -> dict[str, Any]:
        """Its numbers, rounded."""
        return {key: round(value, 6) for key, value in asdict(self).items()}


def play_episodes(policy: Policy, world_name: str, episodes: int, seed: int = 0) -> Returns:
    """Play `episodes` episodes with the policy in every seat.

    The first episode of lane i is episode i; longer runs play the lanes again with the next seed,
    so short episodes are not counted more often than long ones.
    """
    if episodes < 1:
        raise BadValue(refuse("episodes must be at least 1", episodes, "Give --games 1 or more"))
    check_seed(seed)
    totals: list[float] = []
    lengths: list[int] = []
    for first in range(0, episodes, LANES):
        lanes = min(LANES, episodes - first)
        got, took = _first_episodes(policy, world_name, lanes, chain(seed, first))
        totals.extend(got)
        lengths.extend(took)
    values = np.array(totals)
    low, high = mean_interval(values)
    return Returns(float(values.mean()), low, high, float(np.mean(lengths)), len(values))


def _first_episodes(
    policy: Policy, world_name: str, lanes: int, seed: int
) -> tuple[list[float], list[int]]:
    world = make(world_name, lanes, seed=seed)
    try:
        table = Seats(world, [policy], np.zeros((lanes, world.spec.num_players), np.int64))
        views = world.reset()
        total, length = np.zeros(lanes), np.zeros(lanes, np.int64)
        running = np.ones(lanes, bool)
        while running.any():
            views, rewards, _, _, info = world.step(table.act(views))
            total += np.where(running, rewards.mean(1), 0.0)
            length += running
            running &= ~info["ended"]
        return total.tolist(), length.tolist()
    finally:
        world.close()
