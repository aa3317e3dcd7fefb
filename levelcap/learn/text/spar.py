"""Sparring: the hero answers fresh problems; each wrong answer becomes three lessons.

    Right or wrong: <its answer>   + the problem   ->  wrong
    Correct it: <its answer>       + the problem   ->  the right answer
    Right or wrong: <the right one> + the problem  ->  right

Problems that use a weak primitive come first: a first quarter of the problems tells which ones are
answered below the bar. All problems are lessons, never exam problems. The rows go stale as the
hero learns, so they are worth training on soon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from levelcap.guild.engine import Guild
from levelcap.guild.grade import Grade
from levelcap.guild.judge import tally
from levelcap.guild.skill import Problem
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.files import dump_line, write_bytes
from levelcap.kit.seeds import chain
from levelcap.play.answers import TextHero

SPAR_WORD = 0x73706172
WEAK, LEAST = 0.8, 5
PROBE_SHARE, MAX_DRAWS = 0.25, 20
ASK, CORRECT = "Right or wrong: ", "Correct it: "
LONGEST_MORE = 16  # tokens an answer may be longer than the right one


@dataclass(frozen=True)
class Sparring:
    """What came of it. by_primitive: name -> (right, count) of the first quarter."""

    asked: int
    wrong: int
    by_primitive: dict[str, tuple[int, int]]
    weak: tuple[str, ...]
    rows: list[dict[str, Any]]


def spar(
    guild: Guild,
    hero: TextHero,
    skill: str,
    level: int,
    count: int,
    *,
    seed: int = 0,
    preset: str | None = None,
) -> Sparring:
    """Let the hero answer `count` fresh problems of a level.

    Raises:
        BadValue: fewer than 4 problems.
    """
    if count < 4:
        raise BadValue(refuse("sparring needs problems", count, "Ask for at least 4"))
    source = guild.get(skill)
    words = chain(seed, SPAR_WORD)
    probes = int(count * PROBE_SHARE)

    def draw(number: int) -> Problem:
        return source.lesson(level, seed=words, index=number, preset=preset)

    # A first quarter of everything tells where the hero is weak.
    first = [draw(number) for number in range(probes)]
    right = _right(hero, first)
    marks = [Grade(hit, float(hit)) for hit in right]
    table = tally((problem.primitives for problem in first), marks)
    # Below LEAST problems a share says nothing.
    weak = {n for n, (good, total) in table.items() if total >= LEAST and good < WEAK * total}
    rest: list[Problem] = []
    # Bounded: a primitive may be so rare that it is never drawn.
    for number in range(probes, probes + MAX_DRAWS * count):
        if len(rest) == count - probes:
            break
        problem = draw(number)
        if not weak or weak & set(problem.primitives):
            rest.append(problem)
    problems, good = first + rest, right + _right(hero, rest)
    missed = [problem for problem, hit in zip(problems, good, strict=True) if not hit]
    pairs = zip(missed, _said(hero, missed), strict=True)
    rows = [row for problem, said in pairs for row in rows_of(problem, said)]
    return Sparring(len(problems), len(missed), table, tuple(sorted(weak)), rows)


def rows_of(problem: Problem, said: str) -> list[dict[str, Any]]:
    """The three lessons of one wrong answer."""
    texts = (
        (f"{ASK}{said}\n{problem.prompt}", "wrong"),
        (f"{CORRECT}{said}\n{problem.prompt}", problem.answer),
        (f"{ASK}{problem.answer}\n{problem.prompt}", "right"),
    )
    facts = {name: getattr(problem, name) for name in ("skill", "level", "form", "operation")}
    return [{"prompt": p, "answer": a, **facts, "source": "sparring"} for p, a in texts]


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """The rows as a lesson file, whole or not at all."""
    write_bytes(path, b"".join(dump_line(row) for row in rows))


def _right(hero: TextHero, problems: list[Problem]) -> list[bool]:
    found = hero.exact([p.prompt for p in problems], [p.answer for p in problems])
    return [bool(hit) for hit in found]


def _said(hero: TextHero, problems: list[Problem]) -> list[str]:
    """Only wrong answers have to be written out."""
    if not problems:
        return []
    longest = max(len(hero.tokens.encode(p.answer)) for p in problems) + LONGEST_MORE
    return hero.answers([p.prompt for p in problems], longest)
