"""The transitions of jobs inside an open transaction: what changes, and the event that says so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from levelcap.jobs import roster
from levelcap.jobs.job import Job, JobType, Stale, Status
from levelcap.jobs.retry import after_crash
from levelcap.jobs.rows import ALL_COLUMNS, Found, change, dumped, find, job_of, wall
from levelcap.kit.clock import Clock
from levelcap.kit.db import Connection
from levelcap.kit.errors import refuse

OnEvent = Callable[[Connection, str, Job], None]

NO_LEASE: Mapping[str, Any] = {"lease_at": None, "deadline_at": None}
_READY = (
    "status = 'queued' AND (boot <> :boot OR ready_at <= :now)"
    " AND (campaign IS NULL OR campaign NOT IN (SELECT value FROM json_each(:waiting)))"
)
_EXPIRED = "status = 'running' AND (boot <> :boot OR lease_at <= :now OR deadline_at <= :now)"
_LOOK = (
    "SELECT EXISTS (SELECT 1 FROM json_each(:limits) t JOIN jobs j ON j.type = t.key"
    f" WHERE {_READY}), EXISTS (SELECT 1 FROM jobs WHERE {_EXPIRED})"
)
_PICK = (
    f"SELECT {ALL_COLUMNS} FROM jobs WHERE seq = (SELECT j.seq FROM json_each(:limits) t"
    f" JOIN jobs j ON j.seq = (SELECT seq FROM jobs WHERE type = t.key AND {_READY}"
    " ORDER BY rank, seq LIMIT 1)"
    " WHERE t.value > (SELECT count(*) FROM jobs WHERE type = t.key AND status = 'running')"
    " ORDER BY j.rank, j.seq LIMIT 1)"
)
_ENDED = f"SELECT id, boot, lease_at FROM jobs WHERE {_EXPIRED} LIMIT :limit"
_EVENT = (
    "INSERT INTO job_events (job_id, time, kind, worker, fence, detail)"
    " VALUES (:id, :time, :kind, :worker, :fence, :detail)"
)
_HELD_BY = "SELECT id FROM jobs WHERE status = 'running' AND worker = :name"


@dataclass(frozen=True)
class Moves:
    """The transitions of one store."""

    types: Mapping[str, JobType]
    clock: Clock
    on_event: OnEvent | None
    lease_s: float
    back_off: Callable[[int], float]
    waiting: Callable[[Connection], Sequence[str]]

    def limits(self, names: Sequence[str]) -> str:
        """Returns how many of each type may run, as `look` and `pick` read it."""
        return dumped({name: self.types[name].max_running for name in names})

    def look(self, c: Connection, limits: str) -> tuple[bool, bool]:
        """Tells whether a job of these types is ready, and whether any lease has to end."""
        ready, ended = c.execute(_LOOK, self._asked(c, limits)).first()
        return bool(ready), bool(ended)

    def pick(self, c: Connection, limits: str) -> Found | None:
        """Finds the most urgent, then oldest, ready job of the types that may run one more."""
        found = c.execute(_PICK, self._asked(c, limits)).first()
        return None if found is None else Found(*found)

    def _asked(self, c: Connection, limits: str) -> dict[str, Any]:
        return {"limits": limits, "waiting": dumped(self.waiting(c)), **self._now()}

    def begin(self, c: Connection, found: Found, worker: str) -> Found:
        """Gives a queued job to a worker."""
        now = self.clock.now()
        columns = {
            "status": Status.RUNNING,
            "worker": worker,
            "fence": found.fence + 1,
            "attempts": found.attempts + 1,
            "started": wall(),
            "ended": None,
            "progress": 0.0,
            "message": "",
            "boot": self.clock.boot_id,
            "lease_at": now + self.lease_s,
            "deadline_at": now + self.types[found.type].timeout_s,
        }
        return self.move(c, found, "claimed", worker, columns)

    def lease(self, row: Found) -> dict[str, Any]:
        """Returns the columns of a renewed lease; the deadline stays where it was.

        Raises:
            Stale: the deadline is over.
        """
        now, boot = self.clock.now(), self.clock.boot_id
        same_boot = row.boot == boot
        deadline = row.deadline_at if same_boot else now + self.types[row.type].timeout_s
        if deadline <= now:
            what = f"job {row.id} ran longer than its type allows"
            raise Stale(refuse(what, row.type, "Drop it and claim another job"))
        return {"boot": boot, "lease_at": now + self.lease_s, "deadline_at": deadline}

    def put_back(self, row: Found, wait_s: float | None = None) -> dict[str, Any]:
        """Returns the columns of a job that waits again, by default after its back-off."""
        wait = self.back_off(row.attempts) if wait_s is None else wait_s
        ready = {"boot": self.clock.boot_id, "ready_at": self.clock.now() + wait}
        return {"status": Status.QUEUED, "worker": None, **ready, **NO_LEASE}

    def reap(self, c: Connection, limit: int) -> int:
        """Ends up to `limit` leases that ran out and jobs out of time; returns how many."""
        now = self._now()
        ended = c.execute(_ENDED, {**now, "limit": limit}).all()
        for job_id, boot, lease_at in ended:
            late = boot == now["boot"] and lease_at > now["now"]
            code = "timeout" if late else "lease_expired"
            said = "it ran longer than its type allows" if late else "its worker fell silent"
            self._crash(c, find(c, job_id), code, said)
        return len(ended)

    def end_leases_of(self, c: Connection, worker: str) -> int:
        """Ends all leases of a dead worker; returns how many."""
        held = c.execute(_HELD_BY, {"name": worker}).all()
        for (job_id,) in held:
            self._crash(c, find(c, job_id), "lease_expired", "its worker is gone")
        return len(held)

    def _crash(self, c: Connection, row: Found, code: str, said: str) -> None:
        dead = after_crash(row.attempts, row.max_attempts) is Status.DEAD
        final = {"status": Status.DEAD, "ended": wall(), **NO_LEASE}
        columns = {**(final if dead else self.put_back(row)), "error_code": code, "error": said}
        roster.take_from(c, row.worker, row.id)
        kind = "dead" if dead else "expired"
        self.move(c, row, kind, row.worker, columns, {"code": code})

    def move(
        self,
        c: Connection,
        row: Found,
        kind: str,
        worker: str | None,
        columns: Mapping[str, Any],
        detail: Mapping[str, Any] | None = None,
    ) -> Found:
        """Changes one row and writes its event; `worker` is who did it or whom it befell.

        The caller makes a `Job` of it when the lock is free again.
        """
        changed = change(c, row, columns)
        self.tell(c, kind, changed, worker, detail)
        return changed

    def tell(
        self,
        c: Connection,
        kind: str,
        row: Found,
        worker: str | None = None,
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        """Writes an event and passes it on to whoever listens."""
        event = {"id": row.id, "time": wall(), "kind": kind, "fence": row.fence, "worker": worker}
        c.execute(_EVENT, {**event, "detail": dumped(dict(detail)) if detail else "{}"})
        if self.on_event is not None:
            self.on_event(c, kind, job_of(row))

    def _now(self) -> dict[str, Any]:
        return {"boot": self.clock.boot_id, "now": self.clock.now()}


def check_held(row: Found, worker: str, fence: int) -> Found:
    """Returns the row if this worker holds it with this fence.

    Raises:
        Stale: it does not.
    """
    if (row.status, row.worker, row.fence) == (Status.RUNNING, worker, fence):
        return row
    what = f"job {row.id} is {row.status} at fence {row.fence}, not held by the caller"
    raise Stale(refuse(what, (worker, fence), "Drop this result and claim another job"))
