"""Rows of the queue: read as `Job`, changed one at a time, every change with its event."""

import functools
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from levelcap.jobs.job import PRIORITIES, Job, Status
from levelcap.kit.db import Connection
from levelcap.kit.errors import BadValue, UnknownName, refuse
from levelcap.kit.files import dump_line
from levelcap.kit.ids import check_id
from levelcap.kit.prefix import by_prefix


class Found(NamedTuple):
    """A row of the table: the columns of a job, then what only the queue needs."""

    id: str
    type: str
    payload: str
    status: str
    rank: int
    attempts: int
    max_attempts: int
    fence: int
    worker: str
    created: str
    started: str | None
    ended: str | None
    progress: float
    message: str
    result: str | None
    error_code: str | None
    error: str | None
    idempotency_key: str | None
    campaign: str | None
    seq: int
    boot: str
    deadline_at: float


_JOB_COLUMNS = Found._fields[: Found._fields.index("seq")]
COLUMNS = ", ".join(_JOB_COLUMNS)
ALL_COLUMNS = ", ".join(Found._fields)
_FIND = f"SELECT {ALL_COLUMNS} FROM jobs WHERE id = :id"


def wall() -> str:
    """Returns the wall clock as ISO 8601 in UTC, for people only."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def dumped(value: Any) -> str:
    """Returns `value` as one line of strict JSON.

    Raises:
        BadValue: it has no JSON form (NaN, an object, a lone surrogate, too deep, …).
    """
    try:
        return dump_line(value).decode().rstrip("\n")
    except (UnicodeEncodeError, RecursionError) as error:
        what = f"cannot be written as JSON ({type(error).__name__})"
        raise BadValue(refuse(what, value, "Use plain text and fewer levels")) from error


def job_of(row: Sequence[Any]) -> Job:
    """Returns the job that a row with `COLUMNS` in front describes."""
    values = dict(zip(_JOB_COLUMNS, row, strict=False))
    result = values["result"]
    return Job(
        **values
        | {
            "payload": json.loads(values["payload"]),
            "status": Status(values["status"]),
            "priority": PRIORITIES[values.pop("rank")],
            "result": None if result is None else json.loads(result),
        }
    )


def find_id(connection: Connection, given: str) -> str:
    """The id that was typed, whole or its beginning; see `kit.prefix`."""
    return by_prefix(connection, "job", "jobs", given)


def find(connection: Connection, job_id: str) -> Found:
    """Returns the row of a job, with `seq`, `boot` and `deadline_at` behind `COLUMNS`.

    Raises:
        BadValue: not an id.
        UnknownName: no job has it.
    """
    check_id(job_id, "job")
    row = connection.execute(_FIND, {"id": job_id}).first()
    if row is None:
        remedy = "Look it up in the list of jobs; old ones are purged"
        raise UnknownName(refuse("there is no such job", job_id, remedy))
    return Found(*row)


def change(connection: Connection, row: Found, columns: Mapping[str, Any]) -> Found:
    """Sets columns of a row that was read in this transaction; returns it as it now is.

    Put together here, because RETURNING takes twice as long as the UPDATE itself.
    """
    connection.execute(_update(tuple(columns)), {**columns, "row": row.seq})
    known = {name: value for name, value in columns.items() if name in Found._fields}
    return row._replace(**known)


@functools.cache
def _update(columns: tuple[str, ...]) -> str:
    sets = ", ".join(f"{name} = :{name}" for name in columns)
    return f"UPDATE jobs SET {sets} WHERE seq = :row"


def clean(message: str, max_chars: int) -> str:
    """Returns text that a database and a page can take: cut, and without lone surrogates."""
    return message[:max_chars].encode("utf-8", "replace").decode()
