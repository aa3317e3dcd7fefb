"""One question of a person to a database: a single SELECT that can change nothing."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from levelcap.kit.errors import BadValue, LevelcapError, refuse
from levelcap.kit.sqlite import Refused, connect_reader, explain


@dataclass(frozen=True)
class Answer:
    """Names of the columns, rows, and whether there are more of them."""

    columns: list[str]
    rows: list[tuple[object, ...]]
    more: bool


def ask(path: Path, sql: str, limit: int, seconds: float) -> Answer:
    """What the database answers: at most `limit` rows, after at most `seconds`.

    Raises:
        BadValue: no single SELECT, wrong SQL, or it took too long.
    """
    words = sql.strip().rstrip(";").split(None, 1)
    if not words or words[0].upper() not in ("SELECT", "WITH"):
        remedy = "List tables and columns with: levelcap query"
        raise BadValue(refuse("a query is one SELECT or WITH … SELECT", sql, remedy))
    with closing(connect_reader(path, seconds)) as connection:
        try:
            found = connection.execute(sql)
            rows = found.fetchmany(limit + 1)
        except Refused as error:
            raise _refusal(error, sql, seconds, path) from error
        names = [column[0] for column in found.description]
    return Answer(names, rows[:limit], len(rows) > limit)


def _refusal(error: Exception, sql: str, seconds: float, path: Path) -> LevelcapError:
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
