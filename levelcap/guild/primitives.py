"""The 39 primitives: the small abilities that problems are made of, in five tracks."""

from __future__ import annotations

from levelcap.guild.drills.drill import Drill, Reader, solve_with
from levelcap.guild.drills.numbers import ARITHMETIC, BINARY
from levelcap.guild.drills.reason import CODE, LOGIC
from levelcap.guild.drills.words import EXTRA, STRING
from levelcap.guild.grade import Grade, grade_text
from levelcap.guild.skill import Problem
from levelcap.kit.errors import BadValue, refuse

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
# What is learned before: a primitive that is not named here needs no other.
PREREQUISITES: dict[str, tuple[str, ...]] = {
    "add_single_digit_with_carry": ("add_single_digit_no_carry",),
    "add_two_digit": ("add_single_digit_with_carry",),
    "sub_two_digit": ("sub_single_digit",),
    "mul_single_digit": ("add_two_digit",),
    "div_exact": ("mul_single_digit",),
    "digit_sum": ("add_single_digit_with_carry",),
    "modulo": ("div_exact", "sub_two_digit"),
    "add_with_carry": ("add_no_carry",),
    "sub_with_borrow": ("sub_no_borrow",),
    "from_decimal": ("to_decimal",),
    "implication_eval": ("truth_table_basic",),
    "modus_ponens": ("implication_eval",),
    "modus_tollens": ("modus_ponens",),
    "syllogism_all": ("modus_ponens",),
    "syllogism_some": ("syllogism_all",),
    "de_morgan": ("truth_table_basic",),
    "trace_assignment": ("add_two_digit",),
    "trace_if_else": ("compare_integers",),
    "trace_loop_fixed": ("trace_assignment",),
    "eval_bool_expr": ("compare_integers", "truth_table_basic"),
    "function_call_trace": ("trace_assignment", "mul_single_digit"),
    "palindrome_check": ("reverse_string",),
}
READERS: dict[str, Reader] = {drill.reader.head: drill.reader for drill in DRILLS.values()}


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
