"""A waiting job moves among those that wait; others do not."""

import pytest

from levelcap.jobs.job import Status
from levelcap.jobs.priority import set_priority
from levelcap.kit.errors import Conflict, UnknownName


def test_a_moved_job_is_claimed_first_and_its_history_says_so(store):
    first, second = (store.submit("add", {"n": n}).job_id for n in (1, 2))
    moved = set_priority(store, second, "critical")
    assert (moved.priority, moved.status) == ("critical", Status.QUEUED)
    assert [event["kind"] for event in store.events(second)] == ["submitted", "prioritised"]
    assert store.events(second)[-1]["detail"] == {"priority": "critical"}
    assert [store.claim("w1").id, store.claim("w2").id] == [second, first]


def test_only_a_waiting_job_moves(store):
    job = store.submit("add", {"n": 1}).job_id
    store.claim("w1")
    with pytest.raises(Conflict, match="running"):
        set_priority(store, job, "low")
    with pytest.raises(UnknownName, match="priority"):
        set_priority(store, job, "soon")
