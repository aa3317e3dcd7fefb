"""Lines of JSON with their numbers, plain or gzipped; what is no record is rejected, not raised."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from levelcap.kit.files import parse_json
from levelcap.lake.importers.report import ImportReport

MAX_LINE_BYTES = 1 << 20  # a tick with hundreds of entities has some 50 kB
MAX_FILE_BYTES = 4 << 30  # unpacked: a small .gz can hold any number of blanks
LARGEST = 1e13  # beyond a clock in milliseconds; far within float32


def _flag(value: Any) -> Any:
    """0 and 1 are flags, too; nothing else is."""
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    return value


Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Pair = Annotated[
    tuple[Number, Number],
    # Some writers give {"x": …, "y": …}.
    BeforeValidator(
        lambda v: (v["x"], v["y"]) if isinstance(v, dict) and {*v} == {"x", "y"} else v
    ),
    BeforeValidator(lambda v: tuple(v) if isinstance(v, list) else v),
]


class Record(BaseModel):
    """A strict record: what it names must be there and of its kind; unknown fields are kept."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    @property
    def unknown(self) -> dict[str, Any]:
        """The fields that the format does not name."""
        return self.model_extra or {}


Read = TypeVar("Read", bound=Record)


def explain(error: ValidationError) -> str:
    """The first thing that is wrong, as one sentence: where, what, and how many more."""
    first, *more = error.errors(include_url=False)
    place = ".".join(map(str, first["loc"])) or "record"
    rest = f" (and {len(more)} more)" if more else ""
    return f"{place}: {first['msg']}{rest}"


def checked(
    kind: type[Read], value: object, report: ImportReport, name: str, line: int, strict: bool = True
) -> Read | None:
    """A record of this kind, or None after a reject; not strict: texts may stand for numbers."""
    try:
        return kind.model_validate(value, strict=strict)
    except ValidationError as error:
        report.reject(name, line, explain(error), value)
        return None


def json_lines(path: Path, name: str, report: ImportReport) -> Iterator[tuple[int, Any]]:
    """Number and value of every line that is JSON; others are rejected. Blank lines are none.

    A file that breaks off (a truncated .gz, a byte that is no UTF-8) gives what came before.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    number = size = 0
    try:
        with opened(path, "rb") as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                number, size = number + 1, size + len(line)
                if report.is_full(name, number):
                    return
                if size > MAX_FILE_BYTES:
                    report.reject(name, number, f"more than {MAX_FILE_BYTES:,} bytes", record=False)
                    return
                if len(line) > MAX_LINE_BYTES:
                    report.records += 1
                    report.reject(name, number, f"longer than {MAX_LINE_BYTES:,} bytes", line[:80])
                    while line and not line.endswith(b"\n"):  # up to where the next one begins
                        line = file.readline(MAX_LINE_BYTES)
                        size += len(line)
                    continue
                if not line.strip():
                    continue
                report.records += 1
                try:
                    value = parse_json(line)
                except ValueError as error:
                    text = line.decode("utf-8", "replace").rstrip("\n")
                    report.reject(name, number, f"no JSON ({error})", text)
                    continue
                yield number, value
    except (OSError, EOFError, zlib.error) as error:
        report.reject(name, number + 1, f"the file breaks off here ({error})", record=False)


def read_document(path: Path, name: str, report: ImportReport) -> Any:
    """The value of a JSON file, one record, or None after a reject that names the line."""
    report.records += 1
    try:
        if path.stat().st_size > MAX_FILE_BYTES // 16:
            raise ValueError("too large for one JSON document")
        return parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        report.reject(name, getattr(error, "lineno", 1), f"no JSON ({error})")
        return None
