"""P14 and P15: a busy database is nobody's problem, and overload is refused."""

import time

import pytest

from levelcap.jobs.store import Store
from levelcap.kit import db
from tests.trust import roles
from tests.trust.kills import Crowd

pytestmark = [pytest.mark.trust, pytest.mark.timeout(600)]

SECONDS = 70
HOLD_S = 5.0
START_S = 8.0
SUBMISSIONS = 20_000
FLOODERS = 4


def hold_lock(crowd, seconds):
    """What a careless program would do: open a transaction and think."""
    with db.transaction(crowd.engine) as connection:
        connection.execute("UPDATE workers SET host = host")
        time.sleep(seconds)


def wait_for(crowd, role, limit_s):
    for slot in crowd.slots(role):
        crowd.processes[slot].join(limit_s)


def p99_ms(seconds):
    """The 99th percentile in ms."""
    return 1000 * sorted(seconds)[int(0.99 * len(seconds))]


@pytest.mark.alone
def test_64_workers_pages_and_a_held_lock_meet_no_error_and_wait_little(tmp_path, figures):
    """No call can beat a held lock: the percentiles leave out the calls that met it, and the first
    seconds, in which 64 interpreters start on a few cores. The rush right after it counts.

    What met the lock has to wait and succeed; how long after the lock the last of these was
    served is a figure of its own. Claims that found nothing are left out: they take no lock and
    would only flatter. A heartbeat is what a worker's own thread asks: still alive, lease renewed.
    """
    crew = {roles.toil: 64, roles.look: 2, roles.feed: 1}
    with Crowd(tmp_path, crew, lease_s=30.0, work_s=(0.2, 1.0), number=SECONDS) as crowd:
        all_there = time.monotonic() + START_S
        time.sleep(SECONDS / 3)
        held_from = time.monotonic()
        hold_lock(crowd, HOLD_S)
        held_to = time.monotonic()
        for role in crew:
            wait_for(crowd, role, 300)
        notes, said = [note.split() for note in crowd.notes()], crowd.said()
    errors = [note for note in notes if note[0] == "error"]
    calls = [
        (kind, float(took), float(at), *rest) for kind, took, at, *rest in notes if kind != "error"
    ]
    free = [c for c in calls if c[2] > held_to or all_there < c[2] < held_from - c[1]]
    claim = p99_ms([c[1] for c in free if c[0] == "claim" and c[3] == "got"])
    heartbeat = p99_ms([c[1] for c in free if c[0] in ("heartbeat", "renew")])
    every_claim = [c[1] for c in calls if c[0] == "claim"]
    served = max(c[1] + c[2] - held_to for c in calls if held_from < c[2] < held_to)
    figure = (
        f"64 workers, {len(every_claim):,} claims, pages, a lock held {HOLD_S:.0f} s: {len(errors)}"
        f" errors, all served {served:.1f} s after it; p99 claim {claim:.0f} ms (of all, the hold"
        f" included: {p99_ms(every_claim):.0f}), heartbeat {heartbeat:.0f} ms"
    )
    kept = not errors and claim <= 250 and heartbeat <= 100
    figures.add(
        "P14",
        figure,
        kept,
        locked=len(errors),
        claims_p99_ms=round(claim, 1),
        heartbeat_p99_ms=round(heartbeat, 1),
    )
    assert (errors, said) == ([], "")
    assert claim <= 250
    assert heartbeat <= 100


def test_an_impatient_queue_is_told_locked(tmp_path, figures):
    crew = {roles.toil: 8, roles.feed: 1}
    with Crowd(tmp_path, crew, mutant="impatient", work_s=(0.1, 0.2), number=9) as crowd:
        time.sleep(5)
        hold_lock(crowd, 2.0)
        wait_for(crowd, roles.toil, 60)
        errors = [n for n in crowd.notes() if n.startswith("error")]
    figure = f"impatient: {len(errors)} errors seen while a lock was held for 2 s"
    figures.add("P14 mutation", figure, bool(errors), mutants_caught=int(bool(errors)))
    assert any("locked" in error for error in errors)


def flood(crowd):
    """Lets the flooders finish; returns accepted, refused, the most seen waiting, and stored."""
    wait_for(crowd, roles.flood, 500)
    counts = [[int(word) for word in note.split()] for note in crowd.notes()]
    assert len(counts) == FLOODERS
    accepted, refused = (sum(row[i] for row in counts) for i in (0, 1))
    with db.reading(crowd.engine) as connection:
        stored = connection.execute("SELECT count(*) FROM jobs").scalar()
    return accepted, refused, max(row[2] for row in counts), stored


def test_a_flood_is_refused_exactly_above_the_limit(tmp_path, figures):
    number = SUBMISSIONS // FLOODERS
    limit = roles.TYPES["flood"].max_pending
    with Crowd(tmp_path, {roles.flood: FLOODERS}, type="flood", number=number) as crowd:
        accepted, refused, _, stored = flood(crowd)
    figure = (
        f"{SUBMISSIONS:,} submissions at limit {limit:,}: {stored:,} stored, {refused:,} refused"
    )
    kept = (accepted, refused, stored) == (limit, SUBMISSIONS - limit, limit)
    figures.add("P15", figure, kept, submissions=SUBMISSIONS, refused=refused)
    assert (accepted, refused, stored) == (limit, SUBMISSIONS - limit, limit)


def drain_while_flooded(tmp_path, mutant):
    """Takes jobs off a queue of 5 while four processes fill it; returns the most seen waiting."""
    told = {"type": "puddle", "number": 300}
    with Crowd(tmp_path, {roles.flood: FLOODERS}, mutant=mutant, **told) as crowd:
        store = Store(crowd.engine, roles.TYPES)
        store.register("drain", "local_gpu_1", ["trainer"])
        while any(process.is_alive() for process in crowd.processes):
            if job := store.claim("drain"):
                store.complete(job.id, "drain", job.fence, {})
        return flood(crowd)[2]


def test_a_limit_looked_at_outside_the_transaction_is_seen_to_leak(tmp_path, figures):
    limit = roles.TYPES["puddle"].max_pending
    assert drain_while_flooded(tmp_path / "right", "") == limit
    peak = drain_while_flooded(tmp_path / "wrong", "loose_limit")
    figure = f"loose_limit: {peak} waiting at a limit of {limit} seen"
    figures.add("P15 mutation", figure, peak > limit, mutants_caught=int(peak > limit))
    assert peak > limit
