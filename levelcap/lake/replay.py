"""Lazy shards: what was not stored is computed again by playing the same actions once more.

A match follows from its seed, the patch, the line-up and everybody's actions, so views, masks,
rewards and ends come out bit for bit as they were (a test compares them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import Corrupt, refuse
from levelcap.lake.header import Header
from levelcap.world import make
from levelcap.world.patches import load_patch, patch_hash

AGAIN = "Record it again, or read it with the levelcap version that wrote it"


@dataclass(frozen=True)
class Matches:
    """The episodes of whole matches: which match [E] (from 0), seed, seat, length, row [E]."""

    match: NDArray[np.int64]
    seed: NDArray[np.uint64]
    seat: NDArray[np.int64]
    length: NDArray[np.int64]
    first_row: NDArray[np.int64]


def check_patch(header: Header, name: str) -> None:
    """Refuse a lazy shard whose patch is not the one this version has."""
    content = header.patch["content"] or header.patch["name"]
    if patch_hash(load_patch(content)) != header.patch["sha256"]:
        what = f"{name} was played with other numbers of patch {header.patch['name']}"
        raise Corrupt(refuse(what, header.patch["sha256"], AGAIN))


def replay_matches(
    header: Header, matches: Matches, actions: NDArray[np.uint8], views: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Columns of all rows: the views asked for, mask, reward, terminated, truncated, alive.

    actions: [N, heads] of all rows; a seat out for good has none and its input is ignored.
    """
    num_matches = int(matches.match[-1]) + 1
    seeds = np.zeros(num_matches, np.uint64)
    seeds[matches.match] = matches.seed
    first = np.full((num_matches, header.num_players), -1, np.int64)
    length = np.zeros((num_matches, header.num_players), np.int64)
    first[matches.match, matches.seat] = matches.first_row
    length[matches.match, matches.seat] = matches.length
    world = make(
        header.world,
        num_matches,
        views=tuple(views),
        match_seeds=seeds,
        auto_reset=False,
        patch=header.patch["content"] or header.patch["name"],
        champions=_champions(header),
        decision_ticks=header.decision_ticks,
        threads=1,  # a reader has its own
    )
    columns = _empty(header, len(actions), views)
    seen = world.reset()
    for t in range(int(length.max())):
        where = np.nonzero(t < length)
        rows = first[where] + t
        given = np.zeros((num_matches, header.num_players, len(header.heads)), np.uint8)
        given[where] = actions[rows]
        for name in (*views, "mask", "alive"):
            columns[name][rows] = seen[name][where]
        seen, rewards, terminated, truncated, _ = world.step(given)
        columns["reward"][rows] = rewards[where]
        columns["terminated"][rows] = terminated[where]
        columns["truncated"][rows] = truncated[where]
    _check_ends(columns["terminated"], first, length)
    return columns


def _champions(header: Header) -> Any:
    return tuple(header.champions) if isinstance(header.champions, list) else header.champions


def _empty(header: Header, rows: int, views: Sequence[str]) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {
        name: np.empty((rows, *header.view_shapes[name]), header.view_dtype(name)) for name in views
    }
    columns["mask"] = np.empty((rows, header.mask_size), np.uint8)
    columns["reward"] = np.empty(rows, np.float32)
    columns |= {name: np.empty(rows, np.bool_) for name in ("terminated", "truncated", "alive")}
    return columns


def _check_ends(
    terminated: NDArray[np.bool_], first: NDArray[np.int64], length: NDArray[np.int64]
) -> None:
    """Every player must go out exactly at the last row: anything else is another match."""
    there = length > 0
    last = (first + length - 1)[there]
    if int(terminated.sum()) != len(last) or not terminated[last].all():
        what = "a replayed match does not end where the recorded one did"
        raise Corrupt(refuse(what, int(terminated.sum()), AGAIN))
