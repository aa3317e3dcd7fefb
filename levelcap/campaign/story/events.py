"""The battle log: what happened, in order, for people and for pages.

Kinds are a format (ARCHITECTURE, Files): queue.*, data.*, training.*, hero.*, service.*, vault.*,
job.*, league.*. Rows are numbered without gaps in the order they were committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from levelcap.campaign.story import rows
from levelcap.campaign.story.rows import Row
from levelcap.kit.db import Connection, Database, reading, transaction
from levelcap.kit.errors import unknown_name
from levelcap.vault.assets import now

SEVERITIES = ("info", "success", "warning", "error")
_CHANNEL_OF = {
    "training": "training", "vault": "vault", "job": "jobs", "queue": "jobs", "data": "jobs",
    "hero": "guild", "service": "system", "league": "eval", "eval": "eval", "alarm": "system",
    "realm": "system",
}  # fmt: skip
KEPT = 100_000


@dataclass(frozen=True)
class Event(Row):
    """One line of the log."""

    seq: int
    time: str
    kind: str
    channel: str
    severity: str
    message: str
    data: dict[str, Any]


def say(
    where: Database | Connection,
    kind: str,
    message: str,
    *,
    severity: str = "info",
    channel: str | None = None,
    data: dict[str, Any] | None = None,
) -> None:
    """Append one event: in the caller's transaction, or in one of its own when given the engine.

    Raises:
        UnknownName: no such severity, or a kind whose first word is none of ours.
    """
    first = kind.partition(".")[0]
    if first not in _CHANNEL_OF:
        raise unknown_name("kind of event", kind, _CHANNEL_OF)
    if severity not in SEVERITIES:
        raise unknown_name("severity", severity, SEVERITIES)
    row = {
        "time": now(),
        "kind": kind,
        "channel": channel or _CHANNEL_OF[first],
        "severity": severity,
        "message": message,
        "data": data or {},
    }
    opened = nullcontext(where) if isinstance(where, Connection) else transaction(where)
    with opened as connection:
        rows.insert(connection, "events", row)


def list_events(
    connection: Connection,
    *,
    after: int = 0,
    before: int | None = None,
    kind: str | None = None,
    channel: str | None = None,
    limit: int = 100,
) -> list[Event]:
    """With `after`: the next rows, oldest first; else the newest (before `before`) first."""
    order = "ASC" if after else "DESC"
    query = (
        "SELECT * FROM events WHERE seq > :after AND (:before IS NULL OR seq < :before)"
        " AND (:kind IS NULL OR kind = :kind OR kind LIKE :kind || '.%')"
        f" AND (:channel IS NULL OR channel = :channel) ORDER BY seq {order} LIMIT :n"
    )
    asked = {"after": after, "before": before, "kind": kind, "channel": channel}
    return rows.select(connection, Event, query, **asked, n=rows.at_most(limit))


def count_incidents(connection: Connection, since: str, until: str = "~") -> dict[str, int]:
    """Kind -> how many errors and warnings since a moment, and before another."""
    query = (
        "SELECT kind, count(*) FROM events WHERE severity IN ('error', 'warning')"
        " AND time >= :s AND time < :u GROUP BY kind ORDER BY kind"
    )
    return rows.counts(connection, query, s=since, u=until)


def count_kinds(connection: Connection, after: int) -> dict[str, int]:
    """Kind -> how many events after a number."""
    query = "SELECT kind, count(*) FROM events WHERE seq > :a GROUP BY kind"
    return rows.counts(connection, query, a=after)


def last_seq(engine: Database) -> int:
    """Number of the newest event; 0 when there is none."""
    with reading(engine) as connection:
        return rows.number(connection, "SELECT coalesce(max(seq), 0) FROM events")


def follow(engine: Database, after: int = 0) -> Iterator[Event]:
    """All events after number `after` that exist now, oldest first; call again for more."""
    while True:
        with reading(engine) as connection:
            query = "SELECT * FROM events WHERE seq > :a ORDER BY seq LIMIT 500"
            page = rows.select(connection, Event, query, a=after)
        yield from page
        if len(page) < 500:
            return
        after = page[-1].seq


def trim(engine: Database, keep: int = KEPT) -> int:
    """Forget all but the newest events; returns how many went."""
    with transaction(engine) as connection:
        query = "DELETE FROM events WHERE seq <= (SELECT max(seq) FROM events) - :k"
        return int(connection.execute(query, {"k": keep}).rowcount)
