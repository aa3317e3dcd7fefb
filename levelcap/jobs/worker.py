"""Claims a job, runs its handler in this thread, reports, and again.

    Worker(store, "w1", "local_gpu_1", ["trainer"], {"reinforce": handler}).run()

A handler takes (job, context) and returns a dict of JSON values. It looks at `context.stopping`
(the process was asked to end: raise `Interrupted`, the job goes back) and `context.cancelled` (the
job is no longer ours: stop, nothing of it will be kept). `JobFailed` names an error code; any
other exception fails the job as `execution_error`.

The store is anything with the methods of `JobStore`, e.g. a client over HTTP. While it is
unreachable the handler goes on and the result is offered again until the store takes it or says
that the job is no longer ours.
"""

import functools
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from levelcap.jobs.job import Interrupted, Job, JobFailed, Refused, Stale, Unreachable
from levelcap.jobs.retry import back_off_s
from levelcap.jobs.store import HEARTBEAT_S
from levelcap.kit.errors import Busy, LevelcapError, NoSpace, UnknownName
from levelcap.kit.log import get_logger

PROGRESS_EVERY_S = 1.0
REPORT_S = 600.0  # a result is offered this long, whatever the store's troubles
STOPPING_REPORT_S = 30.0  # … and this long once the process was asked to end
JOIN_S = 2.0  # the heartbeat may be waiting for a locked database; it is not waited for
PASSING = (Unreachable, Busy, NoSpace, Refused)  # troubles of the store that may pass

log = get_logger("jobs.worker")


class JobStore(Protocol):
    """What a worker asks of a store; see `store.Store` for the meaning."""

    def register(
        self,
        worker: str,
        device: str,
        roles: Sequence[str],
        *,
        pid: int | None = None,
        host: str | None = None,
    ) -> None: ...
    def heartbeat(self, worker: str) -> list[str]: ...
    def claim(self, worker: str, *, types: Sequence[str] | None = None) -> Job | None: ...
    def renew(self, id: str, worker: str, fence: int) -> None: ...
    def progress(
        self, id: str, worker: str, fence: int, fraction: float, message: str = ""
    ) -> None: ...
    def complete(self, id: str, worker: str, fence: int, result: dict[str, Any]) -> Job: ...
    def fail(self, id: str, worker: str, fence: int, code: str, message: str) -> Job: ...
    def release(self, id: str, worker: str, fence: int) -> Job: ...


class Context:
    """What a handler may know and say while it runs one job."""

    def __init__(self, store: JobStore, worker: str, job: Job, stopping: threading.Event) -> None:
        self.job = job
        self.stopping = stopping
        self.cancelled = threading.Event()
        self.reporting = False
        self._store = store
        self._worker = worker
        self._said_at = -PROGRESS_EVERY_S

    def progress(self, fraction: float, message: str = "") -> None:
        """Notes how far the job is, at most once a second; calls in between are dropped."""
        now = time.monotonic()
        if now - self._said_at < PROGRESS_EVERY_S or self.cancelled.is_set():
            return
        self._said_at = now
        with self._noticing_loss():
            job = self.job
            self._store.progress(job.id, self._worker, job.fence, fraction, message)

    def renew(self) -> None:
        """Renews the lease, or notes that it is lost."""
        with self._noticing_loss():
            self._store.renew(self.job.id, self._worker, self.job.fence)

    @contextmanager
    def _noticing_loss(self) -> Iterator[None]:
        try:
            yield
        except (Stale, UnknownName) as error:
            self.cancelled.set()
            if not self.reporting:  # else our own report has just ended the job
                log.warning("job is no longer ours", job=self.job.id, reason=str(error))
        except PASSING as error:
            log.warning("store does not answer", job=self.job.id, reason=str(error))


Handler = Callable[[Job, Context], dict[str, Any]]


class Worker:
    """One process (or thread) that takes one job at a time."""

    def __init__(
        self,
        store: JobStore,
        name: str,
        device: str,
        roles: Sequence[str],
        handlers: Mapping[str, Handler],
        idle_s: float = 0.5,
        on_idle: Callable[[], None] | None = None,
        *,
        heartbeat_s: float = HEARTBEAT_S,
        types: Callable[[], Sequence[str]] | None = None,
    ) -> None:
        """Prepares a worker; nothing is asked of the store before `run`.

        Args:
            store: where jobs come from.
            name: unique among the workers of the realm.
            device: the device it runs on; whether it may is checked by who owns the store.
            roles: what it offers to do.
            handlers: job type -> function; only these types are claimed.
            idle_s: wait after an empty claim.
            on_idle: called after every empty claim.
            heartbeat_s: seconds between signs of life.
            types: asked before every claim: of the handlers' types, those that may begin now.
        """
        self.store = store
        self.name = name
        self.device = device
        self.roles = list(roles)
        self.handlers = handlers
        self.idle_s = idle_s
        self.on_idle = on_idle
        self.heartbeat_s = heartbeat_s
        self.types = types or (lambda: list(self.handlers))
        self.stopping = threading.Event()
        self._ended = threading.Event()
        self._current: Context | None = None

    def run(self, max_jobs: int | None = None, until: Callable[[], bool] | None = None) -> int:
        """Works until stopped.

        Args:
            max_jobs: return after so many jobs; None for no limit.
            until: asked after every job and every empty claim; True ends the run.

        Returns:
            How many jobs were run, whatever became of them.
        """
        count = 0
        self._ended.clear()
        pulse = threading.Thread(target=self._beat, name=f"heartbeat {self.name}", daemon=True)
        with self._signals():
            self._patiently("register", self._register)
            pulse.start()
            try:
                while not self.stopping.is_set() and (max_jobs is None or count < max_jobs):
                    count += self._turn()
                    if until is not None and until():
                        break
            finally:
                self._ended.set()
                pulse.join(JOIN_S)
        return count

    def stop(self) -> None:
        """Asks `run` to return; callable from any thread. A running handler sees `stopping`."""
        self.stopping.set()

    def _turn(self) -> int:
        job = self._patiently("claim", self._claim)
        if job is not None:
            self._run_job(job)
            return 1
        if self.on_idle is not None:
            self.on_idle()
        self.stopping.wait(self.idle_s * _out_of_step())
        return 0

    def _register(self) -> None:
        pid, host = os.getpid(), socket.gethostname()
        self.store.register(self.name, self.device, self.roles, pid=pid, host=host)

    def _claim(self) -> Job | None:
        types = list(self.types())
        if not types:
            return None
        try:
            return self.store.claim(self.name, types=types)
        except UnknownName:  # the store forgot us, e.g. because it took us for dead
            self._register()
            return self.store.claim(self.name, types=types)

    # ---- one job

    def _run_job(self, job: Job) -> None:
        context = Context(self.store, self.name, job, self.stopping)
        self._current = context
        began = time.monotonic()
        try:
            report = self._handle(job, context)
            context.reporting = True
            self._report(job, context, report)
        finally:
            self._current = None
        took = round(time.monotonic() - began, 3)
        log.info("job ended", job=job.id, type=job.type, fence=job.fence, seconds=took)

    def _handle(self, job: Job, context: Context) -> Callable[[], object]:
        """Runs the handler; returns the call that reports what came of it."""
        key = (job.id, self.name, job.fence)
        try:
            with self._signals():  # undoes what a handler does to them
                result = self.handlers[job.type](job, context)
            return functools.partial(self.store.complete, *key, result)
        except Interrupted:
            return functools.partial(self.store.release, *key)
        except JobFailed as error:
            failure = (error.code, error.message)
        except Exception as error:  # whatever a handler raises ends its job, not the worker
            failure = ("execution_error", _said(error))
            log.exception("handler raised", job=job.id, type=job.type)
        return functools.partial(self.store.fail, *key, *failure)

    def _report(self, job: Job, context: Context, report: Callable[[], object]) -> None:
        key = (job.id, self.name, job.fence)
        try:
            self._patiently("report", report)
        except Stale as error:
            context.cancelled.set()
            log.warning("report came too late, dropped", job=job.id, reason=str(error))
        except PASSING as error:
            log.error("report given up, the lease will end", job=job.id, reason=str(error))
        except Exception as error:  # e.g. a result that is no JSON, an effect that raises
            log.exception("report refused", job=job.id, type=job.type)
            fail = functools.partial(self.store.fail, *key, "execution_error", _said(error))
            try:
                self._patiently("report", fail)
            except LevelcapError as again:
                log.error("failure could not be reported", job=job.id, reason=str(again))

    def _patiently(self, what: str, call: Callable[[], Any]) -> Any:
        """Repeats a call while the store has troubles that may pass."""
        began, attempt = time.monotonic(), 0
        while True:
            try:
                return call()
            except PASSING as error:
                attempt += 1
                stopping = self.stopping.is_set()
                limit = STOPPING_REPORT_S if stopping else REPORT_S
                if what != "report" and stopping:
                    return None
                if what == "report" and time.monotonic() - began > limit:
                    raise
                log.warning("store does not answer", doing=what, reason=str(error))
                time.sleep(min(back_off_s(attempt) / 4, 5.0))

    # ---- signs of life

    def _beat(self) -> None:
        while not self._ended.wait(self.heartbeat_s * _out_of_step()):
            try:
                self._beat_once()
            except Exception:  # the thread must outlive whatever the store says
                log.exception("heartbeat failed", worker=self.name)

    def _beat_once(self) -> None:
        context = self._current
        try:
            taken = self.store.heartbeat(self.name)
        except UnknownName:
            self._register()
            taken = []
        except PASSING as error:
            log.warning("store does not answer", doing="heartbeat", reason=str(error))
            return
        if context is not None:
            if context.job.id in taken:
                context.cancelled.set()
            context.renew()

    # ---- signals

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """SIGTERM and SIGINT set `stopping`; only the main thread of a process gets signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {s: signal.signal(s, self._on_signal) for s in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: object) -> None:
        self.stop()


def _out_of_step() -> float:
    """Workers that waited for one lock would else ask in step ever after, all at once."""
    return random.uniform(0.7, 1.0)


def _said(error: Exception) -> str:
    """A message for the job's row: ours are complete, others need the name of their kind."""
    return str(error) if isinstance(error, LevelcapError) else f"{type(error).__name__}: {error}"
