"""The table of workers: who is there, with which roles, and what was taken from whom."""

import json
from typing import Any

from levelcap.jobs.rows import wall
from levelcap.kit.clock import Clock
from levelcap.kit.db import Connection
from levelcap.kit.errors import UnknownName, refuse

ALIVE_S = 30.0  # a worker that was silent for longer is shown as gone
_REGISTER = (
    "INSERT INTO workers (name, device, roles, pid, host, registered, seen, boot, seen_at)"
    " VALUES (:name, :device, :roles, :pid, :host, :wall, :wall, :boot, :now)"
    " ON CONFLICT (name) DO UPDATE SET device = :device, roles = :roles, pid = :pid,"
    " host = :host, registered = :wall, seen = :wall, boot = :boot, seen_at = :now"
)
_ROLES = "SELECT roles FROM workers WHERE name = :name"
_GIVE_UP = "UPDATE workers SET give_up = json_insert(give_up, '$[#]', :id) WHERE name = :name"
_TOLD = "SELECT give_up FROM workers WHERE name = :name"
_SEEN = (
    "UPDATE workers SET give_up = '[]', seen = :wall, boot = :boot, seen_at = :now"
    " WHERE name = :name"
)
_FORGET = "DELETE FROM workers WHERE name = :name"
_FORGET_SILENT = (
    "DELETE FROM workers WHERE seen < :before AND (boot <> :boot OR seen_at < :silent_since)"
    " AND name NOT IN (SELECT worker FROM jobs WHERE status = 'running')"
)
_ALL = (
    "SELECT name, device, roles, pid, host, registered, seen, boot, seen_at,"
    " (SELECT json_group_array(id) FROM jobs WHERE status = 'running' AND worker = name) AS jobs"
    " FROM workers ORDER BY name"
)


def enter(connection: Connection, clock: Clock, fields: dict[str, Any]) -> None:
    """Writes a worker's row: name, device, roles (JSON), pid, host."""
    connection.execute(_REGISTER, {**fields, **_seen(clock)})


def roles_of(connection: Connection, worker: str) -> set[str]:
    """Returns the roles of a worker.

    Raises:
        UnknownName: it is not registered.
    """
    return set(json.loads(_one(connection, _ROLES, worker)))


def take_from(connection: Connection, worker: str, job_id: str) -> None:
    """Notes a job that a worker must give up, for its next heartbeat."""
    connection.execute(_GIVE_UP, {"id": job_id, "name": worker})


def hear(connection: Connection, clock: Clock, worker: str) -> list[str]:
    """Notes a sign of life; returns, once, the jobs noted by `take_from`."""
    told = _one(connection, _TOLD, worker)
    connection.execute(_SEEN, {"name": worker, **_seen(clock)})
    return list(json.loads(told))


def forget(connection: Connection, worker: str) -> None:
    """Removes a worker's row; when it lives after all, it has to register again."""
    connection.execute(_FORGET, {"name": worker})


def forget_silent(connection: Connection, clock: Clock, before: str) -> None:
    """Removes the rows of workers that hold nothing and were last heard before this wall time.

    One that was heard of late by the clock of leases stays, whatever the date says now.
    """
    silent_since = clock.now() - ALIVE_S
    values = {"before": before, "boot": clock.boot_id, "silent_since": silent_since}
    connection.execute(_FORGET_SILENT, values)


def show_all(connection: Connection, clock: Clock) -> list[dict[str, Any]]:
    """Returns every known worker with the jobs it holds and whether it was heard lately."""
    found = []
    for row in connection.execute(_ALL):
        fields = row._asdict() | {"roles": json.loads(row.roles), "jobs": json.loads(row.jobs)}
        boot, seen_at = fields.pop("boot"), fields.pop("seen_at")
        silent_s = clock.now() - seen_at if boot == clock.boot_id else None
        fields["silent_s"] = None if silent_s is None else round(max(0.0, silent_s), 3)
        fields["alive"] = silent_s is not None and silent_s <= ALIVE_S
        found.append(fields)
    return found


def _seen(clock: Clock) -> dict[str, Any]:
    return {"wall": wall(), "boot": clock.boot_id, "now": clock.now()}


def _one(connection: Connection, query: str, worker: str) -> str:
    found = connection.execute(query, {"name": worker}).first()
    if found is None:
        what = "this worker is not registered"
        raise UnknownName(refuse(what, worker, "Register it, then ask again"))
    return str(found[0])
