"""Training batches: windows of row groups, decoded by two threads straight to shuffled places."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.lake.header import packed_size
from levelcap.lake.order import Order
from levelcap.lake.rows import as_items
from levelcap.lake.shard import FLAGS, Columns, Shard

DECODERS = 2


@dataclass(frozen=True)
class Batch:
    """n rows in seeded order; arrays share memory with other batches: read, do not write.

    views {name: float32 [n, ...]} (pictures uint8); mask uint8 [n, bins]; actions uint8
    [n, heads]; rewards float32; outcome int8 (+1, 0, -1, of the whole match); left int32
    (decisions that follow in the episode, 0 at the last); terminated, truncated, alive bool;
    intents int8 (-1 unknown); log_probs float32, NaN where missing, or None where no policy that
    was chosen knows them.
    """

    views: dict[str, NDArray[Any]]
    mask: NDArray[np.uint8]
    actions: NDArray[np.uint8]
    rewards: NDArray[np.float32]
    outcome: NDArray[np.int8]
    left: NDArray[np.int32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    intents: NDArray[np.int8]
    log_probs: NDArray[np.float32] | None

    def __len__(self) -> int:
        return len(self.actions)

    def inputs(self, names: Sequence[str]) -> NDArray[np.float32]:
        """The named views side by side, float32 [n, D]; a single float view is not copied."""
        parts = [self.views[name].reshape(len(self), -1) for name in names]
        if len(parts) == 1 and parts[0].dtype == np.float32:
            return parts[0]
        return np.concatenate(parts, axis=1, dtype=np.float32)


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


class Batches:
    """Makes the batches of some sources; see `Shards.batches` for the arguments."""

    def __init__(self, sources: Sequence[Source], order: Order, views: tuple[str, ...]) -> None:
        self._sources, self._order, self._views = sources, order, views
        self._header = sources[0].shard.header
        self._log_probs = any(p["log_probs"] for s in sources for p in s.policies)
        sizes = [source.shard.num_groups for source in sources]
        self._first_group = np.cumsum([0, *sizes])

    def serve(self, batch_size: int, first_batch: int) -> Generator[Batch, None, None]:
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

    def _fill(self, columns: Columns, number: int, places: NDArray[np.int64]) -> None:
        at = int(np.searchsorted(self._first_group, number, "right")) - 1
        source, group = self._sources[at], number - int(self._first_group[at])
        rows = source.shard.rows(group, source.chosen)
        for name, values in source.shard.decode(group, self._views).items():
            if name in columns:
                given = as_items(values)
                as_items(columns[name])[places] = given if rows is None else given[rows]

    def _empty(self, rows: int) -> Columns:
        header = self._header
        columns: Columns = {
            name: np.empty((rows, *header.view_shapes[name]), header.view_dtype(name))
            for name in self._views
        }
        columns["mask"] = np.empty((rows, packed_size(header.mask_size)), np.uint8)
        columns["actions"] = np.empty((rows, len(header.heads)), np.uint8)
        columns["reward"] = np.empty(rows, np.float32)
        columns["left"] = np.empty(rows, np.int32)
        columns |= {name: np.empty(rows, np.int8) for name in ("outcome", "intent")}
        columns |= {name: np.empty(rows, np.bool_) for name in FLAGS}
        if self._log_probs:  # shards of bots have none: missing is NaN, never 0
            columns["log_prob"] = np.full(rows, np.nan, np.float32)
        return columns

    def _batch(self, parts: list[Columns]) -> Batch:
        columns = parts[0]
        if len(parts) > 1:
            columns = {n: np.concatenate([part[n] for part in parts]) for n in parts[0]}
        mask = np.unpackbits(columns["mask"], axis=1, count=self._header.mask_size)
        return Batch(
            views={name: columns[name] for name in self._views},
            mask=mask,
            actions=columns["actions"],
            rewards=columns["reward"],
            outcome=columns["outcome"],
            left=columns["left"],
            terminated=columns["terminated"],
            truncated=columns["truncated"],
            alive=columns["alive"],
            intents=columns["intent"],
            log_probs=columns.get("log_prob"),
        )
