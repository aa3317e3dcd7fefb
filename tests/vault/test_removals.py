"""Removals wait, can be taken back, and are carried out once their time is over."""

from datetime import UTC, datetime, timedelta

import pytest

from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import BadValue, Conflict
from levelcap.trials.verdict import Override
from levelcap.vault import champion, removals
from levelcap.vault.assets import find, place_of
from levelcap.vault.ledger import amend, get_ledger
from tests.vault.made import entered

LATER = timedelta(seconds=31)


def place(realm, checkpoint):
    with reading(realm.engine) as connection:
        return place_of(find(connection, checkpoint))


def test_nothing_changes_until_the_time_is_over(realm):
    entry = entered(realm, 1)
    folder = place(realm, entry.id)
    removals.schedule(realm.engine, entry.id, 30)
    assert removals.carry_out_due(realm.engine) == {}
    assert folder.is_dir() and get_ledger(realm.engine).get(entry.id).retired is None
    assert removals.carry_out_due(realm.engine, datetime.now(UTC) + LATER) == {entry.id: None}
    assert not folder.exists() and get_ledger(realm.engine).get(entry.id).retired is not None
    with reading(realm.engine) as connection:
        assert removals.waiting(connection) == {}


def test_a_removal_is_taken_back_once(realm):
    entry = entered(realm, 1)
    removals.schedule(realm.engine, entry.id, 30)
    removals.take_back(realm.engine, entry.id)
    assert removals.carry_out_due(realm.engine, datetime.now(UTC) + LATER) == {}
    assert place(realm, entry.id).is_dir()
    with pytest.raises(Conflict, match="does not wait"):
        removals.take_back(realm.engine, entry.id)


def test_champions_and_pinned_ones_are_refused_at_once(realm):
    entry, pinned = entered(realm, 1), entered(realm, 2)
    champion.promote(realm.engine, entry.id, Override("test", "test"))
    with transaction(realm.engine) as connection:
        amend(connection, pinned.id, pinned=1)
    with pytest.raises(Conflict, match="a champion is not removed"):
        removals.schedule(realm.engine, entry.id, 30)
    with pytest.raises(Conflict, match="Unpin it first"):
        removals.schedule(realm.engine, pinned.id, 30)
    with pytest.raises(BadValue, match="waits 0 to"):
        removals.schedule(realm.engine, pinned.id, -1)


def test_one_that_became_champion_meanwhile_stays_and_says_why(realm):
    entry = entered(realm, 1)
    removals.schedule(realm.engine, entry.id, 30)
    champion.promote(realm.engine, entry.id, Override("test", "test"))
    ends = removals.carry_out_due(realm.engine, datetime.now(UTC) + LATER)
    assert "a champion is not removed" in ends[entry.id]
    assert place(realm, entry.id).is_dir()


def test_pages_are_sorted_by_any_column_with_unknown_values_last(realm):
    rows = [entered(realm, n, train_loss=loss) for n, loss in ((1, 0.5), (2, None), (3, 0.1))]
    ledger = get_ledger(realm.engine)
    assert [e.step for e in ledger.page("train_loss", descending=False)] == [3, 1, 2]
    assert [e.step for e in ledger.page("train_loss")] == [1, 3, 2]
    assert [e.step for e in ledger.page(offset=1, limit=1)] == [2]
    assert len(rows) == 3
