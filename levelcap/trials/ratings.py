"""Elo with honest intervals, from games with draws (`levelcap.trials.davidson`).

    found = rate([Games("hero", "rookie", scores), Games("veteran", "rookie", others)])
    found.elo("hero"), found.interval("hero"), found.difference("hero", "veteran")

Elo = 400 log10 of the strength, the anchor held at its number. The two games of a pair share a
seed, so pairs are the independent units of the intervals. Results do not depend on the order of
games or players: everything is counted first and summed in sorted order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.kit.stats import Z95
from levelcap.trials.davidson import Cells, Clusters, covariance, fit

ANCHOR, ANCHOR_ELO = "rookie", 1000.0
ELO = 400.0 / log(10.0)  # Elo points of one natural unit
# (won, drawn, lost) of a pair with half points (x, y) at 3x + y, then of a lone game at 9 + x.
_KINDS = [
    tuple(points.count(value) for value in (2, 1, 0))
    for points in [*product(range(3), repeat=2), *((x,) for x in range(3))]
]


@dataclass(frozen=True)
class Games:
    """Games of a against b in the order played: scores of a, each 1, 0.5 or 0.

    Games 2k and 2k+1 are a pair (same seed, sides exchanged); an odd last one stands alone.
    """

    a: str
    b: str
    scores: ArrayLike

    def half_points(self) -> NDArray[np.int64]:
        """Scores of a as whole half points [n], checked."""
        scores = np.asarray(self.scores, np.float64).reshape(-1)
        wrong = scores[~np.isin(scores, (0.0, 0.5, 1.0))]
        if len(wrong):
            what = f"scores of {self.a} against {self.b} must be 1, 0.5 or 0"
            raise BadValue(refuse(what, float(wrong[0]), "Give one score a game"))
        if self.a == self.b:
            remedy = "Leave games of a player against itself out"
            raise BadValue(refuse("a player cannot be rated against itself", self.a, remedy))
        return np.rint(scores * 2).astype(np.int64)


def to_digits(scores: ArrayLike) -> str:
    """Scores as text, one digit a game in the order played: 2 won, 1 drawn, 0 lost."""
    return "".join("012"[int(round(float(score) * 2))] for score in np.asarray(scores))


def from_digits(digits: str) -> NDArray[np.float64]:
    """The scores back."""
    return np.array([int(digit) / 2 for digit in digits])


@dataclass(frozen=True)
class Ratings:
    """Elo of every player with its covariance; made by `rate`."""

    names: tuple[str, ...]
    elos: NDArray[np.float64]
    covariance: NDArray[np.float64]
    draw_nu: float
    bounds: tuple[str, ...]
    played: tuple[int, ...]
    anchor: str

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise unknown_name("rated player", name, self.names)
        return self.names.index(name)

    def elo(self, name: str) -> float:
        """Elo of a player."""
        return float(self.elos[self._index(name)])

    def interval(self, name: str) -> tuple[float, float]:
        """95 % interval of a player's Elo relative to the anchor, which has none."""
        _, low, high = self.difference(name, self.anchor)
        base = self.elo(self.anchor)
        return base + low, base + high

    def bound(self, name: str) -> str:
        """What kind of number the Elo is: "" for an estimate, or only a bound.

        ">": nobody linked to the anchor ever took a point off this player (a perfect record, or
        above somebody with one), so the interval's low end is all the games say. "<": the same
        downwards, the high end counts. "?": neither side is held by a result.
        """
        return self.bounds[self._index(name)]

    def games(self, name: str) -> int:
        """Games this player played."""
        return self.played[self._index(name)]

    def text(self, name: str) -> str:
        """The Elo as it is shown: "1342 (1310 to 1375)", "> 1310", "< 720"."""
        low, high = self.interval(name)
        kind = self.bound(name)
        if kind in ("<", ">"):
            return f"{kind} {low if kind == '>' else high:.0f}"
        shown = f"{self.elo(name):.0f}"
        if name == self.anchor:
            return f"{shown} (anchor)"
        return f"{shown} ({low:.0f} to {high:.0f}){kind}"

    def difference(self, a: str, b: str) -> tuple[float, float, float]:
        """Elo of a minus Elo of b, and its 95 % interval through the covariance."""
        i, j = self._index(a), self._index(b)
        cov = self.covariance
        half = Z95 * sqrt(max(0.0, float(cov[i, i] + cov[j, j] - 2 * cov[i, j])))
        gap = float(self.elos[i] - self.elos[j])
        return gap, gap - half, gap + half

    def rising(self, later: str, first: str) -> bool:
        """Is `later` above `first`: does the interval of the difference lie above 0?"""
        return self.difference(later, first)[1] > 0

    def as_json(self) -> dict[str, Any]:
        """Everything but the covariance, as plain numbers."""
        players = {}
        for name in self.names:
            low, high = self.interval(name)
            players[name] = {
                "elo": round(self.elo(name), 2),
                "low": round(low, 2),
                "high": round(high, 2),
                "bound": self.bound(name),
                "games": self.games(name),
            }
        return {"anchor": self.anchor, "draw_nu": round(self.draw_nu, 6), "players": players}


def rate(games: Sequence[Games], anchor: str = ANCHOR, anchor_elo: float = ANCHOR_ELO) -> Ratings:
    """Rate every player of these games, all of one ruleset.

    anchor: the player held at `anchor_elo`; everybody must be linked to it by games.
    """
    played = [(g, points) for g in games if len(points := g.half_points())]
    names = tuple(sorted({name for g, _ in played for name in (g.a, g.b)}))
    if anchor not in names:
        remedy = f"Add games of {anchor}, or name another anchor"
        raise BadValue(refuse(f"the anchor {anchor} played no game", list(names), remedy))
    cells, clusters = _count(played, names)
    _check_linked(cells, names, anchor)
    fixed = names.index(anchor)
    theta, nu = fit(cells, len(names), fixed)
    spread = covariance(cells, clusters, theta, nu, fixed)
    totals = np.zeros(len(names), np.int64)
    for side in (cells.i, cells.j):
        np.add.at(totals, side, (cells.won + cells.drawn + cells.lost).astype(np.int64))
    return Ratings(
        names,
        anchor_elo + ELO * theta,
        ELO**2 * spread,
        nu,
        _bounds(cells, len(names), fixed),
        tuple(totals.tolist()),
        anchor,
    )


def _count(
    played: list[tuple[Games, NDArray[np.int64]]], names: tuple[str, ...]
) -> tuple[Cells, Clusters]:
    """Count kinds of pairs of games per pair of players, in an order given by the names alone."""
    place = {name: index for index, name in enumerate(names)}
    kinds: Counter[tuple[int, ...]] = Counter()
    for g, points in played:
        i, j = place[g.a], place[g.b]
        if i > j:
            i, j, points = j, i, 2 - points
        usable = len(points) // 2 * 2
        pairs = points[:usable].reshape(-1, 2)
        codes = np.append(3 * pairs[:, 0] + pairs[:, 1], 9 + points[usable:])
        for code, count in enumerate(np.bincount(codes).tolist()):
            if count:
                kinds[(i, j, *_KINDS[code])] += count
    rows = np.array([(*kind, kinds[kind]) for kind in sorted(kinds)], np.int64)
    pairs, cell = np.unique(rows[:, :2], axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    totals = np.zeros((len(pairs), 3), np.int64)
    np.add.at(totals, cell, rows[:, 2:5] * rows[:, 5:])
    won, drawn, lost = totals.T.astype(np.float64)
    kinds_of = rows[:, 2:].T.astype(np.float64)
    return Cells(pairs[:, 0], pairs[:, 1], won, drawn, lost), Clusters(cell, *kinds_of)


def _reached(links: Iterable[tuple[int, int]], start: int) -> set[int]:
    """Everybody at the end of a chain of links from `start`."""
    follow = defaultdict(list)
    for one, other in links:
        follow[one].append(other)
    seen, waiting = {start}, [start]
    while waiting:
        for other in follow[waiting.pop()]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def _check_linked(cells: Cells, names: tuple[str, ...], anchor: str) -> None:
    met = list(zip(cells.i.tolist(), cells.j.tolist(), strict=True))
    linked = _reached(met + [(j, i) for i, j in met], names.index(anchor))
    alone = [name for index, name in enumerate(names) if index not in linked]
    if alone:
        remedy = f"Let one of them play {anchor} or somebody who did"
        raise BadValue(refuse(f"no chain of games leads to {anchor}", alone, remedy))


def _bounds(cells: Cells, num: int, anchor: int) -> tuple[str, ...]:
    """Per player "", "<", ">" or "?": is it held to the anchor by points on both sides?"""
    took = []  # (one, other): one took a point or half a point off other
    for i, j, won, drawn, lost in zip(*cells, strict=True):
        if won or drawn:
            took.append((int(i), int(j)))
        if lost or drawn:
            took.append((int(j), int(i)))
    from_above = _reached(took, anchor)  # a chain of points down from the anchor to the player
    from_below = _reached(((other, one) for one, other in took), anchor)
    kinds = {(True, True): "", (False, True): ">", (True, False): "<", (False, False): "?"}
    return tuple(kinds[p in from_above, p in from_below] for p in range(num))
