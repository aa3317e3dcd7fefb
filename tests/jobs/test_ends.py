import pytest

from levelcap.jobs.job import ERROR_CODES, RETRYABLE, JobFailed, Refused, Status
from levelcap.jobs.store import Store
from levelcap.kit import db
from levelcap.kit.errors import BadValue, Conflict, UnknownName
from tests.jobs.tables import TYPES


@pytest.fixture
def job(store):
    store.submit("add", {"n": 1})
    return store.claim("w1")


def effects(engine):
    with db.reading(engine) as connection:
        return connection.execute("SELECT job_id, n FROM effects").all()


def write_effect(connection, job, result):
    row = {"id": job.id, "n": result["n"]}
    connection.execute("INSERT INTO effects VALUES (:id, :n)", row)


def kinds(store, job):
    return [event["kind"] for event in store.events(job.id)]


def test_completing_stores_the_result_once(store, job):
    done = store.complete(job.id, "w1", job.fence, {"n": 2})
    assert (done.status, done.result, done.progress) == ("done", {"n": 2}, 1.0)
    assert done.ended is not None
    assert store.complete(job.id, "w1", job.fence, {"n": 3}) == done
    assert kinds(store, job) == ["submitted", "claimed", "completed"]


@pytest.mark.parametrize("result", [None, [1], {"n": float("nan")}, {"n": object()}])
def test_a_result_that_is_no_mapping_of_json_is_refused(store, job, result):
    with pytest.raises(BadValue):
        store.complete(job.id, "w1", job.fence, result)
    assert store.get(job.id).status is Status.RUNNING


def test_an_effect_is_written_with_the_completion_and_once(engine, store, job):
    store.effects = {"add": write_effect}
    store.complete(job.id, "w1", job.fence, {"n": 2})
    store.complete(job.id, "w1", job.fence, {"n": 2})
    assert effects(engine) == [(job.id, 2)]


def test_an_effect_that_raises_leaves_everything_as_it_was(engine, store, job):
    def half(connection, job, result):
        write_effect(connection, job, result)
        store.submit("add", {"n": 9}, connection=connection)
        raise RuntimeError("stop")

    store.effects = {"add": half}
    with pytest.raises(RuntimeError):
        store.complete(job.id, "w1", job.fence, {"n": 2})
    assert store.get(job.id) == job
    assert (effects(engine), kinds(store, job)) == ([], ["submitted", "claimed"])
    assert len(store.list()) == 1


def test_an_effect_may_submit_the_next_job_and_its_refusal_undoes_the_rest(store, job):
    def follow(connection, job, result):
        store.submit("narrow", {"n": result["n"]}, connection=connection)

    store.effects = {"add": follow}
    store.complete(job.id, "w1", job.fence, {"n": 2})
    assert [j.payload["n"] for j in store.list(type="narrow")] == [2]
    store.submit("narrow", {"n": 3})
    store.submit("add", {"n": 4})
    second = store.claim("w1", types=["add"])
    with pytest.raises(Refused):
        store.complete(second.id, "w1", second.fence, {"n": 5})
    assert store.get(second.id).status is Status.RUNNING


def test_a_listener_hears_every_event_inside_its_transaction(engine, hand):
    heard = []

    def listen(connection, kind, job):
        heard.append((kind, job.status.value))
        if job.result == {"n": 13}:
            raise RuntimeError("unlucky")

    store = Store(engine, TYPES, hand.clock(), on_event=listen)
    store.register("w1", "local_gpu_1", ["trainer"])
    store.submit("add", {"n": 1})
    job = store.claim("w1")
    with pytest.raises(RuntimeError, match="unlucky"):
        store.complete(job.id, "w1", job.fence, {"n": 13})
    store.fail(job.id, "w1", job.fence, "unknown", "?")
    assert heard == [
        ("submitted", "queued"),
        ("claimed", "running"),
        ("completed", "done"),
        ("failed", "failed"),
    ]


@pytest.mark.parametrize("code", ERROR_CODES)
def test_a_failure_is_tried_again_only_when_that_may_help(store, hand, job, code):
    found = store.fail(job.id, "w1", job.fence, code, "why\ud800")
    again = code in RETRYABLE
    assert (found.status, found.error_code, found.error) == (
        "queued" if again else "failed",
        code,
        "why?",
    )
    assert kinds(store, job)[-1] == ("requeued" if again else "failed")
    assert store.claim("w1") is None
    hand.pass_s(1)
    assert (store.claim("w1") is not None) == again


def test_the_wait_between_tries_doubles_and_the_last_try_fails(store, hand, job):
    store.fail(job.id, "w1", 1, "timeout", "")
    hand.pass_s(1)
    assert store.claim("w1").attempts == 2
    store.fail(job.id, "w1", 2, "timeout", "")
    hand.pass_s(1)
    assert store.claim("w1") is None
    hand.pass_s(1)
    assert store.claim("w1").attempts == 3
    assert store.fail(job.id, "w1", 3, "timeout", "").status is Status.FAILED


def test_an_unknown_code_is_refused(store, job):
    with pytest.raises(UnknownName, match="error code"):
        store.fail(job.id, "w1", job.fence, "oops", "")
    with pytest.raises(UnknownName, match="error code"):
        JobFailed("oops", "")


def test_a_released_job_has_lost_no_attempt(store, job):
    back = store.release(job.id, "w1", job.fence)
    assert (back.status, back.attempts, back.worker) == ("queued", 0, None)
    again = store.claim("w2")
    assert (again.attempts, again.fence) == (1, 2)


def test_a_queued_job_is_cancelled_and_not_claimed(store):
    accepted = store.submit("add", {"n": 1})
    assert store.cancel(accepted.job_id).status is Status.CANCELLED
    assert store.claim("w1") is None
    assert store.cancel(accepted.job_id).error_code == "cancelled"
    assert len(store.events(accepted.job_id)) == 2


def test_a_running_job_is_cancelled_and_its_worker_told(store, job):
    store.cancel(job.id)
    assert store.heartbeat("w1") == [job.id]
    with pytest.raises(Conflict, match="only an open job"):
        store.submit("add", {"n": 2})
        second = store.claim("w1")
        store.complete(second.id, "w1", second.fence, {})
        store.cancel(second.id)


@pytest.mark.parametrize("end", ["failed", "dead", "cancelled"])
def test_what_ended_badly_can_be_retried_from_the_start(store, hand, end):
    store.submit("once", {"n": 1})
    job = store.claim("w1")
    if end == "failed":
        store.fail(job.id, "w1", 1, "unknown", "?")
    elif end == "dead":
        hand.pass_s(31)
        store.reap()
    else:
        store.cancel(job.id)
    assert store.get(job.id).status == end
    found = store.retry(job.id)
    assert (found.status, found.attempts, found.fence, found.error) == ("queued", 0, 1, None)
    assert store.events(job.id)[-1]["detail"] == {"was": end}
    again = store.claim("w2")
    assert (again.attempts, again.fence) == (1, 2)
    with pytest.raises(Conflict, match="only a failed, dead or cancelled"):
        store.retry(job.id)
