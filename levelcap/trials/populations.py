"""Two settings compared by several heroes of each: setting, or luck of a seed? No torch.

    compare(scores)          # [seeds of A, seeds of B, games]: score, low, high

Every hero of A meets every hero of B. Games of one hero are not independent: its seed is in all of
them. So the spread is that of the heroes' means, of A's and of B's, with Student's t on the smaller
number of seeds.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.stats import paired_interval
from levelcap.trials.verdict import Figure


def compare(scores: NDArray[np.float64]) -> Figure:
    """Mean score of A's heroes against B's [A, B, games], with its 95 % interval over seeds.

    Raises:
        BadValue: fewer than two heroes of one side: how far seeds differ cannot be known.
    """
    from scipy.special import stdtrit

    fewest = min(scores.shape[:2])
    if fewest < 2:
        raise BadValue(refuse("settings are compared by seeds", fewest, "Give at least 2 --seeds"))
    means = scores.mean(2)
    spread = sum(float(means.mean(axis).var(ddof=1)) / means.shape[1 - axis] for axis in (0, 1))
    half = float(stdtrit(fewest - 1, 0.975)) * sqrt(spread)
    middle = float(means.mean())
    # Heroes that happen to be alike do not make the games themselves certain.
    low, high = paired_interval(scores.reshape(-1))
    return middle, max(0.0, min(low, middle - half)), min(1.0, max(high, middle + half))


def verdict_of(score: Figure) -> str:
    """better, worse or undecided: A against B."""
    return "better" if score[1] > 0.5 else "worse" if score[2] < 0.5 else "undecided"
