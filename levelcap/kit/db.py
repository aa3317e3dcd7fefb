"""SQLite through SQLAlchemy Core: WAL, synchronous FULL, foreign keys, BEGIN IMMEDIATE.

The driver is pysqlite3, because the SQLite of many systems has a bug that can corrupt a database
when its write-ahead log is reset; at least 3.51.3 is required. Every transaction that may write
begins with BEGIN IMMEDIATE: it waits for the lock before it has read anything, so it can never
be told "locked" half-way. Readers take no lock and see one snapshot.

Who waits for the lock asks again after 1, 2, 5 ms and begins anew with 1 every 10 ms. Left alone,
SQLite's pauses grow to 100 ms and favour whoever came last: with 64 writers some waited for ten
seconds while the lock lay idle.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pysqlite3.dbapi2 as sqlite
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DatabaseError, OperationalError

from levelcap.kit.errors import BadValue, Busy, Conflict, Corrupt, NoSpace, StateError, refuse
from levelcap.kit.files import TMP, keep_private, sync_folder

MIN_SQLITE = (3, 51, 3)
BUSY_TIMEOUT_MS = 10_000
BUSY_ATTEMPTS = 3
ROUND_MS = 10
BEGIN_OPTION = "levelcap_begin"
BEGUN = "begun"  # the driver's connection has begun already

Migration = Callable[[Connection], None]


def open_db(path: Path) -> Engine:
    """Opens (and creates when missing) the database file `path`.

    Returns:
        An engine whose connections are set up as the module says. Use `transaction` and
        `reading`; dispose of it with `engine.dispose()`.

    Raises:
        StateError: the SQLite library is too old.
        Corrupt: the file is no database.
    """
    if sqlite.sqlite_version_info < MIN_SQLITE:
        what = f"SQLite {'.'.join(map(str, MIN_SQLITE))} or newer is needed"
        raise StateError(refuse(what, sqlite.sqlite_version, "Run make setup"))
    path.parent.mkdir(parents=True, exist_ok=True)
    for file in (path, *(p for end in ("-wal", "-shm") if (p := Path(f"{path}{end}")).exists())):
        keep_private(file)  # SQLite makes the two beside it with the rights of the first
    engine = create_engine(f"sqlite:///{path}", module=sqlite)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    try:
        with reading(engine) as connection:
            connection.execute(text("SELECT count(*) FROM sqlite_schema"))
    except DatabaseError as error:
        engine.dispose()
        if isinstance(error, OperationalError):
            raise
        what = f"not a usable database ({error.orig})"
        raise Corrupt(refuse(what, str(path), "Restore it from a backup")) from error
    return engine


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver begins nothing by itself
    for pragma in (
        f"busy_timeout = {BUSY_TIMEOUT_MS}",  # first: switching to WAL may have to wait, too
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    mode = connection.get_execution_options().get(BEGIN_OPTION, "IMMEDIATE")
    if mode != BEGUN:
        connection.exec_driver_sql(f"BEGIN {mode}")


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """Opens a transaction that may write; commits at the end, rolls back on an exception.

    The body runs once and only after the write lock is held; waiting for the lock takes up to
    three times ten seconds.

    Raises:
        Busy: another process held the lock all that time. Nothing was written.
        NoSpace: the disk is full. Nothing was written.
    """
    with _room(engine), engine.connect() as connection:
        _take_lock(connection)
        with connection.begin():
            yield connection


@contextmanager
def _room(engine: Engine) -> Iterator[None]:
    """Turns SQLite's words for a full disk into ours."""
    try:
        yield
    except OperationalError as error:
        if "disk is full" in str(error.orig):
            what, remedy = "the disk is full", "Make room; it goes on by itself then"
            raise NoSpace(refuse(what, str(engine.url.database), remedy)) from error
        raise


def _take_lock(connection: Connection) -> None:
    """Begins on the driver's connection; a trouble other than the lock is left to `begin`."""
    driver: Any = connection.connection.driver_connection
    began = time.monotonic()
    driver.execute(f"PRAGMA busy_timeout = {ROUND_MS}")
    try:
        while True:
            try:
                driver.execute("BEGIN IMMEDIATE")
                connection.execution_options(**{BEGIN_OPTION: BEGUN})
                return
            except sqlite.OperationalError as error:
                if "locked" not in str(error):
                    return
                _give_up_after(time.monotonic() - began, connection, error)
    finally:
        driver.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def _give_up_after(waited_s: float, connection: Connection, error: Exception) -> None:
    patience_s = BUSY_ATTEMPTS * BUSY_TIMEOUT_MS / 1000
    if waited_s >= patience_s:
        what = f"the database was locked for {patience_s:.0f} s"
        remedy = "Stop the process that holds it, or try again"
        raise Busy(refuse(what, str(connection.engine.url.database), remedy)) from error


def is_busy(error: OperationalError) -> bool:
    """Tells whether an error means "locked by somebody else" rather than a fault."""
    return "locked" in str(error.orig) or "busy" in str(error.orig)


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Opens a snapshot for reading: takes no lock, waits for nobody, refuses to write."""
    with engine.connect().execution_options(**{BEGIN_OPTION: "DEFERRED"}) as connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")
        try:
            yield connection
        finally:
            connection.rollback()
            connection.exec_driver_sql("PRAGMA query_only = OFF")


def migrate(engine: Engine, migrations: Sequence[Migration], scope: str = "main") -> list[str]:
    """Brings the schema up to date: runs every migration this database has not seen.

    Args:
        migrations: functions in the order they were written; their names are their identity, so
            a function is never renamed, removed or moved. Each runs in one transaction.
        scope: whose tables these are; several owners share one database, each with its list.

    Returns:
        The names that were run now.

    Raises:
        BadValue: two functions of one name.
        Conflict: the database has a migration that is not in the list: a newer levelcap
            wrote it. Nothing is changed.
    """
    names = [migration.__name__ for migration in migrations]
    if len(set(names)) != len(names):
        raise BadValue(refuse("migration names must differ", names, "Rename the newer one"))
    with transaction(engine) as connection:
        connection.exec_driver_sql(
            "CREATE TABLE IF NOT EXISTS migrations (scope TEXT NOT NULL, name TEXT NOT NULL,"
            " applied TEXT NOT NULL, PRIMARY KEY (scope, name)) STRICT"
        )
        if newer := _applied(connection, scope) - set(names):
            what = f"the database was written by a newer levelcap ({scope})"
            raise Conflict(refuse(what, sorted(newer), "Update levelcap, or use a backup"))
    return [m.__name__ for m in migrations if _run_once(engine, m, scope)]


def _run_once(engine: Engine, migration: Migration, scope: str) -> bool:
    with transaction(engine) as connection:
        # Looked up under the write lock: of two starting processes one does the work.
        if migration.__name__ in _applied(connection, scope):
            return False
        migration(connection)
        row = {"s": scope, "n": migration.__name__, "a": datetime.now(UTC).isoformat()}
        connection.execute(text("INSERT INTO migrations VALUES (:s, :n, :a)"), row)
        return True


def _applied(connection: Connection, scope: str) -> set[str]:
    query = text("SELECT name FROM migrations WHERE scope = :s")
    return set(connection.execute(query, {"s": scope}).scalars())


def backup(engine: Engine, path: Path) -> None:
    """Copies the database while it is in use; `path` is replaced only by a checked copy.

    Raises:
        Corrupt: the copy does not pass SQLite's integrity check; `path` is as before.
    """
    tmp = path.with_name(f"{TMP}{path.name}-{secrets.token_hex(4)}")
    try:
        keep_private(tmp)
        with closing(sqlite.connect(str(tmp))) as copy, engine.connect() as connection:
            connection.connection.dbapi_connection.backup(copy)  # type: ignore[union-attr]
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
            if (found := copy.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                what = "the copied database is damaged"
                raise Corrupt(refuse(what, found, "Keep the older backup and restore from it"))
        fd = os.open(tmp, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(tmp, path)
        sync_folder(path.parent)
    finally:
        tmp.unlink(missing_ok=True)
