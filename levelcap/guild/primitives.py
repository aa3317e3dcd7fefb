"""The 39 primitives: the small abilities that problems are made of, in five tracks."""

from __future__ import annotations

from levelcap.guild.drills.drill import Drill, Reader, solve_with
from levelcap.guild.drills.numbers import ARITHMETIC, BINARY
from levelcap.guild.drills.reason import CODE, LOGIC
from levelcap.guild.drills.words import EXTRA, STRING
from levelcap.guild.grade import Grade, grade_text
from levelcap.guild.skill import Problem
from levelcap.kit.errors import BadValue, refuse, unknown_name

TRACKS: dict[str, tuple[Drill, ...]] = {
    "arithmetic": ARITHMETIC,
    "binary": BINARY,
    "logic": LOGIC,
    "string": STRING,
    "code": CODE,
}
PRIMITIVES: dict[str, Drill] = {drill.name: drill for row in TRACKS.values() for drill in row}
TRACK_OF = {drill.name: track for track, row in TRACKS.items() for drill in row}
DRILLS: dict[str, Drill] = PRIMITIVES | {drill.name: drill for drill in EXTRA}
READERS: dict[str, Reader] = {drill.reader.head: drill.reader for drill in DRILLS.values()}


def get_primitive(name: str) -> Drill:
    """The primitive of this name.

    Raises:
        UnknownName: there is none.
    """
    if name not in PRIMITIVES:
        raise unknown_name("primitive", name, PRIMITIVES)
    return PRIMITIVES[name]


def solve_drill(prompt: str) -> str:
    """The answer to any drill's prompt, computed from the prompt alone.

    Raises:
        BadValue: the prompt is none.
    """
    head = prompt.partition(": ")[0] if len(prompt) < 1_000 else ""
    if head not in READERS:
        raise BadValue(refuse("not a drill", prompt, "Use a prompt made by the guild"))
    return solve_with(READERS[head], prompt)


def judge_drill(problem: Problem, answer: object) -> Grade:
    """Grades an answer to a drill, strictly (see `judge.mark`)."""
    return grade_text(solve_drill(problem.prompt), answer)
