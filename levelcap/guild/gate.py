"""The data gate: which rows of a lesson file may be trained on, and why others may not.

A lesson file is JSONL, one `{"prompt": …, "answer": …}` a line (or the skill servers' names
`user_prompt`, `assistant_response`), with the optional keys of `OPTIONAL`. Rows that cannot be
used are rejected with their line number; above 1 % of them, or with one row of an exam, the
whole file is refused. Repeated rows are dropped and counted, but are no fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from levelcap.guild.alphabet import load_alphabet
from levelcap.guild.skill import Skill, prompt_key
from levelcap.kit.errors import BadFile, BadValue, refuse
from levelcap.kit.files import parse_json

NAMES = {"user_prompt": "prompt", "assistant_response": "answer"}
OPTIONAL = {
    *("id", "skill", "level", "form", "operation", "primitives", "key", "tags", "rubric", "source"),
}
MAX_ROW_CHARS = 16_384  # prompt and answer together
MAX_LINE_BYTES = 1 << 20
MAX_INVALID = 0.01
MAX_SHOWN = 100  # rejects that are listed; all are counted


@dataclass(frozen=True)
class Reject:
    """A row that may not be used."""

    line: int
    reason: str


@dataclass
class Report:
    """What the gate found in one file."""

    rows: int = 0
    lessons: list[dict[str, Any]] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    invalid: int = 0
    duplicates: int = 0
    leaks: int = 0

    @property
    def refused(self) -> str | None:
        """Why the whole file is refused; None: it may be used."""
        if self.leaks:
            return f"{self.leaks} rows are exam problems"
        if not self.lessons:
            return "there is no usable row"
        if self.invalid > MAX_INVALID * self.rows:
            return f"{self.invalid} of {self.rows} rows are invalid, more than 1 %"
        return None

    def reject(self, line: int, reason: str) -> None:
        """Counts a row that is at fault."""
        if len(self.rejects) < MAX_SHOWN:
            self.rejects.append(Reject(line, reason))


def check_lessons(path: Path, skills: list[Skill], bank: AbstractSet[str] = frozenset()) -> Report:
    """Reads a lesson file and sorts its rows.

    Args:
        path: a JSONL file.
        skills: whose held-out problems no lesson may hold.
        bank: keys (`prompt_key`) of further exam problems.

    Raises:
        BadFile: the file cannot be read.
    """
    report, seen = Report(), set[str]()
    for line, data in _lines(path):
        report.rows += 1
        try:
            row = _row(data)
        except ValueError as error:
            report.invalid += 1
            report.reject(line, str(error))
            continue
        key = prompt_key(row["prompt"])
        if key in bank or any(skill.examined(row["prompt"]) for skill in skills):
            report.leaks += 1
            report.reject(line, "an exam problem")
        elif (both := prompt_key(f"{row['prompt']}\n{row['answer']}")) in seen:
            report.duplicates += 1
        else:
            seen.add(both)
            report.lessons.append(row)
    return report


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            number = 0
            while data := file.readline(MAX_LINE_BYTES):
                number += 1
                whole = data
                while not data.endswith(b"\n") and (data := file.readline(MAX_LINE_BYTES)):
                    whole = b""  # skipped to its end: nobody holds 60 MB to say that it is long
                yield number, whole
    except OSError as error:
        what = f"cannot read lessons ({error.strerror})"
        raise BadFile(refuse(what, str(path), "Check the file's name")) from error


def _row(data: bytes) -> dict[str, Any]:
    """One lesson.

    Raises:
        ValueError: with the reason.
    """
    if not data:
        raise ValueError(f"the line is longer than {MAX_LINE_BYTES:,} bytes")
    found = parse_json(data)
    if not isinstance(found, dict):
        raise ValueError("not an object")
    row: dict[str, Any] = {NAMES.get(str(name), str(name)): value for name, value in found.items()}
    if len(row) != len(found) or not {"prompt", "answer"} <= set(row):
        raise ValueError("prompt and answer are needed, each once")
    if unknown := sorted(set(row) - OPTIONAL - {"prompt", "answer"}):
        raise ValueError(f"unknown key {unknown[0][:40]!r}")
    for name in ("prompt", "answer"):
        if not isinstance(row[name], str) or not row[name].strip():
            raise ValueError(f"{name} is no text")
    if len(row["prompt"]) + len(row["answer"]) > MAX_ROW_CHARS:
        raise ValueError(f"longer than {MAX_ROW_CHARS} characters")
    for name in ("prompt", "answer"):
        load_alphabet().refuse_outside(row[name], name)
    return row


def refuse_file(path: Path, report: Report) -> None:
    """Raises when the file as a whole may not be used.

    Raises:
        BadValue: names the reason and the first rejected lines.
    """
    if reason := report.refused:
        first = "; ".join(f"line {r.line}: {r.reason}" for r in report.rejects[:3])
        what = f"lesson file {path.name} is refused: {reason}"
        raise BadValue(refuse(what, first, "Remove or correct these rows and try again"))
