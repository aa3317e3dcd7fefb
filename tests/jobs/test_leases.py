import pytest

from levelcap.jobs.job import Stale, Status
from levelcap.jobs.store import Store
from levelcap.kit.errors import BadValue, UnknownName
from tests.jobs.tables import TYPES


def kinds(store, job):
    return [event["kind"] for event in store.events(job.id)]


@pytest.fixture
def job(store):
    store.submit("add", {"n": 1})
    return store.claim("w1")


def test_a_renewed_lease_holds_and_a_silent_one_is_taken(store, hand, job):
    for _ in range(5):
        hand.pass_s(29)
        store.renew(job.id, "w1", job.fence)
        assert store.reap() == 0
    hand.pass_s(29)
    assert store.reap() == 0
    hand.pass_s(1)
    assert store.reap() == 1
    found = store.get(job.id)
    assert (found.status, found.worker, found.error_code) == ("queued", None, "lease_expired")
    assert kinds(store, job) == ["submitted", "claimed", "expired"]


def test_progress_and_running_renew_too(store, hand, job):
    hand.pass_s(29)
    store.progress(job.id, "w1", job.fence, 0.5, "half" + "x" * 1000)
    hand.pass_s(29)
    store.renew(job.id, "w1", job.fence)
    hand.pass_s(29)
    assert store.reap() == 0
    found = store.get(job.id)
    assert (found.progress, found.message[:5], len(found.message)) == (0.5, "halfx", 500)
    for wrong in (1.5, -0.1, float("nan")):
        with pytest.raises(BadValue, match="between 0 and 1"):
            store.progress(job.id, "w1", job.fence, wrong)


def test_a_claim_ends_old_leases_first(store, hand, job):
    hand.pass_s(31)
    assert store.claim("w2") is None  # it waits for its back-off
    hand.pass_s(1)
    again = store.claim("w2")
    assert (again.id, again.fence, again.attempts, again.worker) == (job.id, 2, 2, "w2")


def report_all(store, job, worker, fence):
    return {
        "renew": lambda: store.renew(job.id, worker, fence),
        "progress": lambda: store.progress(job.id, worker, fence, 0.5),
        "complete": lambda: store.complete(job.id, worker, fence, {}),
        "fail": lambda: store.fail(job.id, worker, fence, "timeout", "late"),
        "release": lambda: store.release(job.id, worker, fence),
    }


@pytest.mark.parametrize("call", report_all(None, None, "", 0))
@pytest.mark.parametrize(("worker", "fence"), [("w1", 1), ("w1", 2), ("w2", 1), ("w2", 3)])
def test_only_the_newest_claim_may_report(store, hand, job, call, worker, fence):
    hand.pass_s(31)
    store.reap()
    hand.pass_s(1)
    newest = store.claim("w2")
    before = (store.get(job.id), store.events(job.id))
    with pytest.raises(Stale, match="not held by the caller"):
        report_all(store, job, worker, fence)[call]()
    assert (store.get(job.id), store.events(job.id)) == before
    assert store.complete(job.id, "w2", newest.fence, {}).status is Status.DONE


def test_a_late_holder_keeps_a_job_that_nobody_took(store, hand, job):
    hand.pass_s(500)  # the machine slept, or the server was away
    store.renew(job.id, "w1", job.fence)
    assert store.reap() == 0
    hand.pass_s(3)
    assert store.complete(job.id, "w1", job.fence, {}).status is Status.DONE


def test_a_lease_of_another_boot_is_over_and_can_be_saved_by_its_holder(store, hand, engine, job):
    hand.boot_id, hand.seconds = "boot-2", 1.0
    later = Store(engine, TYPES, hand.clock())
    later.renew(job.id, "w1", job.fence)
    assert later.reap() == 0
    hand.boot_id = "boot-3"
    last = Store(engine, TYPES, hand.clock())
    assert last.reap() == 1
    with pytest.raises(Stale):
        last.renew(job.id, "w1", job.fence)


def test_a_crashing_job_is_dead_after_exactly_its_attempts(store, hand):
    store.submit("add", {"n": 1})
    seen = []
    for _ in range(3):
        job = store.claim("w1")
        seen.append((job.attempts, job.fence))
        hand.pass_s(31)
        store.reap()
        hand.pass_s(60)
    assert seen == [(1, 1), (2, 2), (3, 3)]
    dead = store.get(job.id)
    assert (dead.status, dead.error_code, dead.attempts) == ("dead", "lease_expired", 3)
    assert dead.ended is not None
    assert store.claim("w1") is None
    assert kinds(store, job)[-3:] == ["expired", "claimed", "dead"]


def test_a_job_out_of_time_is_taken_from_a_living_worker(store, hand):
    store.submit("short", {"n": 1})
    job = store.claim("w1")
    hand.pass_s(15)
    store.renew(job.id, "w1", job.fence)
    hand.pass_s(5)
    with pytest.raises(Stale, match="longer than its type allows"):
        store.renew(job.id, "w1", job.fence)
    assert store.reap() == 1
    assert store.get(job.id).error_code == "timeout"
    assert store.heartbeat("w1") == [job.id]
    assert store.heartbeat("w1") == []
    with pytest.raises(Stale):
        store.complete(job.id, "w1", job.fence, {})
    hand.pass_s(1)
    store.claim("w1")
    hand.pass_s(20)
    store.reap()
    assert store.get(job.id).status is Status.DEAD


def test_a_dead_worker_can_be_released_at_once(store, job):
    assert store.release_worker("w1") == 1
    found = store.get(job.id)
    assert (found.status, found.attempts, found.error) == ("queued", 1, "its worker is gone")
    with pytest.raises(UnknownName, match="not registered"):
        store.heartbeat("w1")
    assert store.release_worker("w1") == 0


def test_workers_are_listed_with_what_they_hold(store, hand, job):
    hand.pass_s(31)
    store.heartbeat("w2")
    store.register("w3", "cpu_2", ["eval_worker"], pid=7, host="h")
    shown = {w["name"]: (w["alive"], w["silent_s"], w["jobs"]) for w in store.workers()}
    assert shown == {
        "w1": (False, 31.0, [job.id]),
        "w2": (True, 0.0, []),
        "w3": (True, 0.0, []),
    }
    third = store.workers()[2]
    assert (third["device"], third["roles"], third["pid"]) == ("cpu_2", ["eval_worker"], 7)
