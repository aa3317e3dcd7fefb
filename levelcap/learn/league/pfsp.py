"""Prioritised fictitious self-play: how often to meet whom, given the chance to win. No torch.

    weigh([.9, .5, .1], "hard")      # the one that is lost against most

`hard` = (1 - x)^p wants the opponents that beat us, `var` = x (1 - x) those about as strong as we
are, `linear` = 1 - x lies between (Vinyals et al. 2019). The answer is always a distribution: a
player who wins everything has only zeros to share out, and then all opponents are equal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from levelcap.kit.errors import BadValue, refuse, unknown_name

SCHEMES = ("hard", "var", "linear")


def weigh(
    rates: ArrayLike, scheme: str = "hard", power: float = 2.0, floor: float = 0.0
) -> NDArray[np.float64]:
    """Shares of matches, one for each opponent; they sum to 1 (nobody: an empty array).

    rates: our chance to win against each. floor: share that is spread evenly, so that nobody
    starves however small the rest of its weight is.
    """
    chances = np.asarray(rates, np.float64)
    if scheme not in SCHEMES:
        raise unknown_name("PFSP weighting", scheme, SCHEMES)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise BadValue(refuse("chances lie between 0 and 1", chances.tolist(), "Give win rates"))
    if chances.size == 0:
        return chances
    raw = {"hard": (1 - chances) ** power, "var": chances * (1 - chances), "linear": 1 - chances}
    even = np.full(chances.shape, 1 / chances.size)
    total = raw[scheme].sum()
    # Subnormal sums divide to rubbish; nothing to tell the opponents apart is left in them.
    if total < 1e-300:
        return even
    return (1 - floor) * raw[scheme] / total + floor * even


def pick(shares: NDArray[np.float64], most: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """At most `most` of the opponents, in multiples of 1 / most; the expectation stays.

    Systematic draws: one random offset, then equal steps through the cumulated shares, so an
    opponent with a share of 1 / most or more is always in.
    """
    if np.count_nonzero(shares) <= most:
        return shares
    points = (rng.random() + np.arange(most)) / most
    edges = np.cumsum(shares)
    # Rounding may leave the last edge below the last point.
    drawn = np.searchsorted(edges / edges[-1], points, side="right").clip(max=len(shares) - 1)
    return np.bincount(drawn, minlength=len(shares)) / most
