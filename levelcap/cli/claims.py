"""`levelcap claims show|write|verify`: the figures of README, each with the command that makes it.

`claims.toml` at the root of a checkout is the only place from which a figure reaches README.
`verify` runs every command again, reads the JSON object in the last line it prints, and holds the
value against the claim's bound. A claim whose peers are not installed is skipped: that is not kept.
"""

from __future__ import annotations

import json
import operator
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from rich.console import Console

from levelcap.cli.printer import say, table
from levelcap.kit.errors import BadFile, StateError, refuse

FILE = "claims.toml"
BEGIN, END = "<!-- claims: written by `levelcap claims write` -->", "<!-- /claims -->"
_BOUND = re.compile(r"(>=|<=|==) (-?\d+(?:\.\d+)?)")
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
}


class Claim(BaseModel):
    """One figure: what it says, and how anybody can get it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sentence: str
    figure: str  # as README shows it
    command: str  # prints one JSON object as its last line
    key: str  # of that object; dots go inside
    bound: str = Field(pattern=f"^{_BOUND.pattern}$")
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    commit: str = Field(pattern="^[0-9a-f]{7,40}$")
    quick: str = ""  # the shorter command of `--quick`; empty: only the full one shows it
    quick_bound: str = Field(default="", pattern=f"^({_BOUND.pattern})?$")
    needs: tuple[str, ...] = ()  # environments of peers, folders beside this file


def read_claims(root: Path) -> list[Claim]:
    """Reads the claims of a checkout.

    Raises:
        BadFile: there is no such file, or a claim of it is wrong.
    """
    path = root / FILE
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))["claim"]
        return TypeAdapter(list[Claim]).validate_python(rows)
    except OSError as error:
        what = f"no {FILE} here ({error.strerror})"
        raise BadFile(refuse(what, str(root), "Go to the root of a checkout")) from error
    except (tomllib.TOMLDecodeError, KeyError, ValidationError) as error:
        said = " ".join(str(error).split())
        raise BadFile(refuse(f"{FILE} is wrong ({said})", str(path), "Correct it")) from error


def markdown(claims: Iterable[Claim]) -> str:
    """The table of README, markers included."""
    lines = ["| measured on two cores, no graphics card | | command |", "|---|---|---|"]
    lines += [f"| {c.sentence} | **{c.figure}** | `{c.command}` |" for c in claims]
    return "\n".join([BEGIN, *lines, END])


def replace_block(text: str, block: str) -> str:
    """Returns a document with what stands between the markers exchanged.

    Raises:
        BadFile: the markers are missing.
    """
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise BadFile(refuse("README has no place for the claims", BEGIN, "Put the markers back"))
    return head + block + tail


def show() -> None:
    """List the claims: figure, bound, command."""
    columns = ("claim", "figure", "bound", "measured", "command")
    rows = [
        (c.sentence, c.figure, f"{c.key} {c.bound}", f"{c.date} {c.commit}", c.command)
        for c in read_claims(Path.cwd())
    ]
    Console(highlight=False).print(table(columns, rows))


def write() -> None:
    """Write README's table anew."""
    readme = Path.cwd() / "README.md"
    block = markdown(read_claims(Path.cwd()))
    readme.write_text(replace_block(readme.read_text(encoding="utf-8"), block), encoding="utf-8")


def verify(*, quick: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Run the commands again and compare.

    Parameters
    ----------
    quick
        The short form, at most 25 minutes in all; claims that have none are skipped.

    Raises:
        StateError: a claim does not hold, or its command fails.
    """
    told: dict[str, str] = {}  # one command may show several claims; it runs once
    count = dict.fromkeys(("kept", "broken", "skipped"), 0)
    for claim in read_claims(Path.cwd()):
        result, said = _verify(claim, quick, told)
        count[result] += 1
        say(f"{result:8} {claim.sentence}: {said}")
    summary = ", ".join(f"{number} {name}" for name, number in count.items())
    say(summary)
    if count["broken"]:
        raise StateError(refuse("a claim does not hold", summary, "Mend it, or the claim"))


def _verify(claim: Claim, quick: bool, told: dict[str, str]) -> tuple[str, str]:
    command = claim.quick if quick else claim.command
    if not command:
        return "skipped", f"no quick form of {claim.command}"
    if missing := [name for name in claim.needs if not (Path.cwd() / name).is_dir()]:
        return "skipped", f"{', '.join(missing)} not installed (make bench-peers)"
    if command not in told:
        say(f"running  {command}")
        told[command] = _run(command)
    bound = (quick and claim.quick_bound) or claim.bound
    try:
        found = json.loads(told[command])
        for part in claim.key.split("."):
            found = found[part]
        value = float(found)
    except (ValueError, KeyError, TypeError):
        return "broken", f"{command} did not print {claim.key}; its last line: {told[command]!r}"
    return ("kept" if _holds(value, bound) else "broken"), f"{value:g}, claimed {bound}"


def _run(command: str) -> str:
    """Returns the last line that a command prints; its other words are not shown."""
    words = shlex.split(command)
    words[0] = sys.executable if words[0] == "python" else words[0]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    return (done.stdout.strip().splitlines() or [""])[-1]


def _holds(value: float, bound: str) -> bool:
    sign, limit = _BOUND.fullmatch(bound).groups()  # type: ignore[union-attr]
    return _HOLDS[sign](value, float(limit))
