import pytest

from levelcap.jobs.job import Status
from levelcap.jobs.store import Store
from levelcap.kit import db
from levelcap.kit.errors import UnknownName
from tests.jobs.tables import TYPES


def numbers(store, worker="w1", **arguments):
    """Claims until nothing is left; returns the payloads' numbers in order."""
    found = []
    while job := store.claim(worker, **arguments):
        found.append(job.payload["n"])
    return found


def test_the_urgent_go_first_then_the_old(store):
    for n, priority in enumerate(["idle", "low", "normal", "high", "critical", "normal"]):
        store.submit("add" if n % 2 else "open", {"n": n}, priority=priority)
    assert numbers(store) == [4, 3, 2, 5, 1, 0]


def test_a_claimed_job_has_one_holder(store):
    store.submit("add", {"n": 1})
    job = store.claim("w1")
    assert (job.status, job.worker, job.fence, job.attempts) == (Status.RUNNING, "w1", 1, 1)
    assert job.started is not None
    assert store.claim("w2") is None


def test_a_worker_gets_only_what_its_roles_and_its_question_allow(store):
    store.register("judge", "local_gpu_1", ["analytics"])
    store.submit("rating", {"n": 1})
    store.submit("add", {"n": 2})
    assert store.claim("w1", types=["open", "rating"]) is None
    assert numbers(store, "judge") == [1]
    assert numbers(store, "w1", types=["add"]) == [2]


def test_an_unknown_worker_or_type_is_refused(store):
    with pytest.raises(UnknownName, match="not registered"):
        store.claim("w9")
    with pytest.raises(UnknownName, match="job type"):
        store.claim("w1", types=["adds"])


def test_no_more_of_a_type_run_than_allowed(store):
    for n in (1, 2):
        store.submit("narrow", {"n": n})
    store.submit("add", {"n": 3})
    job = store.claim("w1")
    assert numbers(store, "w2") == [3]
    store.complete(job.id, "w1", job.fence, {})
    assert numbers(store, "w2") == [2]


def test_a_delayed_job_waits_its_time(store, hand):
    store.submit("add", {"n": 1}, delay_s=60)
    hand.pass_s(59)
    assert store.claim("w1") is None
    hand.pass_s(1)
    assert numbers(store) == [1]


def test_a_delay_of_an_earlier_boot_is_over(store, hand, engine):
    store.submit("add", {"n": 1}, delay_s=60)
    hand.boot_id, hand.seconds = "boot-2", 5.0
    assert numbers(Store(engine, TYPES, hand.clock())) == [1]


def test_an_empty_claim_waits_for_no_lock(store, engine):
    with db.transaction(engine):  # nobody else can write now
        assert store.claim("w1") is None
