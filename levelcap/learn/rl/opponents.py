"""Who the learner plays against besides itself: bots, their training cousins, past selves.

Each opponent carries the learner's running score x against it (1 win, .5 draw), forgotten slowly.
`x(1 - x)` weights the draw: the one that is neither hopeless nor beaten is met most, and a share
`floor` is spread evenly so that nobody is ever left out. The draw for a match depends on the
match's seed and on the results so far, so a resumed run meets the same opponents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.seeds import chain, splitmix64_array, stream
from levelcap.play.roster import Door, find
from levelcap.world.players.bot_names import SEALED_FROM
from levelcap.world.protocols import Policy

MEMORY = 400.0  # games after which an old result counts 1/e
SCHEMES = ("variance", "even")


@dataclass
class Opponent:
    """One opponent: its policy, and how the learner fares against it."""

    name: str
    policy: Policy
    games: float = 2.0  # prior: one win, one loss
    score: float = 1.0
    played: int = 0

    @property
    def rate(self) -> float:
        """The learner's running score against it."""
        return self.score / self.games


class Pool:
    """Opponents of one run, and the draw among them."""

    def __init__(self, scheme: str = "variance", floor: float = 0.1) -> None:
        if scheme not in SCHEMES:
            raise BadValue(refuse("unknown opponent scheme", scheme, f"Use one of {SCHEMES}"))
        self.scheme, self.floor = scheme, floor
        self.members: list[Opponent] = []

    def add(self, name: str, policy: Policy) -> None:
        """Let an opponent in."""
        self.members.append(Opponent(name, policy))

    def weights(self) -> NDArray[np.float64]:
        """Chance of each member to be drawn; sums to 1."""
        count = len(self.members)
        even = np.full(count, 1.0 / count)
        if self.scheme == "even":
            return even
        rates = np.array([member.rate for member in self.members])
        raw = rates * (1.0 - rates)
        total = raw.sum()
        return (1 - self.floor) * raw / total + self.floor * even if total > 0 else even

    def draw(self, match_seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """An opponent for each of the matches, by their seeds."""
        bits = splitmix64_array(match_seeds ^ np.uint64(0x6F70706F6E656E74))
        chance = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
        edges = np.cumsum(self.weights())
        return np.minimum(np.searchsorted(edges, chance, side="right"), len(edges) - 1)

    def record(self, index: int, score: float) -> None:
        """Take in one finished match of the learner against member `index`."""
        member = self.members[index]
        keep = 1.0 - 1.0 / MEMORY
        member.games = member.games * keep + 1.0
        member.score = member.score * keep + score
        member.played += 1

    def results(self) -> list[list[float]]:
        """The counts, for a checkpoint; `restore` takes them back."""
        return [[m.games, m.score, m.played] for m in self.members]

    def restore(self, results: list[list[float]]) -> None:
        """Set the counts of all members."""
        for member, (games, score, played) in zip(self.members, results, strict=True):
            member.games, member.score, member.played = games, score, int(played)


def training_names(bots: tuple[str, ...], cousins: int, seed: int) -> list[str]:
    """The bots and `cousins` training cousins of each, drawn by the run's seed."""
    names = list(bots)
    for bot in bots:
        rng = stream(chain(seed, len(bot)), f"training cousins of {bot}")
        names += [f"{bot}~{int(rng.integers(SEALED_FROM))}" for _ in range(cousins)]
    return names


def bot_pool(names: list[str], scheme: str, floor: float) -> Pool:
    """A pool of scripted opponents; a sealed name is refused."""
    pool = Pool(scheme, floor)
    for name in names:
        pool.add(name, find(name, Door.TRAINING))
    return pool
