"""A curve as the points of a small SVG picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

POINTS = 240  # a pixel or two each
LEFT, RIGHT, TOP, FOOT = 58, 512, 10, 148  # of the picture's plane, as the template has it


@dataclass(frozen=True)
class Curve:
    """Values over steps, with the band they lie in."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]

    def places(self, ys: Sequence[float]) -> list[tuple[float, float]]:
        """x and y of points in the picture."""
        top, foot, first = max(self.highs), min(self.lows), self.xs[0]
        across, tall = (self.xs[-1] - first) or 1.0, (top - foot) or 1.0
        right = (LEFT + (x - first) / across * (RIGHT - LEFT) for x in self.xs)
        down = (TOP + (top - y) / tall * (FOOT - TOP) for y in ys)
        return [(round(x, 1), round(y, 1)) for x, y in zip(right, down, strict=True)]

    def line(self) -> str:
        """The points of its values."""
        return " ".join(f"{x},{y}" for x, y in self.places(self.ys))

    def band(self) -> str:
        """The points around it: highs, then lows from the end."""
        around = self.places(self.highs) + self.places(self.lows)[::-1]
        return " ".join(f"{x},{y}" for x, y in around)


def thin(name: str, xs: Sequence[float], ys: Sequence[float]) -> Curve:
    """A curve of at most `POINTS` points: means, with the least and most of what they stand for."""
    size = -(-len(xs) // POINTS) or 1
    cuts = [ys[first : first + size] for first in range(0, len(ys), size)]
    ends = [xs[min(first + size, len(xs)) - 1] for first in range(0, len(xs), size)]
    return Curve(name, ends, [sum(c) / len(c) for c in cuts], [*map(min, cuts)], [*map(max, cuts)])
