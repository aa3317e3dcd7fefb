"""Strongholds, backups, locked settings, and asking the vault first."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from levelcap.kit.db import open_db, reading, transaction
from levelcap.kit.errors import BadFile, BadValue, Conflict, Corrupt, UnknownName
from levelcap.kit.files import write_json
from levelcap.kit.paths import folder, get_base_dir
from levelcap.vault.ask import ask_vault_first, resolve
from levelcap.vault.assets import find, place_of, verify_asset
from levelcap.vault.backups import age_s, back_up, list_backups, superfluous
from levelcap.vault.ledger import rate
from levelcap.vault.locks import check_change
from levelcap.vault.zones import load_zones
from tests.vault.made import entered


def test_the_default_zone_is_the_realm_itself(home):
    zones = load_zones()
    assert list(zones) == ["hot"] and zones["hot"].root == get_base_dir()
    assert zones["hot"].place("runs/a") == home.resolve() / "runs" / "a"
    for path in ("../x", "/etc/passwd", "runs/../../x"):
        with pytest.raises(BadValue, match="leaves it"):
            zones["hot"].place(path)


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"zones": []},
        {"zones": [{"zone_id": "hot"}]},
        {"zones": [{"zone_id": "lukewarm", "root": ".", "kind": "local"}]},
        {"zones": [{"zone_id": "warm", "root": ".", "kind": "local"}]},
        {"zones": [{"zone_id": "hot", "root": ".", "kind": "s3"}]},
    ],
)
def test_a_bad_zones_file_is_refused(document, home):
    write_json(folder("config") / "storage_zones.json", document)
    with pytest.raises((BadFile, UnknownName)):
        load_zones()


def test_names_people_use(realm):
    rows = [entered(realm, n) for n in (10, 20)]
    with transaction(realm.engine) as connection:
        rate(connection, rows[0].id, (1500.0, 1400.0, 1600.0))
    assert resolve(realm.engine, "latest").step == 20
    assert resolve(realm.engine, "best").step == 10
    assert resolve(realm.engine, "checkpoint_10").id == rows[0].id
    assert resolve(realm.engine, rows[1].canonical_name).step == 20
    with pytest.raises(UnknownName):
        resolve(realm.engine, "champion")
    place = ask_vault_first("checkpoint_20", engine=realm.engine)
    assert (place / "model.safetensors").exists()


def test_the_fallback_serves_only_what_the_vault_does_not_know(realm, tmp_path):
    assert ask_vault_first("checkpoint_9", fallback=tmp_path, engine=realm.engine) == tmp_path
    with pytest.raises(UnknownName):
        ask_vault_first("checkpoint_9", engine=realm.engine)


def test_another_stronghold_is_asked_and_its_copy_checked(realm, tmp_path):
    entry = entered(realm, 1)
    with reading(realm.engine) as connection:
        place = place_of(find(connection, entry.id))
    cold = tmp_path / "cold"
    cold.mkdir()
    place.rename(cold / "kept")
    rows = [
        {"zone_id": "hot", "root": ".", "kind": "local"},
        {"zone_id": "cold", "root": str(cold), "kind": "local"},
    ]
    write_json(folder("config") / "storage_zones.json", {"zones": rows})
    with pytest.raises(Corrupt, match="no stronghold"):
        ask_vault_first(entry.id, engine=realm.engine)
    with transaction(realm.engine) as connection:
        connection.execute("INSERT INTO locations VALUES (?, 'cold', 'kept', 'now')", (entry.id,))
    fetched = ask_vault_first(entry.id, engine=realm.engine)
    assert fetched.parent == folder("vault") / "cache"
    (fetched / "meta.json").write_text("{}")
    with pytest.raises(Corrupt):
        ask_vault_first(entry.id, engine=realm.engine)


def test_verifying_writes_down_what_was_found(realm):
    entry = entered(realm, 1)
    assert verify_asset(realm.engine, entry.id).verified is not None
    with reading(realm.engine) as connection:
        place = place_of(find(connection, entry.id))
    (place / "meta.json").unlink()
    with pytest.raises(Corrupt, match="missing file"):
        verify_asset(realm.engine, entry.id)
    with reading(realm.engine) as connection:
        assert find(connection, entry.id).status == "damaged"


def test_backups_are_usable_databases_and_old_ones_go(realm):
    entered(realm, 1)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for hour in range(60):
        path = back_up(realm.engine, at=start + timedelta(hours=hour))
    assert age_s(start + timedelta(hours=60)) == 3600
    assert len(list_backups()) == 24 + 1  # the newest 24 reach into day two; day one keeps one
    copy = open_db(path)
    with reading(copy) as connection:
        assert connection.execute("SELECT count(*) FROM ledger").scalar_one() == 1
    copy.dispose()


def test_thinning_keeps_the_newest_and_one_a_day():
    names = [
        f"realm-202601{day:02d}-{hour:02d}0000-hourly.db"
        for day in range(1, 21)
        for hour in range(24)
    ]
    copies = [Path(name) for name in names]
    left = [p.name for p in copies if p not in superfluous(copies)]
    assert left[-24:] == names[-24:]
    assert left[:-24] == [f"realm-202601{day:02d}-230000-hourly.db" for day in range(14, 20)]


def test_locked_settings_need_an_approval():
    before = {"max_length": 128, "lr": 1}
    assert check_change(before, {"max_length": 128, "lr": 2}) == ["lr"]
    with pytest.raises(Conflict, match="--approve max_length"):
        check_change(before, {"max_length": 256, "lr": 1})
    assert check_change(before, {"max_length": 256}, ["max_length"]) == ["lr", "max_length"]
    assert check_change({}, {"max_length": 256}) == ["max_length"]  # set for the first time
