"""Rollouts as a stage: the same bits here and in processes, also when one is killed; they go on."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from levelcap.kit.backend import Inline, Processes
from levelcap.learn.rl.batch import Batch
from levelcap.learn.rl.collect import Collected, Rollout, collect
from levelcap.learn.rl.config import for_world
from tests.learn.league.test_season import hero

CONFIG = replace(
    for_world("duel"), lanes=16, unroll=12, minibatches=2, cousins=0, opponents=("rookie",)
)


def assert_equal(a: Batch, b: Batch) -> None:
    for field in fields(Batch):
        one, other = getattr(a, field.name), getattr(b, field.name)
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
        elif isinstance(one, dict):
            assert one.keys() == other.keys()
            for name, rows in one.items():
                np.testing.assert_array_equal(rows, other[name])
        elif field.name != "truncations":
            assert one == other, field.name
    assert [(c.minibatch, c.t, c.lane) for c in a.truncations] == [
        (c.minibatch, c.t, c.lane) for c in b.truncations
    ]


def collected(crew: Processes, units: list[Rollout], kill: bool) -> list[Collected]:
    """kill: one of the processes, while it has a unit."""
    if kill:
        threading.Timer(0.02, lambda: os.kill(crew.pids[0], signal.SIGKILL)).start()
    return crew.run(collect, units)


@pytest.mark.parametrize("family", ["flat", "hierarchy"])
def test_the_same_bits_in_processes_also_when_one_is_killed(
    family: str, crew: Processes, tmp_path: Path
) -> None:
    start = hero(tmp_path / "hero", family, ("strategist=lstm",) if family == "hierarchy" else ())
    here = there = [Rollout(start, CONFIG, number, seed=3) for number in range(4)]
    deaths = crew.deaths
    for kill in (False, family == "flat"):
        mine, theirs = Inline().run(collect, here), collected(crew, there, kill)
        for one, other in zip(mine, theirs, strict=True):
            assert_equal(one.batch, other.batch)
        here, there = [c.unit for c in mine], [c.unit for c in theirs]
    assert crew.deaths == deaths + (family == "flat")
    # Units have matches of their own.
    assert not np.array_equal(mine[0].batch.inputs, mine[1].batch.inputs)


def test_two_short_units_are_one_long_one(tmp_path: Path) -> None:
    """What a unit carries over is all there is: nothing begins anew in the middle."""
    start = hero(tmp_path / "hero")
    first = collect(Rollout(start, CONFIG))
    second = collect(first.unit)
    whole = collect(Rollout(start, replace(CONFIG, unroll=24))).batch
    for name in ("actions", "rewards", "log_probs", "alive"):
        halves = [getattr(part.batch, name) for part in (first, second)]
        np.testing.assert_array_equal(np.concatenate(halves, 1), getattr(whole, name))
