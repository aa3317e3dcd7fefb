"""Where a skill's level is heading: a saturating curve of level against compute, with its interval.

level(t) = 1 + (cap - 1) * (1 - exp(-(t / tau) ** p)),  t in core-seconds

Every tau and p of a wide grid is tried; the cap that fits best follows from them. The interval is
that of all curves the levels do not rule out (95 %). Where they do not rule out growth without an
end (such curves, or 1 + a * log(1 + t / tau)), the answer is "not yet flat".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from levelcap.campaign.story.rows import Row

Array = NDArray[np.float64]
LEAST_POINTS = 5
NOISE = 0.25  # levels; a level-up is seen up to an exam late
REACHED = 0.75  # share of the way to the cap below which nothing is called flat
TAUS = np.logspace(-2.0, 2.5, 136)[:, None, None]  # shares of the time so far
POWERS = np.linspace(0.3, 2.0, 18)[None, :, None]


@dataclass(frozen=True)
class Cap(Row):
    """An estimate and its evidence: `points` of (core-seconds, level)."""

    flat: bool
    cap: float | None
    low: float | None
    high: float | None
    points: int
    words: str


def estimate_cap(level_ups: Sequence[tuple[float, float]], spent: float) -> Cap:
    """Where levels are heading.

    Args:
        level_ups: (core-seconds, the level begun then), in order; level 1 is begun at 0.
        spent: core-seconds until now.
    """
    points = [*level_ups, (spent, _now(level_ups, spent))] if level_ups else []
    if len(points) < LEAST_POINTS or spent <= 0:
        return Cap(False, None, None, None, len(points), "too few levels to tell")
    times, levels = (np.array(column, np.float64) for column in zip(*points, strict=True))
    share = times / spent / TAUS  # [tau, 1, point]
    gain, weight, error = _fit(1.0 - np.exp(-(share**POWERS)), levels)
    best = np.unravel_index(int(error.argmin()), error.shape)
    free = len(points) - 3
    noise = max(NOISE**2, float(error[best]) / free)
    bound = float(error[best]) + noise * float(stdtrit(free, 0.975)) ** 2
    room = np.sqrt(np.maximum(bound - error, 0.0) / weight)
    possible = error <= bound
    low = float((gain - room)[possible].min()) + 1
    high = float((gain + room)[possible].max()) + 1
    reached = float(1.0 - np.exp(-((1 / TAUS[best[0], 0, 0]) ** POWERS[0, best[1], 0])))
    cap = float(gain[best]) + 1
    endless = bool(possible[-1].any() or _fit(np.log1p(share), levels)[2].min() <= bound)
    if endless or reached < REACHED or high > 2 * cap:
        words = "not yet flat: the level still rises with compute"
        return Cap(False, None, float(levels[-1]), None, len(points), words)
    low = max(low, float(level_ups[-1][1]))  # what was reached is reached
    cap = max(cap, low)
    words = f"about level {cap:.1f} ({low:.1f} to {high:.1f})"
    return Cap(True, cap, low, high, len(points), words)


def _fit(rise: Array, levels: Array) -> tuple[Array, Array, Array]:
    """Gain, weight and squared error of level = 1 + gain * rise, for every curve of a grid."""
    weight = np.maximum((rise**2).sum(-1), 1e-12)
    gain = (rise * (levels - 1)).sum(-1) / weight
    return gain, weight, ((levels - 1 - gain[..., None] * rise) ** 2).sum(-1)


def _now(level_ups: Sequence[tuple[float, float]], spent: float) -> float:
    """Between two levels, by the time since the last one: half a level when it was long."""
    last = level_ups[-1][0]
    before = level_ups[-2][0] if len(level_ups) > 1 else 0.0
    return level_ups[-1][1] + 0.5 * min(1.0, (spent - last) / max(last - before, 1e-9))
