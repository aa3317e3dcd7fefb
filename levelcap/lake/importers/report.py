"""What became of a folder that was brought: read, rejected, derived, lost, kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields

from levelcap.kit.errors import shown

MAX_REJECTS = 10_000  # of one file; a file with more is something else, and its rest is not read
TEXT_CHARS = 500  # of a rejected line; the whole line stays in the file it came in


def printable(text: str) -> str:
    """The same with what is no Unicode (half a surrogate pair) written out."""
    return text.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True)
class Reject:
    """One line that was refused; `line` counts from 1, 0 is the file as a whole."""

    file: str
    line: int
    reason: str
    text: str = ""


@dataclass
class ImportReport:
    """Counts of one import. Every record that was read was used or refused, none is neither.

    `derived` says what the format does not hold and was concluded; `extras` which unknown fields
    were kept as they came.
    """

    format: str
    world: str
    files: int = 0
    records: int = 0
    steps: int = 0
    episodes: int = 0
    used: int = 0
    """records that became a step, or a part of one"""
    refused: int = 0
    """records among the rejects; the others are files, and ends that are missing"""
    rejects: list[Reject] = field(default_factory=list)
    derived: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    extras: Counter[str] = field(default_factory=Counter)
    _in_file: Counter[str] = field(default_factory=Counter)

    def reject(
        self, file: str, line: int, reason: object, text: object = "", record: bool = True
    ) -> None:
        """Note what was refused: a record, or something about a file."""
        self.refused += record
        cut = text if isinstance(text, str) else shown(text)
        reason = " ".join(str(reason).split())
        self.rejects.append(Reject(file, line, printable(reason), printable(cut[:TEXT_CHARS])))
        self._in_file[file] += 1

    def is_full(self, file: str, line: int) -> bool:
        """Has this file had enough refused lines? Said once, as one more of them."""
        if self._in_file[file] < MAX_REJECTS:
            return False
        why = f"{MAX_REJECTS:,} lines were refused; the rest of the file was not read"
        self.reject(file, line, why, record=False)
        return True

    def as_json(self) -> dict[str, object]:
        """Everything but the rejects, which have a file of their own."""
        names = [f.name for f in fields(self) if f.name not in ("rejects", "_in_file")]
        values = {name: getattr(self, name) for name in names}
        told = {n: dict(v) if isinstance(v, Counter) else v for n, v in values.items()}
        return told | {"rejects": len(self.rejects)}
