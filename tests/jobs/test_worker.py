import os
import signal
import threading
import time

import pytest

from levelcap.jobs import worker as worker_module
from levelcap.jobs.job import Interrupted, JobFailed, Status, Unreachable
from levelcap.jobs.store import Store
from levelcap.jobs.worker import Worker
from levelcap.kit.errors import BadValue
from tests.jobs.tables import TYPES


@pytest.fixture
def store(engine):
    """A store on the machine's own clock, with short leases and no waits."""
    return Store(engine, TYPES, lease_s=2.0, back_off=lambda attempts: 0.0)


def make(store, handler, **settings):
    quick = {"idle_s": 0.01, "heartbeat_s": 0.05} | settings
    return Worker(store, "w1", "local_gpu_1", ["trainer"], {"add": handler}, **quick)


def run_one(store, handler, **settings):
    job_id = store.submit("add", {"n": 3}).job_id
    assert make(store, handler, **settings).run(max_jobs=1) == 1
    return store.get(job_id)


class Flaky:
    """A store behind a bad line: chosen calls raise `Unreachable` first, before or after."""

    def __init__(self, store, troubles):
        self._store = store
        self.troubles = troubles

    def __getattr__(self, name):
        def call(*arguments, **named):
            left = self.troubles.get(name, [])
            when = left.pop(0) if left else None
            if when == "before":
                raise Unreachable("no answer")
            answer = getattr(self._store, name)(*arguments, **named)
            if when == "after":
                raise Unreachable("the answer was lost")
            return answer

        return call


def test_a_handler_runs_in_the_calling_thread_and_its_result_is_kept(store):
    threads = []

    def double(job, context):
        threads.append(threading.current_thread())
        return {"n": 2 * job.payload["n"]}

    job = run_one(store, double)
    assert (job.status, job.result, job.worker) == ("done", {"n": 6}, "w1")
    assert threads == [threading.current_thread()]
    assert store.workers()[0]["pid"] == os.getpid()


def raiser(error):
    def handler(job, context):
        raise error

    return handler


@pytest.mark.parametrize(
    ("error", "status", "code", "said"),
    [
        (JobFailed("model_not_found", "no net"), "failed", "model_not_found", "no net"),
        (JobFailed("timeout", "slow"), "queued", "timeout", "slow"),
        (KeyError("x"), "failed", "execution_error", "KeyError: 'x'"),
        (BadValue("a; got 1. Do b."), "failed", "execution_error", "a; got 1. Do b."),
        (Interrupted(), "queued", None, None),
    ],
)
def test_what_a_handler_raises_decides_over_its_job(store, error, status, code, said):
    job = run_one(store, raiser(error))
    assert (job.status, job.error_code, job.error) == (status, code, said)
    assert job.attempts == (0 if isinstance(error, Interrupted) else 1)


def test_a_result_that_is_no_json_fails_the_job(store):
    job = run_one(store, lambda job, context: {"n": float("nan")})
    assert (job.status, job.error_code) == ("failed", "execution_error")


def test_an_effect_that_raises_fails_the_job(store):
    def effect(connection, job, result):
        raise RuntimeError("no such hero")

    store.effects = {"add": effect}
    job = run_one(store, lambda job, context: {})
    assert (job.status, job.error) == ("failed", "RuntimeError: no such hero")


def test_a_long_job_keeps_its_lease_and_shows_its_progress(store):
    seen = []

    def slow(job, context):
        context.progress(0.25, "first")
        context.progress(0.5, "dropped: less than a second later")
        for _ in range(50):
            time.sleep(0.05)
            store.reap()
        seen.append(store.get(job.id))
        return {}

    job = run_one(store, slow)
    assert (job.status, job.attempts) == ("done", 1)
    assert (seen[0].progress, seen[0].message) == (0.25, "first")


def test_a_cancelled_job_is_told_to_its_handler_and_its_result_dropped(store):
    def patient(job, context):
        store.cancel(job.id)
        assert context.cancelled.wait(10)
        return {"n": 1}

    job = run_one(store, patient)
    assert (job.status, job.result) == ("cancelled", None)


def test_a_lost_lease_is_noticed_by_progress(store):
    def slow(job, context):
        store.release_worker("w1")
        context.progress(0.5)
        assert context.cancelled.is_set()
        return {"n": 1}

    job = run_one(store, slow, heartbeat_s=60)
    assert (job.status, job.result, job.attempts) == ("queued", None, 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_handler_give_the_job_back(store, number):
    def stoppable(job, context):
        os.kill(os.getpid(), number)
        assert context.stopping.wait(10)
        raise Interrupted

    before = signal.getsignal(number)
    job_id = store.submit("add", {"n": 1}).job_id
    assert make(store, stoppable).run() == 1
    job = store.get(job_id)
    assert (job.status, job.attempts) == ("queued", 0)
    assert signal.getsignal(number) is before


def test_signal_handlers_of_a_handler_last_as_long_as_it(store):
    def rude(job, context):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return {}

    worker = make(store, rude)
    store.submit("add", {"n": 1})
    runs = iter([False, True])

    def ask():
        os.kill(os.getpid(), signal.SIGTERM)  # ignored if the handler's setting had stayed
        return next(runs)

    assert worker.run(until=ask) == 1
    assert worker.stopping.is_set()


def test_an_idle_worker_says_so_and_can_be_stopped(store):
    calls = []
    worker = make(store, None, on_idle=lambda: calls.append(1) or len(calls) < 3 or worker.stop())
    assert worker.run() == 0
    assert len(calls) == 3


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_unreachable_store_is_asked_again(store, when):
    done = []
    store.effects = {"add": lambda connection, job, result: done.append(job.id)}
    names = ("register", "claim", "complete", "heartbeat", "renew")
    troubles = {name: [when, when] for name in names if (name, when) != ("claim", "after")}
    flaky = Flaky(store, troubles)
    job_id = store.submit("add", {"n": 1}).job_id

    def handler(job, context):
        time.sleep(0.4)
        return {}

    worker = Worker(
        flaky, "w1", "local_gpu_1", ["trainer"], {"add": handler}, 0.01, heartbeat_s=0.05
    )
    assert worker.run(max_jobs=1) == 1
    assert store.get(job_id).status is Status.DONE
    assert (done, [name for name, left in flaky.troubles.items() if left]) == ([job_id], [])


def test_a_report_is_given_up_in_the_end(store, monkeypatch):
    monkeypatch.setattr(worker_module, "REPORT_S", 0.0)
    job_id = store.submit("add", {"n": 1}).job_id
    flaky = Flaky(store, {"complete": ["before"] * 50})
    worker = Worker(flaky, "w1", "local_gpu_1", ["trainer"], {"add": lambda j, c: {}}, 0.01)
    assert worker.run(max_jobs=1) == 1
    assert store.get(job_id).status is Status.RUNNING  # its lease will end


def test_a_forgotten_worker_registers_again(store):
    store.submit("add", {"n": 1})
    store.submit("add", {"n": 2})

    def forget(job, context):
        store.complete(job.id, "w1", job.fence, {})
        store.release_worker("w1")
        return {}

    assert make(store, forget, heartbeat_s=60).run(max_jobs=2) == 2
    assert store.stats()["status"]["done"] == 2


def test_a_worker_may_be_told_which_of_its_types_begin_now(store):
    store.submit("add", {"n": 1})
    answers = iter([[], ["once"], ["add"]])
    worker = make(store, lambda job, context: {}, types=lambda: next(answers))
    assert worker.run(max_jobs=1) == 1
    assert (store.stats()["status"]["done"], list(answers)) == (1, [])
