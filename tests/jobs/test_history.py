from datetime import UTC, datetime, timedelta

import pytest

from levelcap.jobs.store import Store
from levelcap.kit import db
from levelcap.kit.errors import BadValue, UnknownName
from tests.jobs.tables import TYPES


def finish(store, count):
    for n in range(count):
        store.submit("add", {"n": n})
        job = store.claim("w1")
        store.complete(job.id, "w1", job.fence, {})


def age_all(engine, days):
    moment = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds")
    with db.transaction(engine) as connection:
        connection.execute("UPDATE jobs SET ended = :m WHERE ended IS NOT NULL", {"m": moment})
        connection.execute("UPDATE workers SET seen = :m", {"m": moment})


def test_pages_follow_each_other_without_gap_or_repeat(store):
    for n in range(7):
        store.submit("add", {"n": n})
    pages, before = [], None
    while page := store.list(limit=3, before=before):
        pages.append([job.payload["n"] for job in page])
        before = page[-1].id
        store.submit("add", {"n": 99})  # what is added meanwhile does not shift the pages
    assert pages == [[6, 5, 4], [3, 2, 1], [0]]


def test_a_list_can_ask_for_one_status_and_one_type(store):
    finish(store, 2)
    store.submit("open", {"n": 5})
    store.submit("add", {"n": 6})
    assert [j.payload["n"] for j in store.list(status="done")] == [1, 0]
    assert [j.payload["n"] for j in store.list(status="queued", type="open")] == [5]


def test_wrong_questions_are_refused(store):
    with pytest.raises(UnknownName, match="status"):
        store.list(status="finished")
    for limit in (0, 1001):
        with pytest.raises(BadValue, match="1–1000"):
            store.list(limit=limit)
    with pytest.raises(UnknownName, match="no such job"):
        store.get("job-0")
    for wrong in ("../x", "\ud800", ""):
        with pytest.raises(BadValue, match="job name"):
            store.get(wrong)
    with pytest.raises(UnknownName, match="no such job"):
        store.list(before="job-0")


def test_stats_count_and_tell_how_long_the_oldest_waits(store, hand, engine):
    assert store.stats()["oldest_queued_s"] is None
    finish(store, 2)
    store.submit("open", {"n": 1})
    hand.pass_s(7)
    store.submit("open", {"n": 2}, delay_s=100)
    stats = store.stats()
    assert stats["types"]["add"] == {"done": 2}
    assert stats["types"]["open"] == {"queued": 2}
    assert (stats["status"]["done"], stats["status"]["dead"], stats["open"]) == (2, 0, 2)
    assert stats["oldest_queued_s"] == 7.0
    hand.boot_id, hand.seconds = "boot-2", 40.0
    assert Store(engine, TYPES, hand.clock()).stats()["oldest_queued_s"] == 40.0


def test_events_carry_their_order_worker_and_fence(store):
    finish(store, 1)
    job = store.list()[0]
    found = [(e["kind"], e["worker"], e["fence"]) for e in store.events(job.id)]
    assert found == [("submitted", None, 0), ("claimed", "w1", 1), ("completed", "w1", 1)]


def test_a_purge_takes_old_final_jobs_with_their_events_and_keeps_the_newest(store, engine, hand):
    finish(store, 5)
    store.submit("add", {"n": 5})
    age_all(engine, 8)
    assert store.purge(9, keep=0) == 0
    assert store.purge(7, keep=3) == 3
    assert [job.payload["n"] for job in store.list()] == [5, 4, 3]
    with db.reading(engine) as connection:
        orphans = "SELECT count(*) FROM job_events WHERE job_id NOT IN (SELECT id FROM jobs)"
        assert connection.execute(orphans).scalar() == 0
    assert store.purge(7, keep=0, limit=1) == 1
    assert store.purge(7, keep=0) == 1
    assert [job.payload["n"] for job in store.list()] == [5]
    assert len(store.workers()) == 2  # by the date they are old, but they were heard just now
    hand.pass_s(31)
    store.purge(7, keep=0)
    assert store.workers() == []
    with pytest.raises(BadValue):
        store.purge(-1)
