"""The champion: promoted after its bytes were read, rolled back in one call."""

import pytest

from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import Conflict, Corrupt, UnknownName
from levelcap.trials.gate import judge_elo
from levelcap.trials.verdict import Override
from levelcap.vault.ask import resolve
from levelcap.vault.assets import find, place_of
from levelcap.vault.champion import champion_of, history, promote, roll_back
from levelcap.vault.retention import remove_checkpoint
from levelcap.vault.schema import add_verdicts
from tests.vault.made import entered


def champion(realm):
    with reading(realm.engine) as connection:
        found = champion_of(connection, "kestrel")
    return None if found is None else found.checkpoint


def test_promotions_follow_each_other_and_roll_back_one_by_one(realm):
    a, b, c = (entered(realm, n).id for n in (1, 2, 3))
    for checkpoint in (a, b, c):
        promote(realm.engine, checkpoint, Override("test", "test"))
    assert champion(realm) == c
    assert roll_back(realm.engine, "kestrel").checkpoint == b
    assert roll_back(realm.engine, "kestrel").checkpoint == a
    promote(realm.engine, c, Override("again", "test"))
    with reading(realm.engine) as connection:
        assert [line.checkpoint for line in history(connection, "kestrel")] == [c, a]
    assert resolve(realm.engine, "champion").id == c
    roll_back(realm.engine, "kestrel")
    assert roll_back(realm.engine, "kestrel") is None
    with pytest.raises(Conflict, match="no champion"):
        roll_back(realm.engine, "kestrel")


def test_a_damaged_checkpoint_is_not_promoted(realm):
    entry = entered(realm, 1)
    with reading(realm.engine) as connection:
        place = place_of(find(connection, entry.id))
    data = bytearray((place / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (place / "model.safetensors").write_bytes(data)
    with pytest.raises(Corrupt, match="sha256"):
        promote(realm.engine, entry.id, Override("test", "test"))
    assert champion(realm) is None
    with reading(realm.engine) as connection:
        assert find(connection, entry.id).status == "damaged"


def test_the_champion_cannot_be_promoted_twice_nor_removed(realm):
    entry = entered(realm, 1)
    promote(realm.engine, entry.id, Override("test", "test"))
    with pytest.raises(Conflict, match="already"):
        promote(realm.engine, entry.id, Override("test", "test"))
    with pytest.raises(Conflict, match="not removed"):
        remove_checkpoint(realm.engine, entry.id)


def test_a_removed_checkpoint_is_refused_by_name(realm):
    entry = entered(realm, 1)
    entered(realm, 2)
    remove_checkpoint(realm.engine, entry.id)
    with pytest.raises(Corrupt, match="was removed"):
        promote(realm.engine, entry.id, Override("test", "test"))
    with pytest.raises(UnknownName):
        promote(realm.engine, "checkpoint-of-nobody", Override("test", "test"))


def test_every_champion_has_the_decision_it_was_made_by(realm):
    a, b, c = (entered(realm, n).id for n in (1, 2, 3))
    first = promote(realm.engine, a, judge_elo(a, (1200.0, 1100.0, 1300.0)))
    assert first.verdict["kind"] == "panel" and "provisional" in first.reason
    second = promote(realm.engine, b, Override("it plays nicer", "somebody"))
    override = {"reason": "it plays nicer", "who": "somebody"}
    assert second.verdict == {"version": 1, "override": override}
    unsure = judge_elo(c, (1210.0, 1100.0, 1300.0), b, (10.0, -50.0, 70.0))
    stale = judge_elo(c, (1400.0, 1300.0, 1500.0), a, (200.0, 150.0, 250.0))
    for verdict in (unsure, stale):
        with pytest.raises(Conflict):
            promote(realm.engine, c, verdict)
    assert champion(realm) == b


def test_champions_of_before_keep_their_place_and_say_so(realm):
    entry = entered(realm, 1)
    promote(realm.engine, entry.id, Override("test", "test"))
    with transaction(realm.engine) as connection:  # a database of the version before
        connection.execute("ALTER TABLE champions DROP COLUMN verdict")
        add_verdicts(connection)
        line = champion_of(connection, "kestrel")
    assert line.checkpoint == entry.id
    assert line.verdict["override"]["reason"] == "before verdicts"
