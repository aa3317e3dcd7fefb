"""`levelcap query "SELECT …"`: questions to the realm's database, which cannot change it."""

from __future__ import annotations

import csv
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from levelcap.cli.printer import print_table, say, table
from levelcap.kit.errors import BadValue, StateError, refuse
from levelcap.kit.paths import get_base_dir
from levelcap.kit.sqlite import Refused, connect_reader, explain
from levelcap.vault.ledger import DATABASE

TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
EXAMPLE = "levelcap query 'SELECT id, elo FROM ledger ORDER BY elo DESC LIMIT 5'"
Rows = tuple[list[str], list[tuple[Any, ...]], bool]


def query(
    sql: str | None = None,
    /,
    *,
    form: Annotated[
        Literal["table", "json", "csv"], Parameter(name=["--as", "--format"])
    ] = "table",
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=1_000_000))] = 200,
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
        for (name,) in ask(path, TABLES, limit, seconds)[1]:
            columns, *_ = ask(path, f'SELECT * FROM "{name}" LIMIT 0', 1, seconds)
            say(f"{name}: {', '.join(columns)}")
        return
    columns, rows, more = ask(path, sql, limit, seconds)
    _write(columns, rows, form)
    if more:
        words = f"levelcap: the first {limit:,} rows; --limit gives more\n"
        sys.stderr.write(words)  # the rows stay clean for whoever reads them


def ask(path: Path, sql: str, limit: int, seconds: float) -> Rows:
    """Names of the columns, at most `limit` rows, and whether there are more.

    Raises:
        BadValue: no single SELECT, wrong SQL, or it took too long.
    """
    words = sql.strip().rstrip(";").split(None, 1)
    if not words or words[0].upper() not in ("SELECT", "WITH"):
        raise BadValue(refuse("a query is one SELECT or WITH … SELECT", sql, f"Try: {EXAMPLE}"))
    with closing(connect_reader(path, seconds)) as connection:
        try:
            found = connection.execute(sql)
            rows = found.fetchmany(limit + 1)
        except Refused as error:
            raise _refusal(error, sql, seconds, path) from error
        names = [column[0] for column in found.description]
    return names, rows[:limit], len(rows) > limit


def _refusal(error: Any, sql: str, seconds: float, path: Path) -> Exception:
    said = str(error)
    if said == "interrupted":
        remedy = "Ask for less, or give more --seconds"
        return BadValue(refuse(f"the query took longer than {seconds:g} s", sql, remedy))
    if "not authorized" in said or "prohibited" in said:
        what = f"a query only reads ({said})"
        return BadValue(refuse(what, sql, "Ask one SELECT about tables of the realm"))
    if (getattr(error, "sqlite_errorname", None) or "SQLITE_ERROR") != "SQLITE_ERROR":
        return explain(error, path)
    remedy = "List tables and columns with: levelcap query"
    return BadValue(refuse(f"SQLite does not understand this ({said})", sql, remedy))


def _write(columns: list[str], rows: list[tuple[Any, ...]], form: str) -> None:
    if form == "json":
        for row in rows:
            say(json.dumps(dict(zip(columns, row, strict=True)), default=str))
    elif form == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows([columns, *rows])
    else:
        print_table(table(columns, [[_plain(cell) for cell in row] for row in rows]))


def _plain(cell: Any) -> str:
    """A value as text that can do nothing to a terminal."""
    text = "" if cell is None else str(cell)
    return "".join(c if c.isprintable() else "·" for c in text)
