import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pysqlite3.dbapi2 as sqlite
import pytest

from levelcap.kit import db
from levelcap.kit import sqlite as kit_sqlite
from levelcap.kit.errors import (
    BadValue,
    Busy,
    Conflict,
    Corrupt,
    DatabaseFault,
    NoSpace,
    StateError,
)

WRITER = """
import sys
from pathlib import Path
from levelcap.kit import db

engine = db.open_db(Path(sys.argv[1]))
for _ in range(150):
    with db.transaction(engine) as c:
        n = c.execute("SELECT n FROM counter").scalar()
        c.execute("UPDATE counter SET n = :n", {"n": n + 1})
"""


def make_counter(connection):
    connection.execute("CREATE TABLE counter (n INTEGER NOT NULL)")
    connection.execute("INSERT INTO counter VALUES (0)")


def make_children(connection):
    connection.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
    connection.execute("CREATE TABLE child (p INTEGER REFERENCES parent (id))")


def broken_migration(connection):
    connection.execute("CREATE TABLE half (a INTEGER)")
    raise RuntimeError("stop")


@pytest.fixture
def engine(tmp_path):
    engine = db.open_db(tmp_path / "state" / "realm.db")
    yield engine
    engine.dispose()


def count(engine):
    with db.reading(engine) as connection:
        return connection.execute("SELECT n FROM counter").scalar()


def tables(engine):
    with db.reading(engine) as connection:
        query = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        return connection.execute(query).scalars()


def test_connections_are_set_up_for_safety(engine):
    with db.reading(engine) as connection:
        found = {
            name: connection.execute(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 10_000,
    }
    assert sqlite.sqlite_version_info >= (3, 51, 3)


def test_an_old_sqlite_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "sqlite_version_info", (3, 40, 1))
    with pytest.raises(StateError, match=r"3\.51\.3 or newer"):
        db.open_db(tmp_path / "x.db")


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "x.db").write_bytes(b"hello, this is text" * 100)
    with pytest.raises(Corrupt, match="not a usable database"):
        db.open_db(tmp_path / "x.db")


def test_a_transaction_commits_or_rolls_back_as_a_whole(engine):
    db.migrate(engine, [make_counter])
    with db.transaction(engine) as connection:
        connection.execute("UPDATE counter SET n = 1")
    with pytest.raises(RuntimeError, match="stop"), db.transaction(engine) as connection:
        connection.execute("UPDATE counter SET n = 2")
        raise RuntimeError("stop")
    assert count(engine) == 1


def test_foreign_keys_are_enforced(engine):
    db.migrate(engine, [make_children])
    with pytest.raises(DatabaseFault, match="FOREIGN KEY"), db.transaction(engine) as connection:
        connection.execute("INSERT INTO child VALUES (7)")


def test_reading_refuses_to_write_and_is_not_stopped_by_a_writer(engine):
    db.migrate(engine, [make_counter])
    with pytest.raises(StateError, match="readonly"), db.reading(engine) as connection:
        connection.execute("UPDATE counter SET n = 5")
    with db.transaction(engine) as writer:
        writer.execute("UPDATE counter SET n = 9")
        assert count(engine) == 0
    assert count(engine) == 9


def test_a_transaction_holds_the_write_lock_before_its_body_runs(engine):
    db.migrate(engine, [make_counter])
    with db.transaction(engine):
        other = sqlite.connect(str(engine.path), timeout=0, isolation_level=None)
        with pytest.raises(sqlite.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()


def test_two_processes_count_together_without_loss_or_locked(engine):
    db.migrate(engine, [make_counter])
    command = [sys.executable, "-c", WRITER, str(engine.path)]
    writers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for writer in writers:
        _, said = writer.communicate(timeout=120)
        assert (writer.returncode, said) == (0, "")
    assert count(engine) == 300


def test_a_lock_held_too_long_is_busy_and_a_lock_let_go_is_waited_for(engine, monkeypatch):
    db.migrate(engine, [make_counter])
    monkeypatch.setattr(kit_sqlite, "BUSY_TIMEOUT_MS", 50)
    quick = db.open_db(engine.path)
    held, let_go = threading.Event(), threading.Event()

    def hold():
        with db.transaction(engine):
            held.set()
            let_go.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(20)
    with pytest.raises(Busy, match="try again"), db.transaction(quick):
        raise AssertionError("the body ran without the lock")
    monkeypatch.setattr(kit_sqlite, "BUSY_ATTEMPTS", 100)
    threading.Timer(0.3, let_go.set).start()
    with db.transaction(quick) as connection:
        connection.execute("UPDATE counter SET n = 1")
    holder.join()
    quick.dispose()
    assert count(engine) == 1


def test_migrations_run_once_in_order_and_are_recorded_by_name(engine):
    assert db.migrate(engine, [make_counter]) == ["make_counter"]
    assert db.migrate(engine, [make_counter, make_children]) == ["make_children"]
    assert db.migrate(engine, [make_counter, make_children]) == []
    assert tables(engine) == ["child", "counter", "migrations", "parent"]


def test_a_failed_migration_leaves_no_trace_and_can_be_repeated(engine):
    with pytest.raises(RuntimeError, match="stop"):
        db.migrate(engine, [make_counter, broken_migration])
    assert tables(engine) == ["counter", "migrations"]
    assert db.migrate(engine, [make_counter, make_children]) == ["make_children"]


def test_a_database_of_a_newer_version_is_refused_untouched(engine):
    db.migrate(engine, [make_counter, make_children])
    with pytest.raises(Conflict, match="newer levelcap.*make_children"):
        db.migrate(engine, [make_counter])


def test_two_owners_keep_their_own_lists_in_one_database(engine):
    db.migrate(engine, [make_counter], scope="jobs")
    assert db.migrate(engine, [make_children], scope="vault") == ["make_children"]


def test_two_migrations_of_one_name_are_refused(engine):
    with pytest.raises(BadValue, match="must differ"):
        db.migrate(engine, [make_counter, make_counter])


def test_a_backup_is_a_whole_database_taken_while_in_use(engine, tmp_path):
    db.migrate(engine, [make_counter])
    target = tmp_path / "backup.db"
    for n in (1, 2):
        with db.transaction(engine) as connection:
            connection.execute("UPDATE counter SET n = :n", {"n": n})
        db.backup(engine, target)
    copy = db.open_db(target)
    assert count(copy) == 2
    copy.dispose()
    assert not list(tmp_path.glob(".tmp-*"))


def test_database_backup_and_log_are_their_owners_alone(tmp_path):
    from levelcap.kit.log import configure, get_logger

    engine = db.open_db(tmp_path / "a.db")
    db.migrate(engine, [])
    db.backup(engine, tmp_path / "b.db")
    configure(file=tmp_path / "c.log", console=False)
    get_logger("x").info("y")
    modes = {p.name: p.stat().st_mode & 0o777 for p in tmp_path.iterdir() if p.is_file()}
    engine.dispose()
    assert set(modes) >= {"a.db", "a.db-wal", "b.db", "c.log"} and set(modes.values()) == {0o600}


def test_rows_have_names_and_a_result_is_read_in_one_word(engine):
    db.migrate(engine, [make_children])
    with db.transaction(engine) as connection:
        connection.execute_many("INSERT INTO parent VALUES (:i)", [{"i": 3}, {"i": 5}])
        changed = connection.execute("UPDATE parent SET id = :n WHERE id = :i", {"i": 5, "n": 7})
        assert changed.rowcount == 1
        assert connection.execute("INSERT INTO parent VALUES (9)").lastrowid == 9
    with db.reading(engine) as connection:
        rows = connection.execute("SELECT id, id + 1 AS following, count(*) OVER () FROM parent")
        first, *_, last = rows.all()
        assert (first.id, first.following, first[2]) == (3, 4, 3) and tuple(last) == (9, 10, 3)
        query = "SELECT id FROM parent WHERE id > :i ORDER BY id"
        assert connection.execute(query, {"i": 3, "unused": 0}).scalars() == [7, 9]
        assert connection.execute(query, {"i": 3}).first()._asdict() == {"id": 7}
        assert connection.execute(query, {"i": 9}).first() is None
        assert connection.execute(query, {"i": 9}).scalar() is None
        assert connection.execute(query, {"i": 7}).scalar_one() == 9
        for several in (3, 9):
            with pytest.raises(DatabaseFault, match="exactly one row"):
                connection.execute(query, {"i": several}).one()


def test_a_connection_ends_with_its_transaction(engine):
    db.migrate(engine, [make_counter])
    for opened in (db.transaction, db.reading):
        with opened(engine) as connection:
            pass
        with pytest.raises(DatabaseFault, match="is over"):
            connection.execute("UPDATE counter SET n = 5")
    assert count(engine) == 0


def test_a_wrong_statement_is_a_fault_and_its_connection_is_not_used_again(engine):
    for sql in ("SELECT nothing FROM nowhere", "SELECT :missing"):
        with pytest.raises(DatabaseFault, match="refused a statement"), db.reading(engine) as c:
            c.execute(sql, {"other": 1})
    assert tables(engine) == []


def test_connections_are_kept_for_the_next_and_closed_at_the_end(engine, monkeypatch):
    opened = []
    open_one = engine._open
    monkeypatch.setattr(engine, "_open", lambda use: opened.append(open_one(use)) or opened[-1])
    db.migrate(engine, [make_counter])
    for _ in range(5):
        count(engine)
    assert len(opened) == 1, "one that writes; the reader was there from the check at opening"
    with db.transaction(engine), db.reading(engine), db.reading(engine):
        engine.dispose()
    assert len(opened) == 2
    for driver in opened:
        with pytest.raises(sqlite.ProgrammingError, match="closed"):
            driver.execute("SELECT 1")


def can_lock(engine):
    other = sqlite.connect(str(engine.path), timeout=0, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
    except sqlite.OperationalError:
        return False
    finally:
        other.close()
    return True


def test_a_group_commit_lets_the_lock_go_and_returns_when_the_log_is_on_disk(engine, monkeypatch):
    db.migrate(engine, [make_counter])
    seen, sync = [], os.fdatasync

    def watched(fd):
        seen.append((Path(os.readlink(f"/proc/self/fd/{fd}")).name, can_lock(engine)))
        sync(fd)

    monkeypatch.setattr(os, "fdatasync", watched)
    with db.transaction(engine, group_commit=True) as connection:
        connection.execute("UPDATE counter SET n = 1")
        assert seen == [] and not can_lock(engine)
    assert seen == [("realm.db-wal", True)]
    with db.transaction(engine, group_commit=True):
        pass  # relies on what others committed, perhaps this very moment
    assert len(seen) == 2
    with db.transaction(engine) as connection:
        assert connection.execute("PRAGMA synchronous").scalar() == 2  # SQLite syncs by itself
    assert len(seen) == 2 and count(engine) == 1


def test_a_disk_that_does_not_confirm_is_told(engine, monkeypatch):
    db.migrate(engine, [make_counter])

    def full(fd):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fdatasync", full)
    with pytest.raises(NoSpace), db.transaction(engine, group_commit=True) as connection:
        connection.execute("UPDATE counter SET n = 1")


def test_the_log_that_is_synced_is_the_one_written_to(engine):
    """The log file is removed with the last connection and made anew: none keeps an old one."""
    db.migrate(engine, [make_counter])
    for n in (1, 2):
        again = db.open_db(engine.path)
        with db.transaction(again, group_commit=True) as connection:
            connection.execute("UPDATE counter SET n = :n", {"n": n})
        (driver,) = again._idle[db.Use.GROUP]
        log = os.stat(f"{engine.path}-wal")
        assert os.fstat(driver.log_fd).st_ino == log.st_ino
        fd = driver.log_fd
        again.dispose()
        engine.dispose()
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(fd)
