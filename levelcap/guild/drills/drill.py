"""A drill: the smallest kind of problem, one line asked and one line answered.

A prompt is `<head>: <body>`; the head chooses the solver, the solver reads the body. Drills that
ask the same question about harder numbers share head and solver.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from levelcap.guild.rng import Rng
from levelcap.guild.skill import MAX_DRAWS, MEMORISABLE_BELOW, Problem, prompt_key
from levelcap.kit.errors import BadValue, refuse

SKILL = "school"
HELD_ONE_IN = 10
MAX_CHARS = 400

Draw = Callable[[Rng], str]
Solve = Callable[[re.Match[str]], str]


@dataclass(frozen=True)
class Reader:
    """How bodies under one head are read and solved."""

    head: str
    pattern: re.Pattern[str]
    solve: Solve


@dataclass(frozen=True)
class Drill:
    """One kind of problem."""

    name: str
    reader: Reader
    draw: Draw  # a body
    difficulty: int  # 1 easiest … 5
    pool: int  # different bodies; for large ones a least
    chance: float  # share that guessing gets right: the commonest answer, or one of those shown
    primitives: tuple[str, ...] = ()  # what it exercises; empty: itself

    @property
    def memorisable(self) -> bool:
        """True: too few problems to keep some for exams."""
        return self.pool < MEMORISABLE_BELOW

    def problem(self, dice: Rng, exam: bool, operation: str | None = None) -> Problem:
        """One problem; of the held-out tenth for an exam, of the rest for a lesson."""
        for _ in range(MAX_DRAWS):
            prompt = f"{self.reader.head}: {self.draw(dice)}"
            key = prompt_key(prompt)
            if self.memorisable or (int(key, 16) % HELD_ONE_IN == 0) == exam:
                break
        used = self.primitives or (self.name,)
        answer = solve_with(self.reader, prompt)
        return Problem(
            SKILL, self.difficulty, "drill", operation or self.name, prompt, answer, used, key
        )


def reader(head: str, pattern: str, solve: Solve) -> Reader:
    """A reader of bodies that match the whole pattern."""
    return Reader(head, re.compile(pattern), solve)


def solve_with(chosen: Reader, prompt: str) -> str:
    """The answer to a prompt under a known head.

    Raises:
        BadValue: the body is none the reader knows.
    """
    body = prompt[len(chosen.head) + 2 :]
    match = chosen.pattern.fullmatch(body) if len(body) <= MAX_CHARS else None
    if not match:
        raise BadValue(refuse("not a drill", prompt, "Use a prompt made by the guild"))
    return chosen.solve(match)
