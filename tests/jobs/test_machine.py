"""The store against a model of a few lines: any order of calls, any passing of time."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from levelcap.jobs.job import PRIORITIES, RETRYABLE, Refused, Stale
from levelcap.jobs.retry import back_off_s
from levelcap.jobs.schema import migrate
from levelcap.jobs.store import LEASE_S, Store
from levelcap.kit import db
from levelcap.kit.errors import Conflict
from tests.jobs.tables import HandClock, job_type

TYPES = {
    "many": job_type("many", tries=2, timeout_s=45.0),
    "few": job_type("few", tries=3, max_pending=2, max_running=1),
}
WORKERS = ("w1", "w2")
FINAL = ("failed", "dead", "cancelled")


@dataclass
class Row:
    """What the model knows of a job."""

    number: int
    type: str
    rank: int
    ready_at: float
    status: str = "queued"
    attempts: int = 0
    fence: int = 0
    worker: str | None = None
    lease_at: float = 0.0
    deadline_at: float = 0.0


class Queue(RuleBasedStateMachine):
    """One store and its model, called alike."""

    jobs = Bundle("jobs")

    @initialize()
    def start(self):
        self.folder = tempfile.TemporaryDirectory()
        self.engine = db.open_db(Path(self.folder.name) / "realm.db")
        migrate(self.engine)
        self.hand = HandClock()
        self.store = Store(self.engine, TYPES, self.hand.clock())
        for worker in WORKERS:
            self.store.register(worker, "local_gpu_1", ["trainer"])
        self.rows: dict[str, Row] = {}

    def teardown(self):
        if hasattr(self, "engine"):
            self.engine.dispose()
            self.folder.cleanup()

    def count(self, status, type_):
        return sum(r.status == status and r.type == type_ for r in self.rows.values())

    def crash(self, row):
        if row.attempts < TYPES[row.type].tries:
            row.status, row.worker = "queued", None
            row.ready_at = self.hand.seconds + back_off_s(row.attempts)
        else:
            row.status = "dead"

    def expire(self):
        for row in self.rows.values():
            now = self.hand.seconds
            if row.status == "running" and min(row.lease_at, row.deadline_at) <= now:
                self.crash(row)

    @rule(
        target=jobs,
        type_=st.sampled_from(sorted(TYPES)),
        priority=st.sampled_from(PRIORITIES),
        delay=st.sampled_from([0, 0, 5]),
    )
    def submit(self, type_, priority, delay):
        full = self.count("queued", type_) >= TYPES[type_].max_pending
        payload = {"n": len(self.rows)}
        try:
            accepted = self.store.submit(type_, payload, priority=priority, delay_s=delay)
        except Refused:
            assert full
            return None
        assert not full
        row = Row(len(self.rows), type_, PRIORITIES.index(priority), self.hand.seconds + delay)
        self.rows[accepted.job_id] = row
        return accepted.job_id

    @rule(worker=st.sampled_from(WORKERS))
    def claim(self, worker):
        found = self.store.claim(worker)
        self.expire()
        able = [
            (row.rank, row.number, job_id)
            for job_id, row in self.rows.items()
            if row.status == "queued"
            and row.ready_at <= self.hand.seconds
            and self.count("running", row.type) < TYPES[row.type].max_running
        ]
        assert (found.id if found else None) == (min(able)[2] if able else None)
        if found:
            row = self.rows[found.id]
            row.status, row.worker = "running", worker
            row.fence, row.attempts = row.fence + 1, row.attempts + 1
            row.lease_at = self.hand.seconds + LEASE_S
            row.deadline_at = self.hand.seconds + TYPES[row.type].timeout_s

    def reports(self, job_id, worker, behind, call):
        """Calls with a fence that is `behind` too low; returns the row if that worked."""
        if job_id is None:
            return None
        row = self.rows[job_id]
        held = row.status == "running" and row.worker == worker and behind == 0
        try:
            call(job_id, worker, row.fence - behind)
        except Stale:
            late = call == self.store.renew and held and row.deadline_at <= self.hand.seconds
            assert late or not held
            return None
        assert held
        return row

    @rule(job_id=jobs, worker=st.sampled_from(WORKERS), behind=st.sampled_from([0, 0, 0, 1]))
    def renew(self, job_id, worker, behind):
        if row := self.reports(job_id, worker, behind, self.store.renew):
            assert row.deadline_at > self.hand.seconds
            row.lease_at = self.hand.seconds + LEASE_S

    @rule(job_id=jobs, worker=st.sampled_from(WORKERS), behind=st.sampled_from([0, 0, 0, 1]))
    def complete(self, job_id, worker, behind):
        row = self.rows.get(job_id)
        if row and (row.status, row.worker, behind) == ("done", worker, 0):
            self.store.complete(job_id, worker, row.fence, {})
        elif row := self.reports(
            job_id, worker, behind, lambda *key: self.store.complete(*key, {})
        ):
            row.status = "done"

    @rule(
        job_id=jobs,
        worker=st.sampled_from(WORKERS),
        behind=st.sampled_from([0, 0, 0, 1]),
        code=st.sampled_from(["timeout", "execution_error"]),
    )
    def fail(self, job_id, worker, behind, code):
        if row := self.reports(
            job_id, worker, behind, lambda *key: self.store.fail(*key, code, "")
        ):
            if code in RETRYABLE and row.attempts < TYPES[row.type].tries:
                self.crash(row)
            else:
                row.status = "failed"

    @rule(job_id=jobs, worker=st.sampled_from(WORKERS), behind=st.sampled_from([0, 0, 0, 1]))
    def release(self, job_id, worker, behind):
        if row := self.reports(job_id, worker, behind, self.store.release):
            row.status, row.worker, row.attempts = "queued", None, row.attempts - 1
            row.ready_at = self.hand.seconds

    @rule(job_id=jobs)
    def cancel(self, job_id):
        if (row := self.rows.get(job_id)) is None:
            return
        try:
            self.store.cancel(job_id)
            assert row.status in ("queued", "running", "cancelled")
            row.status = "cancelled"
        except Conflict:
            assert row.status in ("done", "failed", "dead")

    @rule(job_id=jobs)
    def retry(self, job_id):
        if (row := self.rows.get(job_id)) is None:
            return
        try:
            self.store.retry(job_id)
            assert row.status in FINAL
            row.status, row.worker, row.attempts = "queued", None, 0
            row.ready_at = self.hand.seconds
        except Conflict:
            assert row.status not in FINAL

    @rule(worker=st.sampled_from(WORKERS))
    def kill_worker(self, worker):
        held = [r for r in self.rows.values() if (r.status, r.worker) == ("running", worker)]
        assert self.store.release_worker(worker) == len(held)
        for row in held:
            self.crash(row)
        self.store.register(worker, "local_gpu_1", ["trainer"])

    @rule()
    def reap(self):
        self.store.reap()
        self.expire()

    @rule(seconds=st.sampled_from([0.5, 1.0, 2.0, 29.0, 31.0, 50.0]))
    def time_passes(self, seconds):
        self.hand.pass_s(seconds)

    @invariant()
    def agrees_with_the_model(self):
        if not hasattr(self, "rows"):
            return
        found = {
            job.id: (job.status.value, job.attempts, job.fence)
            for job in self.store.list(limit=500)
        }
        assert found == {i: (r.status, r.attempts, r.fence) for i, r in self.rows.items()}


TestQueue = Queue.TestCase
TestQueue.settings = settings(
    max_examples=25,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
