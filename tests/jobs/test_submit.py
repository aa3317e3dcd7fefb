import math

import pytest

from levelcap.jobs.job import Accepted, Refused, Status
from levelcap.kit import db
from levelcap.kit.errors import BadValue, Conflict, UnknownName


def test_an_accepted_job_waits_with_its_payload_completed(store):
    accepted = store.submit("add", {"n": 1}, campaign="c1")
    job = store.get(accepted.job_id)
    assert accepted == Accepted(job.id, Status.QUEUED, 1, [], existed=False)
    assert job.as_json() | {"created": "", "id": ""} == {
        "id": "",
        "type": "add",
        "payload": {"n": 1, "note": ""},
        "status": "queued",
        "priority": "normal",
        "attempts": 0,
        "max_attempts": 3,
        "fence": 0,
        "worker": None,
        "created": "",
        "started": None,
        "ended": None,
        "progress": 0.0,
        "message": "",
        "result": None,
        "error_code": None,
        "error": None,
        "idempotency_key": None,
        "campaign": "c1",
    }
    assert type(job).from_json(job.as_json()) == job


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"type": "ad"}, UnknownName, "Did you mean 'add'"),
        ({"payload": {"n": "1"}}, BadValue, "'n'.*valid integer"),
        ({"payload": {}}, BadValue, "'n'.*required"),
        ({"payload": {"n": 1, "m": 2}}, UnknownName, "payload field.*'m'"),
        ({"payload": {"n": math.nan}}, BadValue, "JSON"),
        ({"payload": {"n": 1, "note": "\ud800"}}, BadValue, "JSON"),
        ({"payload": [1]}, BadValue, "mapping"),
        ({"priority": "urgent"}, UnknownName, "priority"),
        ({"idempotency_key": ""}, BadValue, "printable"),
        ({"idempotency_key": "k" * 201}, BadValue, "200"),
        ({"idempotency_key": "a\x00b"}, BadValue, "printable"),
        ({"campaign": "../x"}, BadValue, "campaign"),
        ({"delay_s": -1}, BadValue, "delay"),
        ({"delay_s": math.inf}, BadValue, "delay"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name_and_stores_nothing(store, given, error, said):
    arguments = {"type": "add", "payload": {"n": 1}} | given
    with pytest.raises(error, match=said):
        store.submit(arguments.pop("type"), arguments.pop("payload"), **arguments)
    assert store.list() == []


def test_the_same_key_gives_the_same_job(store):
    first = store.submit("add", {"n": 1}, idempotency_key="k")
    again = store.submit("add", {"n": 1}, idempotency_key="k")
    assert again == Accepted(first.job_id, Status.QUEUED, 1, [], existed=True)
    other = store.submit("add", {"n": 2}, idempotency_key="k")
    assert (other.job_id, other.existed) == (first.job_id, True)
    assert other.warnings == ["the first job with this key has another payload"]
    job = store.claim("w1")
    store.complete(job.id, "w1", job.fence, {})
    done = store.submit("add", {"n": 1}, idempotency_key="k")
    assert (done.job_id, done.status, done.queue_position) == (first.job_id, Status.DONE, 0)
    with pytest.raises(Conflict, match="belongs to a 'add' job"):
        store.submit("once", {"n": 1}, idempotency_key="k")
    assert len(store.list()) == 1


def test_a_full_queue_refuses_with_its_figures(store):
    store.submit("narrow", {"n": 0})
    store.claim("w1")
    for n in (1, 2):
        store.submit("narrow", {"n": n}, idempotency_key=f"k{n}")
    with pytest.raises(Refused, match="queue of 'narrow' jobs is full") as caught:
        store.submit("narrow", {"n": 3})
    assert caught.value.as_json() == {
        "accepted": False,
        "reason": "queue_full",
        "message": str(caught.value),
        "pending": 2,
        "running": 1,
        "max_pending": 2,
        "max_running": 1,
        "retry_after_sec": 60,
    }
    assert len(store.list()) == 3
    # Asking again for a job that was accepted is no new job.
    assert store.submit("narrow", {"n": 1}, idempotency_key="k1").existed


def test_other_types_warn_or_allow_when_full(store):
    assert store.submit("warned", {"n": 1}).warnings == []
    assert "1 wait" in store.submit("warned", {"n": 2}).warnings[0]
    assert [store.submit("open", {"n": n}).warnings for n in range(3)] == [[], [], []]


def test_the_place_in_the_queue_counts_who_goes_first(store):
    assert store.submit("add", {"n": 1}).queue_position == 1
    assert store.submit("open", {"n": 2}).queue_position == 2
    assert store.submit("add", {"n": 3}, priority="high").queue_position == 1
    assert store.submit("add", {"n": 4}, priority="idle").queue_position == 4


def test_a_submission_inside_a_transaction_shares_its_fate(store, engine):
    with pytest.raises(RuntimeError), db.transaction(engine) as connection:
        store.submit("add", {"n": 1}, connection=connection)
        raise RuntimeError("stop")
    assert store.list() == []
    with db.transaction(engine) as connection:
        store.submit("add", {"n": 1}, connection=connection)
    assert [job.payload["n"] for job in store.list()] == [1]
