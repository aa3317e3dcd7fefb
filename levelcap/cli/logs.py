"""`levelcap logs`: what the services wrote, one or all, and what they are writing now."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.kit.files import parse_json
from levelcap.kit.paths import folder

POLL_S = 0.5
TAIL_BYTES = 1 << 20
SHOWN_FIRST = ("timestamp", "level", "logger", "event", "traceback", "exception")


def logs(
    service: str | None = None,
    /,
    *,
    lines: Annotated[int, Parameter(name=["--lines", "-n"])] = 50,
    follow: Annotated[bool, Parameter(name=["--follow", "-f"])] = False,
) -> None:
    """Print the newest lines of the services' logs.

    Parameters
    ----------
    service
        weaver, keeper, arena, watchtower …; none: all of them, in the order of time.
    lines
        How many.
    follow
        Go on printing what is written, until Ctrl-C.
    """
    if lines < 0:
        raise BadValue(refuse("lines must be at least 0", lines, "E.g. -n 50"))
    console = Console(highlight=False, soft_wrap=True)
    files = find_logs(service)
    ends = {file: file.stat().st_size for file in files}
    found = sorted(stamped(files, ends), key=lambda pair: pair[0])
    for _, line in found[max(0, len(found) - lines) :]:
        console.print(line, markup=False)
    if follow:
        for line in watch(service, ends):
            console.print(line, markup=False)


def find_logs(service: str | None) -> list[Path]:
    """The log files of one service or of all.

    Raises:
        UnknownName: no service of this name has written a log.
    """
    found = {file.stem: file for file in sorted((folder("state") / "logs").glob("*.log"))}
    if service is None:
        return list(found.values())
    if service not in found:
        raise unknown_name("service with a log", service, found)
    return [found[service]]


def stamped(files: list[Path], ends: dict[Path, int]) -> Iterator[tuple[str, str]]:
    """(time, readable line) of the last megabyte of each file; a bare line has its forerunner's."""
    for file in files:
        stamp = ""
        for line in _read(file, max(0, ends[file] - TAIL_BYTES), ends[file]):
            time_, text = readable(line, file.stem)
            stamp = time_ or stamp
            yield stamp, text


def watch(service: str | None, ends: dict[Path, int]) -> Iterator[str]:
    """Lines as they are written, for ever; a log that was moved aside is read from its start."""
    while True:
        time.sleep(POLL_S)
        for file in find_logs(service):
            size = file.stat().st_size
            begin = ends.get(file, 0)
            begin = begin if begin <= size else 0
            for line in _read(file, begin, size):
                yield readable(line, file.stem)[1]
            ends[file] = size


def _read(file: Path, begin: int, end: int) -> list[str]:
    with file.open("rb") as stream:
        stream.seek(begin)
        return stream.read(end - begin).decode("utf-8", "replace").splitlines()


def readable(line: str, service: str) -> tuple[str, str]:
    """(time or nothing, the line for people); what is not JSON stays as it is."""
    try:
        fields = parse_json(line)
        moment, event = str(fields["timestamp"]), str(fields["event"])
    except (ValueError, KeyError, TypeError):
        return "", f"{service:<11} {line}"
    rest = " ".join(f"{k}={v}" for k, v in fields.items() if k not in SHOWN_FIRST)
    text = f"{moment[:19]} {service:<11} {fields.get('level', ''):<8} {event} {rest}".rstrip()
    for trace in (fields.get("traceback"), fields.get("exception")):
        text += f"\n{trace}" if trace else ""
    return moment, text
