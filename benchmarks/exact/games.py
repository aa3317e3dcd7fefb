"""Small two-seat zero-sum games whose best responses and exploitability are exact.

A strategy of a seat is a vector in which payoffs are linear: a mixture of pure strategies (normal
form), or the chance of every sequence of own actions (sequence form, Koller et al. 1996). So a
mixture of players is one more vector, `x @ payoff @ y` is what seat 0 wins, and a best response
maximises a linear function. A player of a league sits in both seats: `Player = (x, y)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Player = tuple[Floats, Floats]
TIED = 1e-9  # gains closer than this are equal


@dataclass(frozen=True)
class Tree:
    """A seat's decisions in sequence form: number 0 is "nothing done yet", parents come first."""

    size: int
    decisions: list[tuple[int, NDArray[np.int64]]]
    """the sequence that leads to it, and those it can be continued to"""
    names: list[str]
    """of the information sets, as the game calls them"""

    def best(self, gains: Floats, rng: np.random.Generator) -> Floats:
        """The plan that maximises plan @ gains; equal actions are drawn from."""
        worth = gains.copy()
        tie = TIED * rng.random(self.size)
        chosen = []
        for parent, actions in reversed(self.decisions):
            action = actions[int((worth[actions] + tie[actions]).argmax())]
            chosen.append(action)
            worth[parent] += worth[action]
        plan = np.zeros(self.size)
        plan[0] = 1.0
        for (parent, _), action in zip(self.decisions, reversed(chosen), strict=True):
            plan[action] = plan[parent]
        return plan

    def behaviour(self, plan: Floats) -> dict[str, list[float]]:
        """Chances of the actions at every information set; even where it is never reached."""
        found = {}
        for name, (parent, actions) in zip(self.names, self.decisions, strict=True):
            reached = plan[parent] > 1e-12
            odds = plan[actions] / plan[parent] if reached else np.ones(len(actions)) / len(actions)
            found[name] = odds.tolist()
        return found


@dataclass(frozen=True)
class Game:
    """A game by its payoffs to seat 0; without trees, vectors are mixtures of pure strategies."""

    name: str
    payoff: Any
    """[n0, n1], dense or sparse"""
    trees: tuple[Tree, Tree] | None = None
    most: float = 1.0
    """the highest payoff of a game: what a win is worth as a chance to win"""
    alike: bool = False
    """are the seats the same?"""

    def chances(self, player: Player, others: list[Player]) -> Floats:
        """What the player wins of each of the others, both seats played, as a chance to win."""
        xs, ys = (np.stack(side) for side in zip(*others, strict=True))
        won = ys @ (player[0] @ self.payoff) - xs @ (self.payoff @ player[1])
        return np.asarray(0.5 + won / (4 * self.most))

    def best_response(self, to: Player, rng: np.random.Generator) -> Player:
        """The player that wins most of `to`: one best-response call, both seats."""
        gains = self.payoff @ to[1], -(to[0] @ self.payoff)
        if self.alike:
            # One seat with two names: the player answers both alike.
            best = _one(gains[0] + gains[1], rng)
            return best, best
        if self.trees is not None:
            return self.trees[0].best(gains[0], rng), self.trees[1].best(gains[1], rng)
        return _one(gains[0], rng), _one(gains[1], rng)

    def nash_conv(self, of: Player) -> float:
        """What best responses gain in both seats together; 0 in equilibrium."""
        rng = np.random.default_rng(0)  # ties do not change the value
        best = self.best_response(of, rng)
        return float(best[0] @ (self.payoff @ of[1]) - (of[0] @ self.payoff) @ best[1])

    def anybody(self, rng: np.random.Generator) -> Player:
        """A pure player drawn at random: where every arm begins."""
        gains = [rng.standard_normal(size) for size in self.payoff.shape]
        if self.trees is not None:
            return self.trees[0].best(gains[0], rng), self.trees[1].best(gains[1], rng)
        first, second = (_one(row, rng) for row in gains)
        return first, first if self.alike else second


def mixed(players: list[Player], shares: Floats) -> Player:
    """The mixture of some players as one."""
    x = sum(share * player[0] for share, player in zip(shares, players, strict=True))
    y = sum(share * player[1] for share, player in zip(shares, players, strict=True))
    return np.asarray(x), np.asarray(y)


def _one(gains: Floats, rng: np.random.Generator) -> Floats:
    found = np.zeros(len(gains))
    found[int((gains + TIED * rng.random(len(gains))).argmax())] = 1.0
    return found


def _symmetric(name: str, *rows: list[float]) -> Game:
    payoff = np.array(rows)
    assert (payoff == -payoff.T).all()
    return Game(name, payoff, most=float(np.abs(payoff).max()), alike=True)


def rock_paper_scissors() -> Game:
    """The plain one: Nash (1, 1, 1) / 3."""
    return _symmetric("rps", [0, -1, 1], [1, 0, -1], [-1, 1, 0])


def biased() -> Game:
    """Rock wins double against scissors, and a fourth move loses to every one of the three.

    Nash (1, 2, 1, 0) / 4: with scissors worth 2 to rock, paper has to be played more.
    """
    return _symmetric("rps biased", [0, -1, 2, 1], [1, 0, -1, 1], [-2, 1, 0, 1], [-1, -1, -1, 0])


def noisy() -> Game:
    """Nobody wins more than .8 of a game, and a bully: best on average, and in no equilibrium.

    Nash (1, 4, 1, 0) / 6. The bully has the highest mean payoff of the four moves, .14 against
    paper's .06, and loses only to paper: to the move that equilibrium plays most.
    """
    rows = [0, -1, 4, -2], [1, 0, -1, 1.2], [-4, 1, 0, -2], [2, -1.2, 2, 0]
    return replace(_symmetric("rps noisy", *([0.2 * x for x in row] for row in rows)), most=1.0)


def kuhn() -> Game:
    """Kuhn poker (1950) as 64 x 64 pure strategies: two yes-or-no answers to each of three cards.

    Seat 0 with a card: bet at once? and, having passed and been bet at: call? Seat 1: bet after a
    pass? call a bet? The ante is 1, a bet 1.
    """
    pure = np.array(list(product((0, 1), repeat=6))).reshape(64, 3, 2)
    payoff = np.zeros((64, 64))
    for mine, theirs in permutations(range(3), 2):
        sign = 1 if mine > theirs else -1
        bets, calls = (pure[:, mine, node][:, None] for node in (0, 1))
        answers, calling = (pure[:, theirs, node][None] for node in (0, 1))
        bet_first = np.where(calling, 2 * sign, 1)
        passed = np.where(answers, np.where(calls, 2 * sign, -1), sign)
        payoff += np.where(bets, bet_first, passed) / 6
    return Game("kuhn", payoff, most=2.0)


def kuhn_behaviour(player: Player) -> dict[str, list[float]]:
    """Chances to (pass, bet) at each information set, named as OpenSpiel names them."""
    pure = np.array(list(product((0, 1), repeat=6))).reshape(64, 3, 2)
    found = {}
    for card in range(3):
        first, second = pure[:, card].T
        passed = float(player[0] @ (1 - first))
        called = float(player[0] @ ((1 - first) * second)) / passed if passed > 1e-12 else 0.5
        chances = {
            "": 1 - passed,
            "pb": called,
            "p": float(player[1] @ first),
            "b": float(player[1] @ second),
        }
        found |= {f"{card}{past}": [1 - bet, bet] for past, bet in chances.items()}
    return found


def from_file(path: Path, name: str) -> Game:
    """A game in sequence form as `benchmarks/peers/open_spiel_games.py` writes it."""
    stored: Any = np.load(path)
    sides = []
    for seat in range(2):
        parents, counts = stored[f"parents{seat}"], stored[f"counts{seat}"]
        ends = 1 + np.cumsum(counts)
        decisions = [
            (int(parent), np.arange(end - count, end))
            for parent, count, end in zip(parents, counts, ends, strict=True)
        ]
        sides.append(Tree(int(ends[-1]), decisions, stored[f"names{seat}"].tolist()))
    shape = (sides[0].size, sides[1].size)
    cells = stored["rows"], stored["columns"]
    payoff = csr_array((stored["payoffs"], cells), shape=shape)  # mostly empty
    return Game(name, payoff, (sides[0], sides[1]), float(stored["most"]))
