"""Davidson's model of games with draws: its maximum likelihood and the covariance of that.

With strengths theta (natural units) and d = theta_i - theta_j, a game ends

    won by i  e^(d/2) / Z        drawn  nu / Z        won by j  e^(-d/2) / Z

with Z the sum of the three (Davidson 1970) and one nu for all. Every pair of players that met is
given one virtual draw, so that a perfect record has a finite rating. It counts as half a win and
half a loss: the same score as a draw, but nu stays a matter of real draws. (As a whole draw it
would not help: with n wins, one draw and no loss the likelihood grows for ever, d and nu going to
infinity together.)

The covariance is the sandwich H^-1 (sum over clusters of s s') H^-1 with the observed information
H and the scores s of clusters; the halves of a virtual draw enter the middle with their weights.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FEW_CLUSTERS = 30  # with fewer the middle cannot be trusted: H^-1 where that is wider
_TOLERANCE = 1e-11
_MAX_STEPS = 500
_LONGEST_STEP = 2.0


class Cells(NamedTuple):
    """Pairs of players that met, and their counts; arrays over cells [C]."""

    i: NDArray[np.int64]
    j: NDArray[np.int64]
    won: Floats  # by i
    drawn: Floats
    lost: Floats


class Clusters(NamedTuple):
    """Kinds of pairs of games that occurred; arrays over kinds [K]."""

    cell: NDArray[np.int64]
    won: Floats
    drawn: Floats
    lost: Floats
    num: Floats  # how often that kind occurred


def _chances(cells: Cells, theta: Floats, nu: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Chances that i wins, draws, loses, and log Z, per cell."""
    half = (theta[cells.i] - theta[cells.j]) / 2
    log_nu = log(nu) if nu > 0 else -np.inf
    log_z = np.logaddexp(np.logaddexp(half, -half), log_nu)
    return np.exp(half - log_z), np.exp(log_nu - log_z), np.exp(-half - log_z), log_z


def _spread(cells: Cells, num: int, by_d: Floats, by_nu: Floats) -> Floats:
    """Gradient over (theta, log nu) from derivatives by d and log nu of every cell."""
    out = np.zeros(num + 1)
    np.add.at(out, cells.i, by_d)
    np.add.at(out, cells.j, -by_d)
    out[num] = by_nu.sum()
    return out


def _spread2(
    cells: Cells,
    num: int,
    dd: Floats,
    dn: Floats,
    nn: Floats,
) -> Floats:
    """Matrix over (theta, log nu) from second-order terms in d and log nu of every cell."""
    out = np.zeros((num + 1, num + 1))
    for one, other, sign in (
        (cells.i, cells.i, 1),
        (cells.j, cells.j, 1),
        (cells.i, cells.j, -1),
        (cells.j, cells.i, -1),
    ):
        np.add.at(out, (one, other), sign * dd)
    edge = np.zeros(num)
    np.add.at(edge, cells.i, dn)
    np.add.at(edge, cells.j, -dn)
    out[num, :num] = out[:num, num] = edge
    out[num, num] = nn.sum()
    return out


def _information(cells: Cells, num: int, theta: Floats, nu: float) -> Floats:
    """Observed information over (theta, log nu), virtual draws included."""
    win, draw, loss, _ = _chances(cells, theta, nu)
    n = cells.won + cells.drawn + cells.lost + 1.0
    # Written without differences of nearly equal numbers, for the sake of perfect records.
    dd = n * (win * loss + draw * (win + loss) / 4)
    return _spread2(cells, num, dd, -n * (win - loss) * draw / 2, n * draw * (win + loss))


def fit(cells: Cells, num: int, anchor: int) -> tuple[Floats, float]:
    """Maximum likelihood by Newton's method with step halving: the likelihood is concave."""
    won, lost = cells.won + 0.5, cells.lost + 0.5  # the virtual draw
    drawn = float(cells.drawn.sum())
    free = [p for p in range(num) if p != anchor] + ([num] if drawn else [])
    # Without a drawn game nu is 0 and no parameter at all.
    nu = 2 * drawn / float((won + lost).sum())
    at = np.append(np.zeros(num), log(nu) if drawn else 0.0)

    def unpack(x: Floats) -> tuple[Floats, float]:
        return x[:num], float(np.exp(x[num])) if drawn else 0.0

    def likelihood(x: Floats) -> float:
        theta, nu = unpack(x)
        half, log_z = (theta[cells.i] - theta[cells.j]) / 2, _chances(cells, theta, nu)[3]
        by_cell = won * (half - log_z) - lost * (half + log_z) - cells.drawn * log_z
        return float(by_cell.sum() + drawn * x[num])

    for _ in range(_MAX_STEPS):
        theta, nu = unpack(at)
        win, draw, loss, _ = _chances(cells, theta, nu)
        by_d = won * (loss + draw / 2) - lost * (win + draw / 2) - cells.drawn * (win - loss) / 2
        by_nu = cells.drawn * (win + loss) - (won + lost) * draw
        slope = _spread(cells, num, by_d, by_nu)[free]
        step = np.linalg.solve(_information(cells, num, theta, nu)[np.ix_(free, free)], slope)
        now, gain = likelihood(at), float(slope @ step)
        # Far from the top a full step may land where the likelihood is flat.
        size = min(1.0, _LONGEST_STEP / max(np.abs(step).max(), 1e-300))
        move = np.zeros_like(at)
        move[free] = step
        # Near the top the gain drowns in rounding and the full step is right.
        while gain > 1e-9 * abs(now) and likelihood(at + size * move) < now and size > 1e-9:
            size /= 2
        at = at + size * move
        if np.abs(size * step).max() <= _TOLERANCE * max(1.0, np.abs(at).max()):
            return unpack(at)
    raise AssertionError("Newton's method did not settle")


def covariance(cells: Cells, clusters: Clusters, theta: Floats, nu: float, anchor: int) -> Floats:
    """Covariance of theta [n, n] by the sandwich; the anchor's row and column are 0."""
    num = len(theta)
    win, draw, loss, _ = _chances(cells, theta, nu)
    free = [p for p in range(num) if p != anchor] + ([num] if nu > 0 else [])
    inverse = np.linalg.inv(_information(cells, num, theta, nu)[np.ix_(free, free)])
    # Scores of whole clusters, and of the two halves of the virtual draw.
    w, d, v = (chance[clusters.cell] for chance in (win, draw, loss))
    by_d = clusters.won * (v + d / 2) - clusters.lost * (w + d / 2) - clusters.drawn * (w - v) / 2
    by_nu = clusters.drawn * (w + v) - (clusters.won + clusters.lost) * d
    dd, dn, nn = (np.zeros(len(win)) for _ in range(3))
    np.add.at(dd, clusters.cell, clusters.num * by_d**2)
    np.add.at(dn, clusters.cell, clusters.num * by_d * by_nu)
    np.add.at(nn, clusters.cell, clusters.num * by_nu**2)
    up, down = loss + draw / 2, -(win + draw / 2)
    dd += (up**2 + down**2) / 2
    dn -= draw * (up + down) / 2
    nn += draw**2
    middle = _spread2(cells, num, dd, dn, nn)[np.ix_(free, free)]
    found = inverse @ middle @ inverse
    if clusters.num.sum() < FEW_CLUSTERS and np.trace(inverse) > np.trace(found):
        found = inverse
    out = np.zeros((num, num))
    players = [p for p in free if p < num]
    out[np.ix_(players, players)] = found[: len(players), : len(players)]
    return (out + out.T) / 2
