"""The queue on SQLite: every method is one transaction, every transition writes one event.

    store = Store(engine, {"eval": JobType(…)})
    accepted = store.submit("eval", {"skill_id": "bin"})
    store.register("w1", "local_gpu_1", ["eval_worker"])
    job = store.claim("w1")
    store.complete(job.id, "w1", job.fence, {"accuracy": 0.9})

Who claims a job holds it for 30 s and renews that. A lease that ran out may be taken away by the
next `claim` or `reap`; until then its holder may still renew or report, so a machine that slept or
a server that was away costs nothing when nobody else took the job. Taken away means the fence has
moved or will move at the next claim, and every report with the old one is `Stale`.

Every call that changes something returns when the change is on disk (a group commit: processes that
wait at the same time wait together).

Kinds of events: submitted, claimed, completed, failed, requeued (failed, tries left), released,
expired (crashed, tries left), dead, cancelled, retried.
"""

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from levelcap.jobs import history, roster
from levelcap.jobs.job import OPEN, Accepted, Job, JobType, Status, check_code, rank_of
from levelcap.jobs.moves import NO_LEASE, Moves, OnEvent, check_held
from levelcap.jobs.payloads import checked_delay, checked_fraction, checked_key, checked_payload
from levelcap.jobs.pressure import warnings_or_refuse
from levelcap.jobs.retry import after_failure, back_off_s
from levelcap.jobs.rows import change, clean, dumped, find, job_of, wall
from levelcap.kit.clock import Clock, system_clock
from levelcap.kit.db import Connection, Database, reading, transaction
from levelcap.kit.errors import BadValue, Conflict, check_known, refuse
from levelcap.kit.ids import check_id

Effect = Callable[[Connection, Job, dict[str, Any]], None]
Jobs = list[Job]  # `Store.list` hides the builtin inside the class
Fields = list[dict[str, Any]]
Ids = list[str]

LEASE_S = 30.0
HEARTBEAT_S = 10.0
REAP_LIMIT = 50  # leases ended by one claim
MAX_ERROR_CHARS = 8000
MAX_MESSAGE_CHARS = 500
_INSERT = (
    "INSERT INTO jobs (id, type, payload, status, rank, max_attempts, created, idempotency_key,"
    " campaign, boot, ready_at) VALUES (:id, :type, :payload, 'queued', :rank, :tries, :created,"
    " :key, :campaign, :boot, :ready_at)"
)


class Store:
    """The queue in one database, for any number of processes."""

    def __init__(
        self,
        engine: Database,
        types: Mapping[str, JobType],
        clock: Clock | None = None,
        effects: Mapping[str, Effect] | None = None,
        on_event: OnEvent | None = None,
        *,
        lease_s: float = LEASE_S,
        back_off: Callable[[int], float] = back_off_s,
        waiting: Callable[[Connection], Sequence[str]] = lambda _: (),
    ) -> None:
        """Opens the queue; its tables must exist (`schema.migrate`).

        Args:
            engine: from `kit.db.open_db`.
            types: the job types that may be submitted.
            clock: the clock of leases and delays; by default this machine's.
            effects: type -> what `complete` also writes, in the same transaction; an effect that
                raises undoes the completion.
            on_event: called with every event inside its transaction.
            lease_s: how long a claim lasts without being renewed.
            back_off: attempts so far -> seconds until the next.
            waiting: names the campaigns of which no job is handed out now.
        """
        self.engine = engine
        self.types = types
        self.clock = clock or system_clock()
        self.effects = effects or {}
        self.moves = Moves(types, self.clock, on_event, lease_s, back_off, waiting)

    # ---- in

    def submit(
        self,
        type: str,
        payload: Mapping[str, object],
        *,
        priority: str = "normal",
        idempotency_key: str | None = None,
        campaign: str | None = None,
        delay_s: float = 0,
        connection: Connection | None = None,
    ) -> Accepted:
        """Puts a job into the queue.

        Args:
            type: one of the store's types.
            payload: checked by the type's model.
            priority: one of `PRIORITIES`.
            idempotency_key: a second submission with the same key returns the first job; one
                with another payload is told so in `warnings`.
            campaign: id of the campaign it belongs to.
            delay_s: it cannot be claimed before.
            connection: an open transaction to join, e.g. inside an effect.

        Raises:
            UnknownName: no such type, priority or payload field.
            BadValue: a wrong value; the message names the field.
            Refused: the queue of this type is full.
            Conflict: the key belongs to a job of another type.
        """
        type_ = self._type(type)
        row = {
            "id": f"job-{secrets.token_hex(8)}",
            "type": type_.name,
            "payload": checked_payload(type_, payload),
            "rank": rank_of(priority),
            "tries": type_.tries,
            "key": checked_key(idempotency_key),
            "campaign": None if campaign is None else check_id(campaign, "campaign"),
            "created": wall(),
            "boot": self.clock.boot_id,
            "ready_at": self.clock.now() + checked_delay(delay_s),
        }
        with self._joined(connection) as c:
            if row["key"] is not None and (known := self._known(c, row)):
                return known
            warnings = warnings_or_refuse(type_, history.load_of(c, type_.name))
            c.execute(_INSERT, row)
            stored = find(c, str(row["id"]))
            self.moves.tell(c, "submitted", stored)
            place = history.position_of(c, stored.rank, stored.seq)
            return Accepted(stored.id, Status(stored.status), place, warnings)

    def _known(self, c: Connection, row: dict[str, Any]) -> Accepted | None:
        if (known := history.id_of_key(c, row["key"])) is None:
            return None
        found = find(c, known)
        if found.type != row["type"]:
            what = f"this idempotency key belongs to a {found.type!r} job"
            raise Conflict(refuse(what, row["key"], "Use another key"))
        waits = found.status == Status.QUEUED
        place = history.position_of(c, found.rank, found.seq) if waits else 0
        same = json.loads(found.payload) == json.loads(row["payload"])
        warnings = [] if same else ["the first job with this key has another payload"]
        return Accepted(found.id, Status(found.status), place, warnings, existed=True)

    # ---- workers

    def register(
        self,
        worker: str,
        device: str,
        roles: Sequence[str],
        *,
        pid: int | None = None,
        host: str | None = None,
    ) -> None:
        """Makes a worker known, or known again; `devices.check_device` is the caller's part."""
        check_id(worker, "worker")
        check_id(device, "device")
        fields = {"name": worker, "device": device, "roles": dumped(list(roles))}
        with transaction(self.engine, group_commit=True) as c:
            roster.enter(c, self.clock, {**fields, "pid": pid, "host": host})

    def heartbeat(self, worker: str) -> Ids:
        """Notes that a worker lives; returns the jobs taken from it since the last time.

        Raises:
            UnknownName: not registered (any more); register again.
        """
        with transaction(self.engine, group_commit=True) as c:
            return roster.hear(c, self.clock, worker)

    def workers(self) -> Fields:
        """Returns every known worker, with the ids of the jobs it holds."""
        with reading(self.engine) as c:
            return roster.show_all(c, self.clock)

    def release_worker(self, worker: str) -> int:
        """Ends the leases of a worker known to be dead, each counted as a crashed attempt."""
        with transaction(self.engine, group_commit=True) as c:
            ended = self.moves.end_leases_of(c, worker)
            roster.forget(c, worker)
            return ended

    # ---- out

    def claim(self, worker: str, *, types: Sequence[str] | None = None) -> Job | None:
        """Hands the most urgent, then oldest, job that this worker may run; None when none waits.

        Leases that ran out are ended first. A look that takes no lock comes before: workers
        that poll an empty queue do not stand in each other's way.

        Args:
            worker: a registered worker; a type needs one of its roles.
            types: only jobs of these types.

        Raises:
            UnknownName: the worker is not registered, or a type does not exist.
        """
        asked = [self._type(name) for name in (self.types if types is None else types)]
        with reading(self.engine) as c:
            able = roster.roles_of(c, worker)
            names = [type_.name for type_ in asked if able & set(type_.roles)]
            limits = self.moves.limits(names)
            ready, ended = self.moves.look(c, limits)
        if not (ready or ended):
            return None
        with transaction(self.engine, group_commit=True) as c:
            if ended:
                self.moves.reap(c, REAP_LIMIT)
            found = self.moves.pick(c, limits)
            row = None if found is None else self.moves.begin(c, found, worker)
        return None if row is None else job_of(row)

    def renew(self, id: str, worker: str, fence: int) -> None:
        """Makes a lease last `lease_s` from now.

        Raises:
            Stale: the caller does not hold this job, or its time is over.
        """
        with transaction(self.engine, group_commit=True) as c:
            row = check_held(find(c, id), worker, fence)
            change(c, row, self.moves.lease(row))

    def progress(
        self, id: str, worker: str, fence: int, fraction: float, message: str = ""
    ) -> None:
        """Notes how far a job is, 0 to 1, and renews its lease; writes no event.

        Raises:
            Stale: the caller does not hold this job, or its time is over.
        """
        cut = clean(message, MAX_MESSAGE_CHARS)
        told = {"progress": checked_fraction(fraction), "message": cut}
        with transaction(self.engine, group_commit=True) as c:
            row = check_held(find(c, id), worker, fence)
            change(c, row, {**self.moves.lease(row), **told})

    def complete(self, id: str, worker: str, fence: int, result: dict[str, Any]) -> Job:
        """Ends a job as done; its effect, its state and its event are one transaction.

        A second call with the same arguments returns the job and does nothing: the first answer
        may have been lost on its way.

        Raises:
            Stale: the caller does not hold this job.
            BadValue: the result is no mapping of JSON values.
        """
        if not isinstance(result, dict):
            raise BadValue(refuse("a result is a mapping", result, "Return a dict"))
        done = {"status": Status.DONE, "result": dumped(result), "ended": wall(), "progress": 1.0}
        with transaction(self.engine, group_commit=True) as c:
            row = find(c, id)
            if (row.status, row.worker, row.fence) != (Status.DONE, worker, fence):
                check_held(row, worker, fence)
                columns = {**done, "error_code": None, "error": None, **NO_LEASE}
                row = self.moves.move(c, row, "completed", worker, columns)
                if effect := self.effects.get(row.type):
                    job = job_of(row)
                    effect(c, job, job.result or {})
        return job_of(row)

    def fail(self, id: str, worker: str, fence: int, code: str, message: str) -> Job:
        """Ends an attempt: queued again with a wait when that may help, else failed.

        Raises:
            Stale: the caller does not hold this job.
            UnknownName: no such error code.
        """
        check_code(code)
        with transaction(self.engine, group_commit=True) as c:
            row = check_held(find(c, id), worker, fence)
            status = after_failure(code, row.attempts, row.max_attempts)
            again = status is Status.QUEUED
            final = {"status": status, "ended": wall(), **NO_LEASE}
            said = {"error_code": code, "error": clean(message, MAX_ERROR_CHARS)}
            columns = {**(self.moves.put_back(row) if again else final), **said}
            kind = "requeued" if again else "failed"
            return job_of(self.moves.move(c, row, kind, worker, columns, {"code": code}))

    def release(self, id: str, worker: str, fence: int) -> Job:
        """Gives a job back unfinished; the attempt does not count.

        Raises:
            Stale: the caller does not hold this job.
        """
        with transaction(self.engine, group_commit=True) as c:
            row = check_held(find(c, id), worker, fence)
            columns = {**self.moves.put_back(row, wait_s=0.0), "attempts": row.attempts - 1}
            return job_of(self.moves.move(c, row, "released", worker, columns))

    # ---- by others

    def cancel(self, id: str) -> Job:
        """Ends an open job; a running one is taken from its worker.

        Raises:
            Conflict: it has ended already (a cancelled one is returned as it is).
        """
        with transaction(self.engine, group_commit=True) as c:
            row = find(c, id)
            if row.status == Status.CANCELLED:
                return job_of(row)
            if row.status not in OPEN:
                what = f"only an open job can be cancelled, {id} is {row.status}"
                raise Conflict(refuse(what, row.status, "Leave it, or retry it"))
            if row.status == Status.RUNNING:
                roster.take_from(c, row.worker, row.id)
            final = {"status": Status.CANCELLED, "ended": wall(), "error_code": "cancelled"}
            columns = {**final, **NO_LEASE}
            return job_of(self.moves.move(c, row, "cancelled", row.worker, columns))

    def retry(self, id: str) -> Job:
        """Queues a failed, dead or cancelled job again, with all its attempts.

        Raises:
            Conflict: it is open or done.
        """
        with transaction(self.engine, group_commit=True) as c:
            row = find(c, id)
            if row.status not in (Status.FAILED, Status.DEAD, Status.CANCELLED):
                what = f"only a failed, dead or cancelled job can be retried, {id} is {row.status}"
                raise Conflict(refuse(what, row.status, "Submit it anew"))
            clear = {"attempts": 0, "ended": None, "error_code": None, "error": None}
            columns = {**self.moves.put_back(row, wait_s=0.0), **clear}
            moved = self.moves.move(c, row, "retried", None, columns, {"was": row.status})
            return job_of(moved)

    def reap(self, limit: int = 500) -> int:
        """Ends leases that ran out and jobs out of time; returns how many. Claims do it, too."""
        with transaction(self.engine, group_commit=True) as c:
            return self.moves.reap(c, limit)

    # ---- questions

    def get(self, id: str) -> Job:
        """Returns one job.

        Raises:
            UnknownName: there is none.
        """
        with reading(self.engine) as c:
            return job_of(find(c, id))

    def events(self, id: str) -> Fields:
        """Returns the events of one job, oldest first."""
        with reading(self.engine) as c:
            return history.events_of(c, id)

    def stats(self) -> dict[str, Any]:
        """Returns counts by type and status, and the age of the oldest job that waits."""
        with reading(self.engine) as c:
            return history.count_all(c, self.types, self.clock)

    def purge(self, older_than_days: float, keep: int = 1000, limit: int = 1000) -> int:
        """Deletes up to `limit` final jobs older than that, never the newest `keep`."""
        with transaction(self.engine, group_commit=True) as c:
            return history.purge(c, self.clock, older_than_days, keep, limit)

    def list(
        self,
        status: str | None = None,
        type: str | None = None,
        limit: int = 100,
        before: str | None = None,
    ) -> Jobs:
        """Returns a page of jobs, newest first; `before` is the last id of the page before."""
        with reading(self.engine) as c:
            return history.page(c, status, type, limit, before)

    # ---- shared

    def _type(self, name: str) -> JobType:
        return self.types[check_known("job type", name, self.types)]

    def _joined(self, connection: Connection | None) -> AbstractContextManager[Connection]:
        return nullcontext(connection) if connection else transaction(self.engine, True)
