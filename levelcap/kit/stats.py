"""95 % intervals: the one place where a number learns how sure it is. Pure functions.

A score of paired games   `paired_interval`     pairs share a seed: they are the independent units
of two such scores        `paired_difference`   the games of both have the same seeds
a share of n              `wilson`              honest near 0 and 1, where p(1-p)/n is not
a mean of values          `mean_interval`       the normal approximation
groups drawn by chance    `grouped_interval`    how well *other* groups would be beaten, too
a difference of shares    `newcombe`, `share_difference`
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

Z95 = 1.959963984540054  # the normal distribution's 97.5 % quantile
Interval = tuple[float, float]


def wilson(share: float, n: float) -> Interval:
    """Wilson's (1927) score interval of a share of n trials."""
    centre = (share + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 / (1 + Z95**2 / n) * sqrt(share * (1 - share) / n + Z95**2 / (4 * n * n))
    # Rounded, or a perfect record ends a hair below 1.
    return round(max(0.0, centre - half), 12), round(min(1.0, centre + half), 12)


def paired_interval(scores: NDArray[np.float64]) -> Interval:
    """Interval of the mean score [games], from the variance of pair means.

    Games 2k and 2k+1 share a seed, so games are not independent but pairs are. When all pairs are
    equal the variance says nothing and Wilson's interval over the pairs is used.
    """
    usable = len(scores) // 2 * 2
    pairs = scores[:usable].reshape(-1, 2).mean(1) if usable else scores
    mean, n = float(scores.mean()), len(pairs)
    if n > 1 and pairs.min() != pairs.max():
        half = Z95 * float(pairs.std(ddof=1)) / sqrt(n)
        return max(0.0, mean - half), min(1.0, mean + half)
    return wilson(mean, n)


def paired_difference(
    one: NDArray[np.float64], other: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Mean of one minus other, of games [games] with the same seeds, with its interval."""
    pairs = (one - other).reshape(-1, 2).mean(1)
    low, high = mean_interval(pairs)
    return float(pairs.mean()), low, high


def grouped_interval(scores: NDArray[np.float64], num_groups: int) -> Interval:
    """Interval of the mean over groups of equally many pairs, one group after another.

    Both pairs and groups are drawn by chance: the interval from the variance of pair scores says
    how well these groups do, the one from the groups' means (Student's t) also how well other ones
    would. The wider of the two.
    """
    from scipy.stats import t as student  # half a second to import, and few need it

    low, high = paired_interval(scores)
    means = scores.reshape(num_groups, -1).mean(1)
    quantile = float(student.ppf(0.975, num_groups - 1))
    half = quantile * float(means.std(ddof=1)) / sqrt(num_groups)
    if 2 * half <= high - low:
        return low, high
    middle = float(scores.mean())
    return max(0.0, middle - half), min(1.0, middle + half)


def mean_interval(values: NDArray[np.float64]) -> Interval:
    """Interval of a mean of independent values; of a single one it is that value."""
    mean = float(values.mean())
    half = Z95 * float(values.std(ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0
    return mean - half, mean + half


def newcombe(
    one: tuple[float, float, float], other: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Difference of two shares, each (share, low, high), with its interval.

    Newcombe's (1998) square-and-add method, which keeps the shape of intervals near 0 and 1.
    """
    (a, a_low, a_high), (b, b_low, b_high) = one, other
    low = a - b - sqrt((a - a_low) ** 2 + (b_high - b) ** 2)
    high = a - b + sqrt((a_high - a) ** 2 + (b - b_low) ** 2)
    return a - b, low, high


def share_difference(new: float, old: float, n: int) -> tuple[float, float, float]:
    """Difference of two shares of n trials each, with the normal approximation's interval."""
    half = Z95 * sqrt((new * (1 - new) + old * (1 - old)) / n)
    return new - old, new - old - half, new - old + half
