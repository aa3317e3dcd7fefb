"""Shapes around a result: which widths and depths hold their Elo, and what each costs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

from levelcap.export.compress.figures import Figures
from levelcap.play.show.plot import plot_curves

SCALES = (0.5, 0.75, 1.0, 1.25, 1.5)
DEEPER = 0.3  # a layer more or less is as far away as a third more or less width
STEP = 8  # widths are multiples of it: what a processor's vectors hold


def shapes_around(hidden: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
    """The nearest shapes, the one in the middle included: first width, other widths, depth."""
    found: dict[tuple[int, ...], float] = {}
    for depth in (len(hidden), len(hidden) - 1, len(hidden) + 1):
        # A layer more is as wide as the last one.
        base = (*hidden, hidden[-1])[:depth]
        for first, rest in itertools.product(SCALES, SCALES if depth > 1 else (1.0,)):
            scaled = (w * (rest if at else first) for at, w in enumerate(base))
            shape = tuple(max(STEP, STEP * round(w / STEP)) for w in scaled)
            far = abs(math.log(first)) + abs(math.log(rest)) + DEEPER * abs(depth - len(hidden))
            if shape and far < found.get(shape, math.inf):
                found[shape] = far
    return sorted(found, key=lambda shape: (found[shape], shape))[:count]


def front(rows: Sequence[Figures]) -> list[Figures]:
    """Those that nobody beats in both: from the quickest to the strongest."""
    best: list[Figures] = []
    for row in sorted(rows, key=lambda row: (row.ms["64"]["own"], -row.elo[0])):
        if not best or row.elo[0] > best[-1].elo[0]:
            best.append(row)
    return best


def chosen_of(rows: Sequence[Figures], most_ms: float) -> Figures:
    """The surest of those that take at most so long: the one whose lower bound is highest.

    The quickest that is not clearly weaker was tried and is the luckiest of many: +1 Elo in its 256
    games became -17 in 3,584 (benchmarks/log).
    """
    quick = [row for row in rows if row.ms["64"]["own"] <= most_ms]
    return max(quick or rows, key=lambda row: row.elo[1])


def draw_front(path: Path, rows: Sequence[Figures], games: int) -> None:
    """Elo over latency as a picture: every candidate with its interval, and the front."""
    best = front(rows)
    plot_curves(
        path,
        [("the front", [_us(row) for row in best], [row.elo[0] for row in best], None, None)],
        points=[(row.step, _us(row), *row.elo) for row in rows],
        title=f"{len(rows)} shapes, {games} games each against the original, 95 %",
        x_label="microseconds of 64 decisions (p50)",
        y_label="Elo against the original",
        lines={"the original": 0.0},
    )


def _us(row: Figures) -> float:
    return 1e3 * row.ms["64"]["own"]
