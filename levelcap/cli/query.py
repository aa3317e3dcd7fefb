"""`levelcap query "SELECT …"`: questions to the realm's database, which cannot change it."""

from __future__ import annotations

import csv
import json
import sys
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from levelcap.cli.options import Int
from levelcap.cli.printer import print_table, say, table
from levelcap.kit.errors import StateError, refuse
from levelcap.kit.paths import get_base_dir
from levelcap.kit.query import Answer, ask
from levelcap.vault.ledger import DATABASE

TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"


def query(
    sql: str | None = None,
    /,
    *,
    form: Annotated[
        Literal["table", "json", "csv"], Parameter(name=["--as", "--format"])
    ] = "table",
    limit: Annotated[Int, Parameter(validator=Number(gte=1, lte=1_000_000))] = 200,
    seconds: Annotated[float, Parameter(validator=Number(gt=0, lte=600))] = 10.0,
) -> None:
    """Ask the realm's database one SELECT; without one, list its tables and their columns.

    Parameters
    ----------
    sql
        One SELECT, or WITH … SELECT. Anything else is refused; the file is opened read-only.
    form
        table, json (one object a line) or csv.
    limit
        Most rows.
    seconds
        Give up after so long.
    """
    path = get_base_dir() / "state" / DATABASE
    if not path.exists():
        remedy = "Start the realm (levelcap up), or set LEVELCAP_HOME"
        raise StateError(refuse("this realm has no database yet", str(path), remedy))
    if sql is None:
        for (name,) in ask(path, TABLES, limit, seconds).rows:
            columns = ask(path, f'SELECT * FROM "{name}" LIMIT 0', 1, seconds).columns
            say(f"{name}: {', '.join(columns)}")
        return
    found = ask(path, sql, limit, seconds)
    _write(found, form)
    if found.more:
        words = f"levelcap: the first {limit:,} rows; --limit gives more\n"
        sys.stderr.write(words)  # the rows stay clean for whoever reads them


def _write(found: Answer, form: str) -> None:
    columns, rows = found.columns, found.rows
    if form == "json":
        for row in rows:
            say(json.dumps(dict(zip(columns, row, strict=True)), default=str))
    elif form == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows([columns, *rows])
    else:
        print_table(table(columns, [[_plain(cell) for cell in row] for row in rows]))


def _plain(cell: object) -> str:
    """A value as text that can do nothing to a terminal."""
    text = "" if cell is None else str(cell)
    return "".join(c if c.isprintable() else "·" for c in text)
