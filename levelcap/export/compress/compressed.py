"""What `compress.json` holds: where a path stands, row by row."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from levelcap.export.compress.figures import Figures
from levelcap.kit.errors import BadFile, refuse
from levelcap.kit.files import read_json, write_json

REPORT = "compress.json"


@dataclass
class Compressed:
    """Rows of the steps that are done, of the shapes that were tried, and the choice."""

    steps: list[Figures] = field(default_factory=list)
    candidates: list[Figures] = field(default_factory=list)
    front: list[str] = field(default_factory=list)
    """shapes of the candidates that nobody beats in Elo and latency both"""
    updates_per_s: float = 0.0
    """of the last net that was taught: how long a candidate may learn"""
    finished: bool = False
    chosen: str | None = None
    """the quickest step that passed its test; None: none did"""
    passed: bool = False
    """did its checkpoint, in float32, pass the trial?"""
    reason: str = ""

    def row(self, step: str) -> Figures:
        """The row of a step that is done."""
        return next(row for row in self.steps if row.step == step)

    def has(self, step: str) -> bool:
        """Is it done?"""
        return any(row.step == step for row in self.steps)

    def int8_time(self, batch: str) -> float:
        """Time of the int8 graph over that of the same net in float32, on this processor."""
        return self.row("int8").ms[batch]["own"] / self.row("distil").ms[batch]["own"]

    def write(self, folder: Path) -> None:
        """Atomically, into `compress.json`."""
        write_json(folder / REPORT, asdict(self))


def read_compressed(folder: Path) -> Compressed:
    """What was done so far; an empty folder: nothing.

    Raises:
        BadFile: the file is of another version.
    """
    if not (folder / REPORT).exists():
        return Compressed()
    values = read_json(folder / REPORT)
    try:
        rows = {
            name: [Figures(**row | {"elo": tuple(row["elo"])}) for row in values[name]]
            for name in ("steps", "candidates")
        }
        return Compressed(**values | rows)
    except (TypeError, KeyError) as error:
        remedy = "Give another --out"
        raise BadFile(refuse(f"{REPORT} is of another version", str(error), remedy)) from error
