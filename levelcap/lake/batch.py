"""Training batches of single decisions in seeded order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.lake.rows import as_items
from levelcap.lake.shard import FLAGS, Columns
from levelcap.lake.windows import Windows, joined


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


class Batches(Windows[Batch]):
    """Makes the batches of some sources; see `Shards.batches` for the arguments."""

    def _fill(self, columns: Columns, number: int, places: NDArray[np.int64]) -> None:
        source, group = self._find(number)
        rows = source.shard.rows(group, source.chosen)
        for name, values in source.shard.decode(group, self._views).items():
            if name in columns:
                given = as_items(values)
                as_items(columns[name])[places] = given if rows is None else given[rows]

    def _empty(self, items: int) -> Columns:
        columns = self._room(items)
        columns["reward"] = np.empty(items, np.float32)
        columns["left"] = np.empty(items, np.int32)
        columns |= {name: np.empty(items, np.int8) for name in ("outcome", "intent")}
        columns |= {name: np.empty(items, np.bool_) for name in FLAGS}
        if self._log_probs:  # shards of bots have none: missing is NaN, never 0
            columns["log_prob"] = np.full(items, np.nan, np.float32)
        return columns

    def _batch(self, parts: list[Columns]) -> Batch:
        columns = joined(parts)
        return Batch(
            **self._unpacked(columns, ("actions", "outcome", "left", *FLAGS)),
            rewards=columns["reward"],
            intents=columns["intent"],
            log_probs=columns.get("log_prob"),
        )
