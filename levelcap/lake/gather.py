"""Matches that run side by side, laid out player by player.

    gather = Gather(header, wanted)          # wanted bool [M, P]: whose steps are kept
    while playing:
        gather.look(views, active)           # before the decision
        gather.note(actions, log_probs, intents, rewards, terminated, truncated)
    for steps, episodes in gather.blocks(facts):
        ...

A world shows one decision of all players at a time; a shard stores one player's decisions
together. Only rows of active players are copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.lake.header import Header
from levelcap.lake.records import Episodes, Steps
from levelcap.lake.rows import as_items

PIECE_BYTES = 24 << 20  # laid out at a time: memory that can be used again and again
BEFORE = ("mask", "alive")
AFTER = ("actions", "log_probs", "intents", "rewards", "terminated", "truncated")
LAZY_AFTER = ("actions", "log_probs", "intents")


@dataclass(frozen=True)
class Facts:
    """What is known of M matches of P players when they are over."""

    match_seed: NDArray[np.uint64]  # [M]
    winner: NDArray[np.int64]  # [M], a team or -1
    team: NDArray[np.int64]  # [P]
    policy: NDArray[np.int64]  # [M, P], index into the header's policies
    champion: NDArray[np.str_]  # [M, P]
    kept: NDArray[np.bool_]  # [M, P]


class Gather:
    """Collects the decisions of one batch of matches."""

    def __init__(self, header: Header, wanted: NDArray[np.bool_]) -> None:
        self._header = header
        self._wanted = wanted
        self._length = np.zeros(wanted.size, np.int32)
        self._reward_sum = np.zeros(wanted.size, np.float64)
        self._where: list[NDArray[np.int64]] = []
        self._chunks: list[dict[str, NDArray[Any]]] = []

    @property
    def num_steps(self) -> int:
        """Rows collected so far."""
        return int(self._length.sum())

    def look(self, views: dict[str, NDArray[Any]], active: NDArray[np.bool_]) -> None:
        """Note what the active players see before they decide."""
        where = np.flatnonzero(active & self._wanted)
        self._where.append(where)
        self._length[where] += 1
        names = () if self._header.lazy else (*self._header.view_names, *BEFORE)
        self._chunks.append({name: self._rows(views[name], where) for name in names})

    def note(self, **columns: NDArray[Any]) -> None:
        """Note what they did and got: the columns of `AFTER`, each [M, P, ...]."""
        where = self._where[-1]
        for name in LAZY_AFTER if self._header.lazy else AFTER:
            self._chunks[-1][name] = self._rows(columns[name], where)
        self._reward_sum[where] += columns["rewards"].reshape(-1)[where]

    def blocks(self, facts: Facts) -> Iterator[tuple[Steps, Episodes]]:
        """All rows, match by match and seat by seat, in pieces of whole matches."""
        match_rows = self._length.reshape(self._wanted.shape).sum(axis=1)
        piece = np.cumsum(match_rows) // max(1, PIECE_BYTES // self._row_bytes())
        cuts = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(match_rows)]
        for first, last in pairwise(cuts):
            if match_rows[first:last].any():
                yield self._piece(facts, first, last)

    def _piece(self, facts: Facts, first: int, last: int) -> tuple[Steps, Episodes]:
        """Matches first..last-1. The seats of a decision are sorted, so theirs lie together."""
        players = self._wanted.shape[1]
        low, high = first * players, last * players
        there = low + np.flatnonzero(self._length[low:high])
        length = self._length[there]
        begins = np.zeros(high - low, np.int64)
        begins[there - low] = np.cumsum(length) - length
        columns: dict[str, NDArray[Any]] = {}
        for t, (where, chunk) in enumerate(zip(self._where, self._chunks, strict=True)):
            a, b = np.searchsorted(where, (low, high)).tolist()
            if a == b:
                continue
            rows = begins[where[a:b] - low] + t
            for name, values in chunk.items():
                if name not in columns:
                    shape = (int(length.sum()), *values.shape[1:])
                    columns[name] = np.empty(shape, values.dtype)
                as_items(columns[name])[rows] = as_items(values)[a:b]
        views = {n: columns.pop(n) for n in self._header.view_names if n in columns}
        return Steps(**columns, views=views), self._episodes(facts, there, length)

    def _row_bytes(self) -> int:
        names = () if self._header.lazy else self._header.view_names
        return self._header.row_bytes(names) + self._header.mask_size

    def _episodes(
        self, facts: Facts, there: NDArray[np.int64], length: NDArray[np.int32]
    ) -> Episodes:
        match, seat = np.divmod(there, self._wanted.shape[1])
        winner, team = facts.winner[match], facts.team[seat]
        outcome = np.where(winner < 0, 0, np.where(winner == team, 1, -1))
        return Episodes(
            match=match.astype(np.int32),
            match_seed=facts.match_seed[match],
            seat=seat.astype(np.int16),
            team=team.astype(np.int16),
            policy=facts.policy[match, seat].astype(np.int16),
            champion=facts.champion[match, seat],
            outcome=outcome.astype(np.int8),
            reward_sum=self._reward_sum[there].astype(np.float32),
            length=length,
            kept=facts.kept[match, seat],
        )

    def _rows(self, values: NDArray[Any], where: NDArray[np.int64]) -> NDArray[Any]:
        flat = values.reshape(self._wanted.size, *values.shape[2:])
        return flat.take(where, axis=0)  # copies: a world reuses its arrays
