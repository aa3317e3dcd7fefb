"""Windows of play: two seconds each, one a second, five frames of each to look at.

A window ends at a decision at which a Strategist looks (every tenth, from the first on) and reaches
back two seconds, or to the start of the match; its label belongs to its last decision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SECOND = 10  # decisions
LENGTH, STRIDE, FRAMES = 2 * SECOND, SECOND, 5


@dataclass(frozen=True)
class Window:
    """Decisions `first` to `last` of an episode, both included."""

    first: int
    last: int

    @property
    def frames(self) -> tuple[int, ...]:
        """Five decisions evenly spread, the first and the last among them."""
        return tuple(np.linspace(self.first, self.last, FRAMES).round().astype(int).tolist())


def windows_of(length: int) -> list[Window]:
    """All windows of an episode of so many decisions."""
    return [Window(max(0, t - LENGTH + 1), t) for t in range(0, length, STRIDE)]


def majority(votes: NDArray[np.int8], options: int) -> tuple[int, float]:
    """The commonest of votes (-1: no vote) and its share of all; ties: the lowest number.

    No vote at all gives -1 and 0.
    """
    counts = np.bincount(votes[votes >= 0], minlength=options)
    if not counts.any():
        return -1, 0.0
    chosen = int(counts.argmax())
    return chosen, float(counts[chosen] / len(votes))
