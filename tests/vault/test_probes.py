"""Nothing is entered or promoted that has never worked; what has worked is not asked again."""

import pytest

from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import BadFile
from levelcap.kit.paths import folder
from levelcap.trials.verdict import Override
from levelcap.vault import archive, probes
from levelcap.vault.archive import pack, unpack
from levelcap.vault.champion import champion_of, promote
from levelcap.vault.ledger import get_ledger
from tests.play.test_probe import ARENA, arena, crafted, text
from tests.services.oracles import net_in_vault
from tests.vault.made import entered
from tests.vault.test_archive import files_in, made_tar


def packed(place, target):
    return made_tar(target, {p.name: p.read_bytes() for p in place.iterdir()})


@pytest.fixture
def asked(monkeypatch):
    """Every probe that is made."""
    made = []

    def note(place):
        made.append(place)
        probes_probe(place)

    probes_probe = probes.probe
    for module in (probes, archive):
        monkeypatch.setattr(module, "probe", note)
    return made


def test_a_crafted_archive_leaves_no_row_and_no_file(realm, tmp_path):
    bad = crafted(arena(tmp_path / "good"), tmp_path / "bad", **ARENA["wrong shape"])
    with pytest.raises(BadFile, match=r"policy\.weight"):
        unpack(realm.engine, packed(bad, tmp_path / "bad.tar"), "kestrel")
    assert get_ledger(realm.engine).count() == 0 and files_in(folder("vault")) == []


def test_a_good_one_is_tried_once(realm, tmp_path, asked):
    tar = packed(arena(tmp_path / "good"), tmp_path / "good.tar")
    entry = unpack(realm.engine, tar, "kestrel")
    assert unpack(realm.engine, tar, "kestrel").id == entry.id
    promote(realm.engine, entry.id, Override("test", "test"))
    assert len(asked) == 1


def test_a_net_of_the_other_kind_is_refused_before_it_is_tried(realm, tmp_path, asked):
    tar = packed(text(tmp_path / "text"), tmp_path / "text.tar")
    with pytest.raises(BadFile, match="other kind"):
        unpack(realm.engine, tar, "kestrel")
    assert asked == []
    assert unpack(realm.engine, tar, "dio-tiny", reads=True).role == "text"


def test_a_checkpoint_that_never_worked_is_probed_when_promoted(realm):
    entry = entered(realm, 1, probed=False)  # not the tensors its description needs
    with pytest.raises(BadFile, match="does not work"):
        promote(realm.engine, entry.id, Override("test", "test"))
    with reading(realm.engine) as connection:
        assert champion_of(connection, "kestrel") is None


def test_what_was_judged_before_there_were_probes_has_worked(realm, asked):
    entry, _ = net_in_vault(realm.engine, 1)
    other, _ = net_in_vault(realm.engine, 2)
    with transaction(realm.engine) as connection:
        connection.execute("DROP TABLE probes")
        connection.execute(
            "INSERT INTO evals (checkpoint, kind, time, seed, result)"
            f" VALUES ('{entry.id}', 'quick', 'x', 0, '{{}}')"
        )
        from levelcap.vault.schema import create_probes

        create_probes(connection)
        assert probes.has_passed(connection, entry.sha256)
        assert not probes.has_passed(connection, other.sha256)


def test_a_pack_is_what_unpack_takes(realm, tmp_path):
    entry, _ = net_in_vault(realm.engine, 1)
    assert unpack(realm.engine, pack(realm.engine, entry.id, tmp_path / "a.tar"), "kestrel")
