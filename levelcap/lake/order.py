"""In which order rows are read: a pure function of a seed and a position, so reading can resume.

An epoch visits the row groups in a seeded permutation. Consecutive groups form windows that fit
into memory, and the rows of a window are permuted among themselves. The epochs, laid one after
the other, are one endless sequence of rows; batch i is rows i*n … (i+1)*n of it. To start at any
batch, only the window it begins in has to be decoded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.seeds import stream


@dataclass(frozen=True)
class Order:
    """counts [G]: rows wanted of each row group; window_rows: most rows of a window."""

    counts: NDArray[np.int64]
    window_rows: int
    seed: int

    @property
    def total(self) -> int:
        """Rows of one epoch."""
        return int(self.counts.sum())

    def windows(self, epoch: int) -> list[NDArray[np.int64]]:
        """Row groups of every window of an epoch; groups without wanted rows are left out."""
        wanted = np.flatnonzero(self.counts)
        groups = wanted[stream(self.seed, f"groups of epoch {epoch}").permutation(len(wanted))]
        found: list[NDArray[np.int64]] = []
        first = rows = 0
        for place, count in enumerate(self.counts[groups].tolist()):
            if rows and rows + count > self.window_rows:
                found.append(groups[first:place])
                first, rows = place, 0
            rows += count
        return [*found, groups[first:]]

    def places(self, epoch: int, window: int, rows: int) -> NDArray[np.int64]:
        """Where in the window each of its rows goes, rows in the order of the groups."""
        return stream(self.seed, f"rows of window {window} of epoch {epoch}").permutation(rows)

    def find(self, position: int) -> tuple[int, int, int]:
        """Epoch, window, and row within it, of a position in the endless sequence."""
        epoch, left = divmod(position, self.total)
        for window, groups in enumerate(self.windows(epoch)):
            rows = int(self.counts[groups].sum())
            if left < rows:
                return epoch, window, left
            left -= rows
        raise AssertionError("a position within an epoch lies in one of its windows")
