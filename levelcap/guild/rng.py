"""Seeded chance for generators: one 64-bit word chain, the same on every machine for ever.

`random.Random` costs a 2.5 kB state per problem and numpy's generators more; a problem needs
about ten draws.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

from levelcap.kit.seeds import GAMMA, MASK, chain, splitmix64

T = TypeVar("T")


def word_of(text: str) -> int:
    """A text as one 64-bit word: the first eight bytes of its sha256."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


class Rng:
    """A stream of draws that is a pure function of its seed words."""

    def __init__(self, seed: int, *words: int) -> None:
        self._state = chain(seed, *words)

    def word(self) -> int:
        """64 random bits."""
        self._state = (self._state + GAMMA) & MASK
        return splitmix64(self._state)

    def below(self, limit: int) -> int:
        """A number in [0, limit), limit up to 2^48 (the bias stays below 2^-16)."""
        return (self.word() * limit) >> 64

    def between(self, low: int, high: int) -> int:
        """A number in [low, high], both ends included."""
        return low + self.below(high - low + 1)

    def chance(self, percent: float) -> bool:
        """True in `percent` of 100 draws."""
        return self.below(1_000_000) < percent * 10_000

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, each equally likely."""
        return options[self.below(len(options))]

    def weighted(self, weights: Mapping[str, float]) -> str:
        """One of the names, as likely as its weight."""
        mark = self.below(1_000_000) / 1_000_000 * sum(weights.values())
        for name, weight in weights.items():
            mark -= weight
            if mark < 0:
                return name
        return next(reversed(list(weights)))

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in random order."""
        rest = list(items)
        for last in range(len(rest) - 1, 0, -1):
            other = self.below(last + 1)
            rest[last], rest[other] = rest[other], rest[last]
        return rest

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different places of `items`, in random order."""
        rest = list(items)
        for place in range(count):
            other = place + self.below(len(rest) - place)
            rest[place], rest[other] = rest[other], rest[place]
        return rest[:count]
