"""Stretches of play in seeded order, for nets that remember: burn-in, learned decisions, history.

Shapes: B segments, T = burn_in + length decisions, S history rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.lake.labels import Labels
from levelcap.lake.order import Order
from levelcap.lake.shard import Columns
from levelcap.lake.windows import Source, Windows, joined

LABEL, HISTORY = "label_", "history_"
SAME = ("actions", "outcome", "left", "alive", "reset", "valid")  # columns and fields of a batch


@dataclass(frozen=True)
class SegmentBatch:
    """B segments, time first. Arrays share memory with other batches: read, do not write.

    views {name: [T, B, …]}; mask uint8 [T, B, bins]; actions uint8 [T, B, heads]; outcome int8 [B];
    left int32 [T, B] (decisions that follow in the episode); alive, reset (the match begins here)
    bool [T, B]; valid bool [T, B]: False before the match began and after it ended, where the other
    columns repeat a neighbour; the first `burn_in` rows are not to be learned from. history
    {view: [S, B, …]}, oldest first, with history_valid bool [S, B]. labels {column: [T, B]}.
    """

    views: dict[str, NDArray[Any]]
    mask: NDArray[np.uint8]
    actions: NDArray[np.uint8]
    outcome: NDArray[np.int8]
    left: NDArray[np.int32]
    alive: NDArray[np.bool_]
    reset: NDArray[np.bool_]
    valid: NDArray[np.bool_]
    intents: NDArray[np.int8]
    burn_in: int
    history: dict[str, NDArray[Any]] = field(default_factory=dict)
    history_valid: NDArray[np.bool_] | None = None
    labels: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def learned(self) -> NDArray[np.bool_]:
        """Rows [T, B] to learn from."""
        rows = self.valid.copy()
        rows[: self.burn_in] = False
        return rows


@dataclass(frozen=True)
class Cut:
    """How episodes are cut into segments."""

    length: int
    burn_in: int = 0
    history: int = 0
    every: int = 10
    history_views: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, least in (("length", 1), ("burn_in", 0), ("history", 0), ("every", 1)):
            if getattr(self, name) < least:
                what = f"{name} of segments is at least {least}"
                raise BadValue(refuse(what, getattr(self, name), "Raise it"))

    def counts(self, source: Source) -> NDArray[np.int64]:
        """Segments of the chosen episodes in every row group of a source."""
        shard = source.shard
        found = np.zeros(shard.num_groups, np.int64)
        for group in range(shard.num_groups):
            first, last = shard.span(group)
            lengths = shard.length[first:last][source.chosen[first:last]]
            found[group] = (-(-lengths // self.length)).sum()
        return found

    def starts(self, lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of every segment of episodes of these lengths: its episode, its first learned row."""
        counts = -(-lengths // self.length)
        episode = np.repeat(np.arange(len(lengths)), counts)
        number = np.arange(len(episode)) - np.repeat(np.cumsum(counts) - counts, counts)
        return episode, number * self.length


class Segments(Windows[SegmentBatch]):
    """Makes the batches of `Shards.segments`."""

    def __init__(
        self,
        sources: Sequence[Source],
        order: Order,
        views: tuple[str, ...],
        cut: Cut,
        labels: Labels | None,
    ) -> None:
        super().__init__(sources, order, views)
        self._cut, self._labels = cut, labels

    def _fill(self, columns: Columns, number: int, places: NDArray[np.int64]) -> None:
        source, group = self._find(number)
        shard, cut = source.shard, self._cut
        first, last = shard.span(group)
        chosen = first + np.flatnonzero(source.chosen[first:last])
        lengths = shard.length[chosen].astype(np.int64)
        episode, start = cut.starts(lengths)
        base = (shard.first_row[chosen] - shard.first_row[first])[episode]  # rows in the group
        long = lengths[episode]
        t = start[:, None] - cut.burn_in + np.arange(cut.burn_in + cut.length)  # [items, T]
        rows = base[:, None] + t.clip(0, (long - 1)[:, None])
        columns["valid"][places] = (t >= 0) & (t < long[:, None])
        columns["reset"][places] = t == 0
        decoded = shard.decode(group, self._views)
        for name in (*self._views, "mask", "actions", "left", "alive", "intent"):
            columns[name][places] = decoded[name][rows]
        columns["outcome"][places] = decoded["outcome"][base]
        if cut.history:
            ago = np.arange(cut.history, 0, -1) * cut.every
            past = (start - cut.burn_in)[:, None] - ago
            columns["history_valid"][places] = past >= 0
            at = base[:, None] + past.clip(0, None)
            for name in cut.history_views:
                columns[HISTORY + name][places] = decoded[name][at]
        if self._labels is not None:
            for name, values in self._labels.rows(shard, group).items():
                columns[LABEL + name][places] = values[rows]

    def _empty(self, items: int) -> Columns:
        header, cut = self._header, self._cut
        rows = (items, cut.burn_in + cut.length)
        columns = self._room(*rows)
        columns["left"] = np.empty(rows, np.int32)
        columns["intent"] = np.empty(rows, np.int8)
        columns["outcome"] = np.empty(items, np.int8)
        columns |= {name: np.empty(rows, np.bool_) for name in ("alive", "reset", "valid")}
        if cut.history:
            columns["history_valid"] = np.empty((items, cut.history), np.bool_)
        for name in cut.history_views:
            shape = (items, cut.history, *header.view_shapes[name])
            columns[HISTORY + name] = np.empty(shape, header.view_dtype(name))
        if self._labels is not None:
            columns |= {LABEL + n: np.empty(rows, kind) for n, kind in self._labels.columns.items()}
        return columns

    def _batch(self, parts: list[Columns]) -> SegmentBatch:
        found = joined(parts)
        # Stored a segment at a time, used a moment at a time.
        columns = {n: a.swapaxes(0, 1) if a.ndim > 1 else a for n, a in found.items()}
        return SegmentBatch(
            **self._unpacked(columns, SAME),
            intents=columns["intent"],
            burn_in=self._cut.burn_in,
            history={name: columns[HISTORY + name] for name in self._cut.history_views},
            history_valid=columns.get("history_valid"),
            labels={n.removeprefix(LABEL): a for n, a in columns.items() if n.startswith(LABEL)},
        )
