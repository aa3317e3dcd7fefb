"""Reading in seeded order: windows of row groups, decoded by two threads to their places."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from levelcap.lake.header import packed_size
from levelcap.lake.order import Order
from levelcap.lake.shard import Columns, Shard

DECODERS = 2
Made = TypeVar("Made")


@dataclass(frozen=True)
class Source:
    """The chosen episodes of one shard."""

    shard: Shard
    chosen: NDArray[np.bool_]

    @property
    def policies(self) -> list[dict[str, Any]]:
        """Those that have chosen episodes, as in the header."""
        numbers = np.unique(self.shard.policy[self.chosen]).tolist()
        return [self.shard.header.policies[number] for number in numbers]


class Windows(ABC, Generic[Made]):
    """Serves items (rows or segments) of some sources, a window in memory and the next one coming.

    The first axis of every column of a window is the item.
    """

    def __init__(self, sources: Sequence[Source], order: Order, views: tuple[str, ...]) -> None:
        """order.counts: items of every row group, the groups of all sources one after the other."""
        self._sources, self._order, self._views = sources, order, views
        self._header = sources[0].shard.header
        self._log_probs = any(p["log_probs"] for s in sources for p in s.policies)
        sizes = [source.shard.num_groups for source in sources]
        self._first_group = np.cumsum([0, *sizes])

    def serve(self, batch_size: int, first_batch: int) -> Generator[Made, None, None]:
        """Batches from `first_batch` on, without end; the next window is made meanwhile."""
        epoch, window, at = self._order.find(first_batch * batch_size)
        plan = self._order.windows(epoch)
        pool = ThreadPoolExecutor(DECODERS, thread_name_prefix="lake")
        try:
            coming = self._start(pool, epoch, window, plan[window])
            parts: list[Columns] = []
            missing = batch_size
            while True:
                columns = self._wait(*coming)
                window += 1
                if window == len(plan):
                    epoch, window = epoch + 1, 0
                    plan = self._order.windows(epoch)
                coming = self._start(pool, epoch, window, plan[window])
                rows = len(columns["actions"])
                while at < rows:
                    taken = min(missing, rows - at)
                    parts.append({n: a[at : at + taken] for n, a in columns.items()})
                    at, missing = at + taken, missing - taken
                    if missing == 0:
                        yield self._batch(parts)
                        parts, missing = [], batch_size
                at = 0
        finally:
            pool.shutdown(cancel_futures=True)

    def _start(
        self, pool: ThreadPoolExecutor, epoch: int, window: int, groups: NDArray[np.int64]
    ) -> tuple[Columns, list[Future[None]]]:
        """Begin to fill a window; every group writes to places of its own."""
        counts = self._order.counts[groups]
        places = self._order.places(epoch, window, int(counts.sum()))
        columns = self._empty(len(places))
        ends = np.cumsum(counts)
        tasks = [
            pool.submit(self._fill, columns, int(group), places[end - count : end])
            for group, end, count in zip(groups, ends, counts, strict=True)
        ]
        return columns, tasks

    def _wait(self, columns: Columns, tasks: list[Future[None]]) -> Columns:
        for task in tasks:
            task.result()
        return columns

    def _find(self, number: int) -> tuple[Source, int]:
        """The source of a row group, and the group's number there."""
        at = int(np.searchsorted(self._first_group, number, "right")) - 1
        return self._sources[at], number - int(self._first_group[at])

    def _room(self, *shape: int) -> Columns:
        """Columns of the views, masks (packed) and actions of rows [*shape]."""
        header = self._header
        columns: Columns = {
            name: np.empty((*shape, *header.view_shapes[name]), header.view_dtype(name))
            for name in self._views
        }
        columns["mask"] = np.empty((*shape, packed_size(header.mask_size)), np.uint8)
        columns["actions"] = np.empty((*shape, len(header.heads)), np.uint8)
        return columns

    def _unpacked(self, columns: Columns, names: Sequence[str]) -> dict[str, Any]:
        """Views by name, the mask a bin a byte, and these columns: fields of every batch."""
        mask = np.unpackbits(columns["mask"], axis=-1, count=self._header.mask_size)
        views = {name: columns[name] for name in self._views}
        return {"views": views, "mask": mask, **{name: columns[name] for name in names}}

    @abstractmethod
    def _fill(self, columns: Columns, number: int, places: NDArray[np.int64]) -> None:
        """Decode one row group and put its items to their places."""

    @abstractmethod
    def _empty(self, items: int) -> Columns:
        """Columns for so many items."""

    @abstractmethod
    def _batch(self, parts: list[Columns]) -> Made:
        """One batch out of pieces of windows."""


def joined(parts: list[Columns]) -> Columns:
    """The pieces of a batch as one; a single piece is not copied."""
    if len(parts) == 1:
        return parts[0]
    return {n: np.concatenate([part[n] for part in parts]) for n in parts[0]}
