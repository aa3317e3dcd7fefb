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
from levelcap.lake.rows import as_items
from levelcap.world import make
from levelcap.world.rules.patches import load_patch, patch_hash

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
    num_matches, players = int(matches.match[-1]) + 1, header.num_players
    seeds = np.zeros(num_matches, np.uint64)
    seeds[matches.match] = matches.seed
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
    # Longest first: those who still play at t are then a front part of the list.
    order = np.argsort(-matches.length, kind="stable")
    places = (matches.match * players + matches.seat)[order]
    first, length = matches.first_row[order], matches.length[order]
    playing = np.searchsorted(-length, -np.arange(int(length[0])), "left")
    columns = _empty(header, len(actions), views)
    given = np.zeros((num_matches, players, len(header.heads)), np.uint8)
    before, after = (*views, "mask", "alive"), ("reward", "terminated", "truncated")
    seen = world.reset()
    for t, count in enumerate(playing.tolist()):
        where, rows = places[:count], first[:count] + t
        as_items(given.reshape(-1, given.shape[2]))[where] = as_items(actions)[rows]
        for name in before:
            _move(seen[name], where, columns[name], rows)
        seen, *results, _ = world.step(given)
        for name, values in zip(after, results, strict=True):
            columns[name][rows] = values.reshape(-1)[where]
    _check_ends(columns["terminated"], first + length - 1)
    return columns


def _move(
    source: NDArray[Any], where: NDArray[np.int64], target: NDArray[Any], rows: NDArray[np.int64]
) -> None:
    """Rows `where` of source [M, P, ...] to `rows` of target [N, ...]."""
    flat = source.reshape(-1, *source.shape[2:])
    as_items(target)[rows] = as_items(flat)[where]


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


def _check_ends(terminated: NDArray[np.bool_], last: NDArray[np.int64]) -> None:
    """Every player must go out exactly at the last row: anything else is another match."""
    if int(terminated.sum()) != len(last) or not terminated[last].all():
        what = "a replayed match does not end where the recorded one did"
        raise Corrupt(refuse(what, int(terminated.sum()), AGAIN))
