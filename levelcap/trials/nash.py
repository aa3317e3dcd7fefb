"""What a table of win rates says beyond a rating: the Nash mixture and the share of cycles.

Rock beats scissors beats paper beats rock: three equal ratings explain none of that. The table
of log-odds splits into a part that differences of ratings explain and a rest (Balduzzi et al. 2019
call them transitive and cyclic); the rest's share of the variance is the cycle share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]


def nash(rates: Floats) -> Floats:
    """The mixture of players [n] whose worst result against any player is best.

    rates [n, n]: chance of the row's player against the column's, with p_ij + p_ji = 1. Of several
    such mixtures the one of largest entropy is not sought: the solver's is taken.
    """
    n = len(rates)
    # Variables: the n shares and the value v; maximise v with sum_i x_i (p_ij - 1/2) >= v.
    gains = np.hstack([-(rates - 0.5).T, np.ones((n, 1))])
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=gains,
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(n), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, 1)] * n + [(-1, 1)],
        method="highs",
    )
    shares = np.clip(found.x[:n], 0.0, None)
    return shares / shares.sum()


def cycle_share(wins: Floats, games: Floats) -> float:
    """Share of the table's variance that no rating explains, 0 to 1.

    wins, games [n, n]: points and games of the row's player against the column's. Pairs that never
    met are left out; what chance alone would add is taken off both sides.
    """
    i, j = np.nonzero(np.triu(games, 1))
    if len(i) == 0:
        return 0.0
    played = games[i, j]
    # A half point for each side keeps the odds finite; its variance is 1 / (n p q).
    chance = (wins[i, j] + 0.5) / (played + 1)
    odds = np.log(chance / (1 - chance))
    noise = 1 / ((played + 1) * chance * (1 - chance))
    weight = np.sqrt(1 / noise)
    design = np.zeros((len(i), len(games)))
    design[np.arange(len(i)), i], design[np.arange(len(i)), j] = 1.0, -1.0
    fitted = design @ np.linalg.lstsq(design * weight[:, None], odds * weight, rcond=None)[0]
    free = max(0, len(i) - np.linalg.matrix_rank(design))
    # In units of its own noise each square is 1 by chance; the fit uses some of them up.
    rest = float((((odds - fitted) * weight) ** 2).sum()) - free
    whole = float(((odds * weight) ** 2).sum()) - len(i)
    return float(np.clip(rest / whole, 0.0, 1.0)) if whole > 0 else 0.0
