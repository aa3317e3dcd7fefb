"""Single files: written atomically, JSON read strictly, JSONL appended and torn ends survived.

Folders of several files are in `publish`.
"""

import errno
import fcntl
import json
import math
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from levelcap.kit.errors import BadFile, BadValue, Corrupt, NoSpace, refuse

# Made once: `json.dumps` makes one at every call, which takes longer than a short line itself.
_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
TMP = ".tmp-"  # a file or folder being written; cleared by `publish.sweep`


@dataclass(frozen=True)
class Lines:
    """Records of a JSONL file, and the number of bytes after the last whole line."""

    records: list[Any]
    torn_bytes: int


def dump_json(value: object) -> bytes:
    """Returns `value` as UTF-8 JSON, keys sorted; NaN and infinities are refused."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, indent=1)
        return text.encode() + b"\n"
    except (ValueError, TypeError) as error:
        remedy = "Use finite numbers, text, lists and mappings"
        raise BadValue(refuse(f"cannot be written as JSON ({error})", value, remedy)) from error


def parse_json(data: bytes | str) -> Any:
    """Parses JSON strictly: no NaN, no number beyond a double, no key twice.

    Raises:
        ValueError: with the reason; `RecursionError` of over-deep input is turned into one.
    """
    text = (
        data if isinstance(data, str) else data.decode(json.detect_encoding(data), "surrogatepass")
    )
    # A call for every number is most of the time of a long list of them, and only a number with a
    # large exponent or very many digits can be beyond a double.
    finite = _finite if _MAYBE_HUGE.search(text) else None
    try:
        return json.loads(
            text, parse_constant=_no_constant, parse_float=finite, object_pairs_hook=_unique
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


_MAYBE_HUGE = re.compile(r"[0-9]{200}|[eE]\+?[0-9]{3}")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    if math.isfinite(number := float(text)):
        return number
    raise ValueError(f"number out of range: {text[:20]}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) == len(pairs):
        return found
    raise ValueError("a key occurs twice")


def write_bytes(path: Path, data: bytes, beside: Path | None = None) -> None:
    """Writes one file atomically: readers see the old content or the new, also after a power cut.

    beside: what the temporary file lies next to; by default the file itself.

    Raises:
        NoSpace: the disk is full; the old content is untouched.
    """
    near = beside or path
    tmp = near.with_name(f"{TMP}{near.name}-{secrets.token_hex(4)}")
    with room(path):
        try:
            with tmp.open("xb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # tells `sweep` that somebody is writing
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.replace(tmp, path)
        except BaseException:
            tmp.unlink(missing_ok=True)
            raise
        sync(path.parent)


def keep_private(path: Path) -> Path:
    """Makes sure that a file exists and that its owner alone may read it (0600); returns it.

    Databases and logs hold names, prompts and reasons of whoever plays here.
    """
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    return path


def write_json(path: Path, value: object) -> None:
    """Writes `value` as strict JSON, atomically (see `dump_json`, `write_bytes`)."""
    write_bytes(path, dump_json(value))


def read_json(path: Path) -> Any:
    """Reads a strict JSON file.

    Raises:
        BadFile: missing, unreadable, or not strict JSON (see `parse_json`).
    """
    try:
        return parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        what = f"cannot read JSON ({error})"
        raise BadFile(refuse(what, str(path), "Check the file's name and content")) from error


def append_jsonl(path: Path, records: Iterable[object], sync: bool = False) -> None:
    """Appends records, one line each, in one write under a lock.

    A torn last line (a kill in the middle of an earlier append) is cut off first: it was never
    acknowledged, and would otherwise swallow the next record.

    Args:
        path: created when missing.
        records: JSON values; a refused one leaves the file as it was.
        sync: True to fsync before returning.
    """
    data = b"".join(dump_line(record) for record in records)
    with room(path), path.open("ab+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        end = file.seek(0, os.SEEK_END)
        whole = end - _torn_bytes(file.fileno(), end)
        if whole < end:
            file.truncate(whole)
        file.write(data)
        file.flush()
        if sync:
            os.fsync(file.fileno())


def dump_line(record: object) -> bytes:
    """Returns one JSONL line: strict, compact, keys in the given order."""
    try:
        text = _LINE.encode(record)
    except (ValueError, TypeError) as error:
        remedy = "Use finite numbers, text, lists and mappings"
        raise BadValue(refuse(f"cannot be a JSON line ({error})", record, remedy)) from error
    return text.encode() + b"\n"


def _torn_bytes(fd: int, end: int) -> int:
    torn = b""
    while (begin := end - len(torn)) > 0:
        size = min(4096, begin)
        torn = os.pread(fd, size, begin - size) + torn
        if (newline := torn.rfind(b"\n")) >= 0:
            return len(torn) - newline - 1
    return len(torn)


def read_jsonl(path: Path) -> Lines:
    """Reads a JSONL file; bytes after the last newline are counted, not parsed.

    Raises:
        BadFile: the file cannot be opened.
        Corrupt: a whole line is not strict JSON; the message names its number.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        what = f"cannot read lines ({error.strerror})"
        raise BadFile(refuse(what, str(path), "Check the file's name")) from error
    *lines, torn = data.split(b"\n")
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            records.append(parse_json(line))
        except ValueError as error:
            what = f"line {number} of {path} is not JSON ({error})"
            raise Corrupt(refuse(what, line[:80], "Restore the file from a copy")) from error
    return Lines(records, len(torn))


def sync(path: Path) -> None:
    """Makes a file's content, or the names in a folder, durable (fsync)."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def room(path: Path) -> Iterator[None]:
    """Turns "disk full" and "quota exceeded" inside the block into `NoSpace` naming `path`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace(
                refuse("the disk is full", str(path), "Make room, then repeat")
            ) from error
        raise
