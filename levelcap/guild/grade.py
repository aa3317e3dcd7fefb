"""One answer against the right one: equal, or wrong.

Nothing a hero can write raises or takes long: other types and other lengths are wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

# An answer this much longer than the right one is not even looked at for partial credit.
LONGEST_PARTIAL = 4


@dataclass(frozen=True)
class Grade:
    """The judge's word on one answer."""

    right: bool
    partial: float  # in [0, 1]; 1 exactly when right


def grade_text(expected: str, answer: object) -> Grade:
    """Compares one answer with the right one."""
    if not isinstance(answer, str):
        return Grade(False, 0.0)
    if answer == expected:
        return Grade(True, 1.0)
    if len(answer) > LONGEST_PARTIAL * len(expected) + 100:
        return Grade(False, 0.0)
    wanted, given = expected.split("\n"), answer.split("\n")
    same = sum(a == b for a, b in zip(wanted, given, strict=False))
    # A text with all right lines and more is still wrong: the share counts its lines too.
    return Grade(False, same / max(len(wanted), len(given)))
