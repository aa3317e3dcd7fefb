"""Retention keeps what must stay, and finishes what a kill broke off."""

from datetime import UTC, datetime, timedelta

from levelcap.kit.db import reading, transaction
from levelcap.kit.publish import MANIFEST
from levelcap.trials.verdict import Override
from levelcap.vault.assets import find, place_of
from levelcap.vault.champion import promote
from levelcap.vault.ledger import amend, get_ledger, rate
from levelcap.vault.retention import carry_out, finish_removals, plan_retention, remove_checkpoint
from tests.vault.made import entered

LATER = datetime.now(UTC) + timedelta(days=30)


def place(realm, checkpoint):
    with reading(realm.engine) as connection:
        return place_of(find(connection, checkpoint))


def test_what_must_stay_stays(realm):
    rows = [entered(realm, n, campaign="c", base=n == 5) for n in range(1, 31)]
    with transaction(realm.engine) as connection:
        for n, row in enumerate(rows):
            rate(connection, row.id, (1000.0 + (500 if n == 7 else n), 900.0, 1600.0))
        amend(connection, rows[9].id, pinned=1)
        connection.execute("UPDATE ledger SET timestamp = '2026-01-01T00:00:00.000+00:00'")
    promote(realm.engine, rows[2].id, Override("test", "test"))
    plan = plan_retention(realm.engine, keep=4, at=LATER)
    reasons = {row.id: plan.protected.get(row.id) for row in rows}
    assert reasons[rows[2].id] == "champion"
    assert reasons[rows[4].id] == "base model"
    assert reasons[rows[7].id] == "best"
    assert reasons[rows[9].id] == "pinned"
    assert reasons[rows[29].id] == "latest"
    gone = {entry.step for entry in plan.remove}
    assert gone == set(range(1, 31)) - {3, 5, 8, 10, 27, 28, 29, 30}
    assert len(carry_out(realm.engine, plan)) == 22
    assert {e.step for e in get_ledger(realm.engine).list(limit=100)} == {
        *(3, 5, 8, 10, 27, 28, 29, 30)
    }


def test_nothing_of_the_last_36_hours_goes(realm):
    for n in range(1, 30):
        entered(realm, n, campaign="c")
    assert plan_retention(realm.engine, keep=1).remove == []
    assert plan_retention(realm.engine, keep=1, at=LATER).remove != []


def test_one_a_day_stays(realm):
    rows = [entered(realm, n, campaign="c") for n in range(1, 13)]
    with transaction(realm.engine) as connection:
        for n, row in enumerate(rows):
            stamp = f"2026-01-{1 + n // 4:02d}T00:00:00.000+00:00"
            values = {"t": stamp, "i": row.id}
            connection.execute("UPDATE ledger SET timestamp = :t WHERE id = :i", values)
    left = {1, *range(1, 13)} - {e.step for e in plan_retention(realm.engine, 1, LATER).remove}
    assert left == {4, 8, 12}


def test_a_removal_that_was_broken_off_is_finished_at_the_next_start(realm):
    entry, other = entered(realm, 1), entered(realm, 2)
    folder = place(realm, entry.id)
    with transaction(realm.engine) as connection:  # killed right after the ledger's part
        values = {"t": "2026-01-01", "i": entry.id}
        connection.execute("UPDATE ledger SET retired = :t WHERE id = :i", values)
    assert (folder / MANIFEST).exists()
    assert finish_removals(realm.engine) == [entry.id]
    assert not folder.exists() and place(realm, entry.id) is None
    assert place(realm, other.id) is not None
    assert finish_removals(realm.engine) == []


def test_a_removed_checkpoint_keeps_its_row(realm):
    entry = entered(realm, 1)
    entered(realm, 2)
    remove_checkpoint(realm.engine, entry.id)
    ledger = get_ledger(realm.engine)
    assert [e.step for e in ledger.list()] == [2]
    assert ledger.get(entry.id).retired is not None
