"""What commands print: lines, tables, and one JSON object as the last line."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


def say(text: str) -> None:
    """One line, as it is: long ones are not broken, brackets mean nothing."""
    Console(highlight=False, soft_wrap=True).print(text, markup=False)


def say_json(value: Any) -> None:
    """One JSON object in one line."""
    say(json.dumps(value))


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    title: str | None = None,
    right: bool | Collection[str] = (),
) -> Table:
    """A table of texts, as they are: brackets mean nothing; None is an empty cell.

    columns: their names; none at all: a list of names and values without a head. right: the
    columns of numbers, or True for all but the first.
    """
    made = Table(title=title, title_justify="left", show_header=bool(columns))
    for index, name in enumerate(columns):
        number = index > 0 if right is True else name in (right or ())
        # What is too long goes on in the next line: an id is never cut.
        made.add_column(name, justify="right" if number else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    return made


def print_table(made: Table) -> None:
    """Print a table; rows under a head are not broken, so that ids can be copied and found."""
    console = Console(highlight=False)
    whole = Console(width=10_000).measure(made).maximum
    if made.show_header and whole > console.width:
        console = Console(highlight=False, width=whole)
    console.print(made, soft_wrap=made.show_header)
