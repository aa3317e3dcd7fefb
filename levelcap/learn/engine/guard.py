"""Nothing that is not a finite number reaches the weights.

An update whose loss or gradient is not finite is skipped and counted; after `limit` of them in a
row the weights themselves are not trusted any more and the last good checkpoint is taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite


class Guard:
    """Counts bad updates of one run."""

    def __init__(self, limit: int) -> None:
        self.limit, self.skipped, self.in_a_row = limit, 0, 0

    def passes(self, metrics: Mapping[str, float], norm: float) -> bool:
        """May this update be applied?"""
        # One NaN in any weight gradient makes the norm NaN, so the norm stands for all of them.
        good = isfinite(norm) and all(isfinite(value) for value in metrics.values())
        if good:
            self.in_a_row = 0
        else:
            self.skipped += 1
            self.in_a_row += 1
        return good

    @property
    def lost(self) -> bool:
        """Too many in a row: go back."""
        return self.in_a_row >= self.limit
