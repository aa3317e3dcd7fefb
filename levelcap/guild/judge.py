"""The judge: an answer is right when it is, character for character, what the evaluator writes.

The expected text is recomputed from the prompt by the skill's own `solve`; what stands in
`Problem.answer` is not trusted. Partial credit (BIN: lines right at their place; SY: words) is
reported and never counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from levelcap.guild.grade import Grade
from levelcap.guild.skill import Problem
from levelcap.kit.errors import BadValue, refuse


@dataclass(frozen=True)
class Score:
    """Marks of many answers, together and by form, operation and primitive."""

    accuracy: float
    count: int
    by_form: dict[str, tuple[int, int]]  # name -> (right, count)
    by_operation: dict[str, tuple[int, int]]
    by_primitive: dict[str, tuple[int, int]]
    partial: float


def score(
    problems: Sequence[Problem],
    answers: Sequence[object],
    grade: Callable[[Problem, object], Grade],
) -> Score:
    """Judges a list of answers.

    Args:
        problems: what was asked.
        answers: what was answered, in the same order; anything that is no text is wrong.
        grade: judges one answer.

    Raises:
        BadValue: there is no problem, or not one answer a problem.
    """
    if not problems or len(problems) != len(answers):
        remedy = "Give one answer for every problem, and at least one problem"
        counts = (len(problems), len(answers))
        raise BadValue(refuse("problems and answers do not match", counts, remedy))
    marks = [grade(p, a) for p, a in zip(problems, answers, strict=True)]
    return Score(
        accuracy=sum(m.right for m in marks) / len(marks),
        count=len(marks),
        by_form=tally(((p.form,) for p in problems), marks),
        by_operation=tally(((p.operation,) for p in problems), marks),
        by_primitive=tally((p.primitives for p in problems), marks),
        partial=sum(m.partial for m in marks) / len(marks),
    )


def tally(names: Iterable[tuple[str, ...]], marks: Sequence[Grade]) -> dict[str, tuple[int, int]]:
    """Name -> (right, count) over all problems that bear the name."""
    found: dict[str, tuple[int, int]] = {}
    for group, given in zip(names, marks, strict=True):
        for name in group:
            right, count = found.get(name, (0, 0))
            found[name] = (right + given.right, count + 1)
    return found
