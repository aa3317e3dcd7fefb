"""The 11 passives: side abilities measured at every checkpoint against the schooled base.

A passive asks its drills in turn, so that every exam of five or more problems is spread over
them. LITE is asked at each save, FULL on request. Drift is told only between equal versions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from levelcap.guild.drills.drill import Drill
from levelcap.guild.primitives import DRILLS, TRACKS
from levelcap.guild.rng import Rng, word_of
from levelcap.guild.skill import FRESH_DRAWS, Problem
from levelcap.kit.errors import BadValue, check_known, refuse

VERSION = 1
LITE = 5
FULL = 30
HOLD = 0.10  # a change smaller than this is "held"


@dataclass(frozen=True)
class Passive:
    """A side ability: a list of drills."""

    name: str
    drills: tuple[Drill, ...]
    version: int = VERSION

    @property
    def chance(self) -> float:
        """What a guesser gets right, from 0 to 1."""
        return sum(drill.chance for drill in self.drills) / len(self.drills)

    @property
    def primitives(self) -> frozenset[str]:
        """Everything its problems exercise."""
        return frozenset(p for drill in self.drills for p in drill.primitives or (drill.name,))


def _named(*names: str) -> tuple[Drill, ...]:
    return tuple(DRILLS[name] for name in names)


_TABLE = (
    Passive("arithmetic", TRACKS["arithmetic"]),
    Passive("binary_arithmetic", TRACKS["binary"]),
    Passive("code_trace", TRACKS["code"]),
    Passive("combinatorics", _named("choose", "arrange")),
    Passive("counting", _named("count_char", "string_length", "digit_sum")),
    Passive("language_basics", _named("plural", "opposite")),
    Passive("logic", TRACKS["logic"]),
    Passive("memory", _named("recall")),
    Passive("sequence", _named("next_number", "next_letter")),
    Passive("string_craft", _named("reverse_string", "sort_letters", "palindrome_check")),
    Passive("word_puzzles", _named("join", "initials", "substring_check")),
)
PASSIVES: dict[str, Passive] = {passive.name: passive for passive in _TABLE}


def get_passive(name: str) -> Passive:
    """The passive of this name.

    Raises:
        UnknownName: there is none.
    """
    return PASSIVES[check_known("passive", name, PASSIVES)]


def exam(passive: str, count: int = LITE, seed: int = 0) -> list[Problem]:
    """Held-out problems of a passive (of all, where a drill has too few to hold any out).

    Args:
        passive: its name.
        count: LITE, FULL or any other number from 1.
        seed: other seeds give other problems.
    """
    chosen = get_passive(passive)
    if count < 1:
        raise BadValue(refuse("an exam needs problems", count, "Ask for at least 1"))
    dice = Rng(seed, word_of(f"passive {passive} {chosen.version}"))
    order = dice.shuffled(chosen.drills)
    problems: list[Problem] = []
    seen: set[str] = set()
    for place in range(count):
        drill = order[place % len(order)]
        for _ in range(FRESH_DRAWS):
            problem = drill.problem(dice, exam=True, operation=passive)
            if problem.key not in seen:
                break
        seen.add(problem.key)
        problems.append(problem)
    return problems


def drift(base: float, now: float) -> Literal["gained", "held", "lost"]:
    """What became of an ability, for two accuracies of the same passive and version."""
    if now - base >= HOLD - 1e-9:
        return "gained"
    return "lost" if base - now >= HOLD - 1e-9 else "held"
