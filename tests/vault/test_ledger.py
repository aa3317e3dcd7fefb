"""The ledger: rows, best values, adoption, and the copy in the checkpoint's folder."""

import pytest

from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import UnknownName
from levelcap.kit.files import read_json
from levelcap.kit.paths import folder
from levelcap.kit.publish import LEDGER_FILE, verify
from levelcap.vault.assets import find, place_of
from levelcap.vault.ledger import Facts, adopt_orphans, get_ledger, rate, save, write_beside
from levelcap.vault.zones import load_zones
from tests.vault.made import entered, snapshot


def test_a_row_has_what_the_folder_and_its_maker_say(realm):
    entry = entered(realm, 7, train_loss=0.25, campaign="c1", total_examples_trained=70)
    found = get_ledger(realm.engine).get(entry.id)
    assert found == entry
    assert (found.step, found.train_loss, found.campaign) == (7, 0.25, "c1")
    assert found.canonical_name.startswith("checkpoint-7-")
    assert found.parents == ("parent",) and found.created_by == "test"
    assert found.size_bytes > 0 and len(found.sha256) == 64


def test_the_same_folder_twice_is_one_row(realm):
    entry = entered(realm, 7)
    with reading(realm.engine) as connection:
        place = place_of(find(connection, entry.id))
    with transaction(realm.engine) as connection:
        again = save(connection, place, Facts(step=99, hero="kestrel"), load_zones()["hot"])
    assert again == entry
    assert get_ledger(realm.engine).count() == 1


def test_best_follows_the_metrics_direction(realm):
    rows = [entered(realm, n, train_loss=loss) for n, loss in ((1, 0.5), (2, 0.2), (3, 0.4))]
    with transaction(realm.engine) as connection:
        for row, elo in zip(rows, (1000.0, 900.0, 1100.0), strict=True):
            rate(connection, row.id, (elo, elo - 10, elo + 10))
    ledger = get_ledger(realm.engine)
    assert ledger.get_best(metric="train_loss").step == 2
    assert ledger.get_best("elo").step == 3
    assert ledger.get_best("accuracy") is None
    with pytest.raises(UnknownName, match="elo_low"):
        ledger.get_best("elo_lo")


def test_pages_go_backwards_without_gaps(realm):
    rows = [entered(realm, n) for n in range(1, 8)]
    ledger = get_ledger(realm.engine)
    first = ledger.list(limit=3)
    second = ledger.list(limit=3, before=first[-1].seq)
    third = ledger.list(limit=3, before=second[-1].seq)
    assert [e.step for e in (*first, *second, *third)] == [7, 6, 5, 4, 3, 2, 1]
    assert {e.id for e in rows} == {e.id for e in (*first, *second, *third)}


def test_a_snapshot_without_a_row_is_adopted_once_and_a_damaged_one_never(realm):
    good = snapshot(folder("runs") / "r" / "snapshots" / "step-000000000001")
    bad = snapshot(folder("runs") / "r" / "snapshots" / "step-000000000002", value=2.0)
    (bad / "model.safetensors").write_bytes(b"x" * (bad / "model.safetensors").stat().st_size)
    facts = Facts(step=1, hero="kestrel")
    assert len(adopt_orphans(realm.engine, [good, bad], lambda place: facts)) == 1
    assert adopt_orphans(realm.engine, [good, bad], lambda place: facts) == []
    assert get_ledger(realm.engine).count() == 1


def test_the_row_lies_in_the_folder_and_is_no_part_of_its_content(realm):
    entry = entered(realm, 3)
    with reading(realm.engine) as connection:
        place = place_of(find(connection, entry.id))
    write_beside(place, entry)
    assert read_json(place / LEDGER_FILE)["step"] == 3
    verify(place)
    (place / "other.json").write_text("{}")
    with pytest.raises(Exception, match="extra"):
        verify(place)


def test_an_unknown_checkpoint_is_named_with_those_there_are(realm):
    entry = entered(realm, 3)
    with pytest.raises(UnknownName, match=entry.id):
        get_ledger(realm.engine).get("checkpoint-nonesuch")


def test_a_perfect_record_is_shown_as_a_bound(realm):
    row = entered(realm, 1)
    ledger = get_ledger(realm.engine)
    assert ledger.get(row.id).elo_text() == ""
    for bound, shown in (("", "1000 (900 to 1150)"), (">", "> 900"), ("<", "< 1150")):
        with transaction(realm.engine) as connection:
            rate(connection, row.id, (1000.0, 900.0, 1150.0), bound)
        assert ledger.get(row.id).elo_text() == shown
