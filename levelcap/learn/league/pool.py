"""The opponents of a league player's matches: slots that outlive a turn.

A match may last longer than a turn. Who has sat down plays it to its end: a slot is given to
somebody else only when no match needs it, and results are counted for whoever sat there.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from levelcap.learn.league.players import id_of_key
from levelcap.learn.rl.opponents import Opponent, Pool
from levelcap.world.protocols import Policy


class Bench(Protocol):
    """Where opponents come from, by a player's key."""

    def load(self, key: str) -> Policy:
        """Its policy."""

    def stand_in(self, key: str) -> str:
        """The key itself, or that of somebody else when its file is gone."""


class LeaguePool(Pool):
    """Slots, the chance of each to get the next match, and what was played since it was made."""

    def __init__(self, bench: Bench) -> None:
        super().__init__("even")
        self._bench = bench
        self.shares: dict[str, float] = {}  # key -> share of the matches of this turn
        self.tally: dict[str, list[int]] = {}  # player -> wins, draws, losses of the learner

    def weights(self) -> NDArray[np.float64]:
        """Chance of each slot to be drawn."""
        chances = np.array([self.shares.get(member.name, 0.0) for member in self.members])
        return chances / chances.sum()

    def record(self, index: int, score: float) -> None:
        """Take in one finished match."""
        super().record(index, score)
        counts = self.tally.setdefault(id_of_key(self.members[index].name), [0, 0, 0])
        counts[{1.0: 0, 0.5: 1, 0.0: 2}[score]] += 1

    def take_seats(self, keys: list[str]) -> None:
        """Sit these down in this order: the slots of a checkpoint."""
        found = [self._bench.stand_in(key) for key in keys]
        self.members = [Opponent(key, self._bench.load(key)) for key in found]

    def enter(self, shares: dict[str, float], in_use: set[int]) -> list[int]:
        """Let the opponents of a turn in; returns the slots that have somebody new.

        in_use: slots that unfinished matches are played against.
        """
        self.shares = shares
        # A slot is free when nobody plays there and nobody will be drawn to.
        there = {member.name for member in self.members}
        free = [
            slot
            for slot, member in enumerate(self.members)
            if slot not in in_use and member.name not in shares
        ]
        changed = []
        for key in shares:
            if key in there:
                continue
            newcomer = Opponent(key, self._bench.load(key))
            if free:
                slot = free.pop(0)
                self.members[slot] = newcomer
            else:
                slot = len(self.members)
                self.members.append(newcomer)
            changed.append(slot)
        return changed

    def restore(self, results: list[list[float]]) -> None:
        """Back to the checkpoint a turn began from: nothing has been played since."""
        super().restore(results)
        self.tally.clear()
