"""Shards made by hand: two players, two heads, three views, values that say where they belong."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from levelcap.kit.publish import publish
from levelcap.lake import write
from levelcap.lake.header import Header, header_of
from levelcap.lake.records import Episodes, Steps
from levelcap.world.spec import Head, ViewSpec, WorldSpec

SPEC = WorldSpec(
    name="gym:made",
    num_players=2,
    num_teams=2,
    heads=(Head("turn", 3), Head("push", 2)),
    views={
        "features": ViewSpec((4,)),
        "grid": ViewSpec((2, 3)),
        "frame": ViewSpec((2, 2, 3), "uint8"),
    },
    flat_views=("features", "grid"),
)


def header(**changes: Any) -> Header:
    """The header of a made shard; policy `net` knows its log-probabilities, `bot` does not."""
    fields: dict[str, Any] = {
        "patch": {"name": "", "sha256": "", "content": None},
        "views": "stored",
        "decision_ticks": 1,
        "champions": None,
        "policies": [
            {"name": "net", "hash": "1" * 64, "log_probs": True},
            {"name": "bot", "hash": "2" * 64, "log_probs": False},
        ],
        "made_by": "a test",
        "source": "made",
        "config": {"number": 1},
    }
    view_names = changes.pop("view_names", ("features", "grid", "frame"))
    return header_of(SPEC, view_names, **(fields | changes))


def block(lengths: Sequence[int], seed: int = 0) -> tuple[Steps, Episodes]:
    """Matches with one episode of each length for seats 0 and 1; row i has features[0] == i."""
    rng = np.random.default_rng(seed)
    each = np.repeat(np.array(lengths, np.int32), 2)
    n, e = int(each.sum()), len(each)
    features = rng.normal(size=(n, 4)).astype(np.float32)
    features[:, 0] = np.arange(n)
    last = np.cumsum(each) - 1
    terminated = np.zeros(n, np.bool_)
    terminated[last] = True
    steps = Steps(
        actions=rng.integers(0, (3, 2), (n, 2)).astype(np.uint8),
        log_probs=-rng.random(n).astype(np.float32),
        intents=rng.integers(-1, 5, n).astype(np.int8),
        mask=np.ones((n, 5), np.uint8),
        rewards=rng.normal(size=n).astype(np.float32),
        terminated=terminated,
        truncated=np.zeros(n, np.bool_),
        alive=rng.random(n) < 0.9,
        views={
            "features": features,
            "grid": rng.normal(size=(n, 2, 3)).astype(np.float32),
            "frame": rng.integers(0, 256, (n, 2, 2, 3)).astype(np.uint8),
        },
    )
    seats = np.arange(e) % 2
    episodes = Episodes(
        match=(np.arange(e) // 2).astype(np.int32),
        match_seed=(np.arange(e) // 2 + 1000 * seed).astype(np.uint64),
        seat=seats.astype(np.int16),
        team=seats.astype(np.int16),
        policy=seats.astype(np.int16),
        champion=np.array(["base", "Ranger"])[seats],
        outcome=np.where(seats == 0, 1, -1).astype(np.int8),
        reward_sum=np.add.reduceat(steps.rewards, last + 1 - each).astype(np.float32),
        length=each,
        kept=np.ones(e, np.bool_),
    )
    return steps, episodes


def shard(
    folder: Path, lengths: Sequence[int], *, group_rows: int = 65_536, seed: int = 0, **changes: Any
) -> tuple[Steps, Episodes]:
    """Write a shard with one block and return what is in it."""
    steps, episodes = block(lengths, seed)
    before, write.GROUP_ROWS = write.GROUP_ROWS, group_rows
    try:
        write.write_shard(folder, header(**changes), lambda w: w.add(steps, episodes))
    finally:
        write.GROUP_ROWS = before
    return steps, episodes


def signed_again(folder: Path, change: Callable[[Path], None]) -> Path:
    """A copy of a shard, changed and signed anew: its manifest is right, its content is not."""
    target = folder.with_name(f"{folder.name}-changed")

    def copy(tmp: Path) -> None:
        for path in folder.iterdir():
            if path.name != "manifest.json":
                shutil.copy(path, tmp / path.name)
        change(tmp)

    publish(target, copy, made_by="a test")
    return target
