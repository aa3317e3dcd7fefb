"""Questions about the queue, and the removal of what is old. Nothing here moves a job."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from levelcap.jobs import roster
from levelcap.jobs.job import OPEN, Job, Status
from levelcap.jobs.pressure import Load
from levelcap.jobs.rows import COLUMNS, find, job_of
from levelcap.jobs.schema import ENDED
from levelcap.kit.clock import Clock
from levelcap.kit.db import Connection
from levelcap.kit.errors import BadValue, refuse, unknown_name

MAX_PAGE = 1000
_LOAD = (
    "SELECT (SELECT count(*) FROM jobs WHERE status = 'queued' AND type = :type),"
    " (SELECT count(*) FROM jobs WHERE status = 'running' AND type = :type)"
)
_POSITION = (
    "SELECT count(*) FROM jobs INDEXED BY jobs_queued WHERE status = 'queued'"
    " AND (rank < :rank OR (rank = :rank AND seq <= :seq))"
)
_EVENTS = (
    "SELECT seq, job_id, time, kind, worker, fence, detail FROM job_events"
    " WHERE job_id = :id ORDER BY seq"
)
_OLDEST = "SELECT boot, min(ready_at) FROM jobs WHERE status = 'queued' GROUP BY boot"
_PURGE = (
    "DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs"
    f" WHERE {ENDED} AND ended < :before"
    " AND seq <= (SELECT seq FROM jobs ORDER BY seq DESC LIMIT 1 OFFSET :keep)"
    " ORDER BY seq LIMIT :limit)"
)


def load_of(connection: Connection, type_name: str) -> Load:
    """Counts the waiting and the running jobs of a type."""
    return Load(*connection.execute(_LOAD, {"type": type_name}).first())


def id_of_key(connection: Connection, key: str) -> str | None:
    """Returns the job that was submitted with an idempotency key, if there is one."""
    query = "SELECT id FROM jobs WHERE idempotency_key = :key"
    found = connection.execute(query, {"key": key}).scalar()
    return None if found is None else str(found)


def newest_claim(connection: Connection) -> int:
    """Returns the number of the newest claim: it changes when somebody claims."""
    query = "SELECT seq FROM job_events WHERE kind = 'claimed' ORDER BY seq DESC LIMIT 1"
    return int(connection.execute(query).scalar() or 0)


def position_of(connection: Connection, rank: int, seq: int) -> int:
    """Returns the place of a waiting job among all that wait: 1 is the next."""
    return int(connection.execute(_POSITION, {"rank": rank, "seq": seq}).first()[0])


def page(
    connection: Connection,
    status: str | None,
    type_name: str | None,
    limit: int,
    before: str | None,
) -> list[Job]:
    """Returns up to `limit` jobs, newest first; `before` is the last id of the page before."""
    if not 1 <= limit <= MAX_PAGE:
        raise BadValue(refuse(f"a page has 1–{MAX_PAGE} jobs", limit, "Ask for several pages"))
    if status is not None and status not in tuple(Status):
        raise unknown_name("status", status, list(Status))
    where, values = ["1"], {"limit": limit, "type": type_name}
    if status is not None:
        # Spelled out, because the indices are partial: see `schema`.
        where.append(f"status = '{Status(status)}'" + ("" if status in OPEN else f" AND {ENDED}"))
    if type_name is not None:
        where.append("type = :type")
    if before is not None:
        values["seq"] = find(connection, before).seq
        where.append("seq < :seq")
    query = f"SELECT {COLUMNS} FROM jobs WHERE {' AND '.join(where)} ORDER BY seq DESC LIMIT :limit"
    return [job_of(row) for row in connection.execute(query, values)]


def events_of(connection: Connection, job_id: str) -> list[dict[str, Any]]:
    """Returns the events of one job, oldest first."""
    rows = connection.execute(_EVENTS, {"id": find(connection, job_id).id})
    return [row._asdict() | {"detail": json.loads(row.detail)} for row in rows]


def count_all(connection: Connection, types: Iterable[str], clock: Clock) -> dict[str, Any]:
    """Counts jobs by type and status, and says how long the oldest ready job has waited."""
    by_type: dict[str, dict[str, int]] = {name: {} for name in types}
    by_status = {status.value: 0 for status in Status}
    query = "SELECT type, status, count(*) FROM jobs GROUP BY type, status"
    for name, status, count in connection.execute(query):
        by_type.setdefault(name, {})[status] = count
        by_status[status] += count
    now = clock.now()
    # A job queued under an earlier boot has waited for at least as long as this one lasts.
    ages = [
        now - ready_at if boot == clock.boot_id else now
        for boot, ready_at in connection.execute(_OLDEST)
    ]
    return {
        "types": by_type,
        "status": by_status,
        "open": sum(by_status[status] for status in OPEN),
        "oldest_queued_s": round(max(0.0, *ages), 3) if ages else None,
    }


def purge(
    connection: Connection, clock: Clock, older_than_days: float, keep: int, limit: int
) -> int:
    """Deletes final jobs (and silent workers) older than that; returns how many jobs went.

    The newest `keep` jobs stay whatever their age, so that a wall clock that jumps ahead cannot
    empty the history.
    """
    if older_than_days < 0 or keep < 0 or limit < 1:
        what = "a purge needs an age and a number to keep of at least 0, and a limit above 0"
        raise BadValue(refuse(what, (older_than_days, keep, limit), "Correct the numbers"))
    before = (datetime.now(UTC) - timedelta(days=older_than_days)).isoformat(
        timespec="milliseconds"
    )
    roster.forget_silent(connection, clock, before)
    values = {"before": before, "keep": keep, "limit": limit}
    return connection.execute(_PURGE, values).rowcount
