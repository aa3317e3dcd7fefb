"""Running mean and variance per column: how the features of outside games are standardised.

Outside games come in any scale, so a policy keeps the moments of what it has seen and stores them
in its checkpoint (`to_dict`). New rows are joined exactly (Chan, Golub and LeVeque, 1983), in
float64, so that a long run loses no precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from levelcap.kit.errors import BadValue


class RunningMoments:
    """Count, mean and summed squared deviation of every column of the rows seen so far."""

    def __init__(self, size: int) -> None:
        self.count = 0
        self.mean = np.zeros(size)
        self._deviation = np.zeros(size)

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self.mean)

    @property
    def var(self) -> np.ndarray:
        """Population variance per column; 1 as long as fewer than two rows were seen."""
        if self.count < 2:
            return np.ones(self.size)
        return self._deviation / self.count

    def update(self, rows: np.ndarray) -> None:
        """Take in rows of shape [..., size]."""
        if rows.ndim == 0 or rows.shape[-1] != self.size:
            raise BadValue(
                f"Moments of {self.size} columns cannot take rows of shape {rows.shape}; "
                f"pass an array whose last axis is {self.size} long."
            )
        flat = rows.reshape(-1, self.size).astype(np.float64)
        if len(flat):
            mean = flat.mean(axis=0)
            self._join(len(flat), mean, np.square(flat - mean).sum(axis=0))

    def standardise(self, rows: np.ndarray, limit: float = 10.0) -> np.ndarray:
        """Rows with mean 0 and variance 1 per column, clipped to +-limit, as float32.

        A column that never changed is only centred: dividing by its variance would blow up the
        first new value.
        """
        scale = np.sqrt(np.where(self.var > 1e-12, self.var, 1.0))
        return np.clip((rows - self.mean) / scale, -limit, limit).astype(np.float32)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON; `from_dict` gives back the same bits."""
        return {
            "count": self.count,
            "mean": self.mean.tolist(),
            "deviation": self._deviation.tolist(),
        }

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> RunningMoments:
        """The instance that `to_dict` was called on."""
        moments = cls(len(stored["mean"]))
        moments.count = int(stored["count"])
        moments.mean = np.array(stored["mean"], dtype=np.float64)
        moments._deviation = np.array(stored["deviation"], dtype=np.float64)
        return moments

    def _join(self, count: int, mean: np.ndarray, deviation: np.ndarray) -> None:
        total = self.count + count
        gap = mean - self.mean
        self.mean = self.mean + gap * (count / total)
        self._deviation = self._deviation + deviation + gap**2 * (self.count * count / total)
        self.count = total
