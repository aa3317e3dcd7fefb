"""Who beats whom: counts of wins, draws and losses by pair, and the chance to win. No torch.

The chance is the mean of a Beta(1 + w, 1 + l) posterior with draws as halves, so a pair that never
met stands at 1/2. Results of a player that still learns fade with a half-life of 2,000 games: it
was another player then. Between frozen ones nothing fades.
"""

from __future__ import annotations

from typing import Any

BETWEEN = "::"  # the pair a, b is written a::b
HALF_LIFE = 2000.0  # games


class Payoff:
    """The table, from the side of the first name of each pair."""

    def __init__(self, half_life: float = HALF_LIFE) -> None:
        self.half_life = half_life
        self._cells: dict[tuple[str, str], list[float]] = {}  # wins, draws, losses

    def add(self, a: str, b: str, result: tuple[float, float, float], *, fading: bool) -> None:
        """Take in wins, draws and losses of `a` against `b`; fading: one of them still learns."""
        swap = (b, a) in self._cells
        cell = self._cells.setdefault((b, a) if swap else (a, b), [0.0, 0.0, 0.0])
        keep = 0.5 ** (sum(result) / self.half_life) if fading else 1.0
        for place, games in enumerate(reversed(result) if swap else result):
            cell[place] = cell[place] * keep + games

    def counts(self, a: str, b: str) -> tuple[float, float, float]:
        """Wins, draws, losses of `a` against `b`, faded ones by what is left of them."""
        if (a, b) in self._cells:
            wins, draws, losses = self._cells[a, b]
            return wins, draws, losses
        losses, draws, wins = self._cells.get((b, a), (0.0, 0.0, 0.0))
        return wins, draws, losses

    def games(self, a: str, b: str) -> float:
        """Games the two are known by."""
        return sum(self.counts(a, b))

    def rate(self, a: str, b: str) -> float:
        """The chance that `a` wins."""
        if a == b:
            return 0.5
        wins, draws, losses = self.counts(a, b)
        return (1 + wins + draws / 2) / (2 + wins + draws + losses)

    def forget(self, name: str) -> None:
        """Drop all results of a player: it starts anew."""
        self._cells = {pair: cell for pair, cell in self._cells.items() if name not in pair}

    def take_over(self, name: str, other: str) -> None:
        """A player has become what another is: the other's results are its own now."""
        self.forget(name)
        for a, b in list(self._cells):
            if other in (a, b):
                pair = (name if a == other else a, name if b == other else b)
                self._cells[pair] = list(self._cells[a, b])

    def as_json(self) -> dict[str, dict[str, float]]:
        """`a::b` to wins, draws, losses and p."""
        return {
            f"{a}{BETWEEN}{b}": {"wins": won, "draws": drawn, "losses": lost, "p": self.rate(a, b)}
            for (a, b), (won, drawn, lost) in sorted(self._cells.items())
        }

    @classmethod
    def from_json(cls, document: dict[str, Any], half_life: float = HALF_LIFE) -> Payoff:
        """Read what `as_json` wrote."""
        found = cls(half_life)
        for pair, cell in document.items():
            a, _, b = pair.partition(BETWEEN)
            found._cells[a, b] = [float(cell[name]) for name in ("wins", "draws", "losses")]
        return found
