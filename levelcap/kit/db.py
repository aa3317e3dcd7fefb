"""SQLite behind two small types: `Database` (a file) and `Connection` (an open transaction).

    database = open_db(path)
    with transaction(database) as connection:
        connection.execute("UPDATE shelves SET books = :b WHERE id = :i", {"b": 7, "i": 1})
    with reading(database) as connection:
        names = connection.execute("SELECT name FROM shelves").scalars()

Everything is WAL, synchronous FULL, with foreign keys. The driver is pysqlite3, because the SQLite
of many systems has a bug that can corrupt a database when its write-ahead log is reset; at least
3.51.3 is required. Every transaction that may write begins with BEGIN IMMEDIATE: it waits for the
lock before it has read anything, so it can never be told "locked" half-way. Readers take no lock
and see one snapshot.

Who waits for the lock asks again after 1, 2, 5 ms and begins anew with 1 every 10 ms. Left alone,
SQLite's pauses grow to 100 ms and favour whoever came last: with 64 writers some waited for ten
seconds while the lock lay idle.

Only this file knows SQLite's words (pragmas, BEGIN, error codes); statements everywhere else have
`:name` parameters. An error of the driver leaves a transaction as one of `kit.errors`.
"""

import functools
import os
import secrets
import time
from collections import deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pysqlite3.dbapi2 as sqlite

from levelcap.kit.errors import (
    BadValue,
    Busy,
    Conflict,
    Corrupt,
    DatabaseFault,
    LevelcapError,
    NoSpace,
    StateError,
    refuse,
)
from levelcap.kit.files import TMP, sync_folder

MIN_SQLITE = (3, 51, 3)
BUSY_TIMEOUT_MS = 10_000
BUSY_ATTEMPTS = 3
ROUND_MS = 10
KEPT_OPEN = 8  # idle connections of a kind; more are opened as needed and closed afterwards
STATEMENTS = 512  # prepared ones kept by a connection: all that the project has

# Code of SQLite (without SQLITE_) -> what it means to people.
_BUSY, _DAMAGED = ("BUSY", "LOCKED"), ("CORRUPT", "NOTADB")
_NOT_USABLE = ("CANTOPEN", "IOERR", "READONLY", "PERM", "AUTH", "PROTOCOL")


class Result:
    """The rows of one statement: tuples whose columns are attributes, too. Read it once."""

    __slots__ = ("_cursor",)

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def __iter__(self) -> Iterator[Any]:
        return map(self._make(), self._cursor)

    def all(self) -> list[Any]:
        """Returns every row."""
        return list(self)

    def first(self) -> Any:
        """Returns the first row, or None."""
        row = self._cursor.fetchone()
        made = None if row is None else self._make()(row)
        self._cursor.close()
        return made

    def one(self) -> Any:
        """Returns the only row.

        Raises:
            DatabaseFault: there is none, or there are more.
        """
        rows = self.all()
        if len(rows) != 1:
            raise DatabaseFault(refuse("exactly one row was expected", len(rows), "Report this"))
        return rows[0]

    def scalar(self) -> Any:
        """Returns the first column of the first row, or None."""
        row = self._cursor.fetchone()
        self._cursor.close()
        return None if row is None else row[0]

    def scalar_one(self) -> Any:
        """Returns the first column of the only row; see `one`."""
        return self.one()[0]

    def scalars(self) -> list[Any]:
        """Returns the first column of every row."""
        return [row[0] for row in self._cursor]

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed."""
        return int(self._cursor.rowcount)

    @property
    def lastrowid(self) -> int:
        """The key of the row just inserted."""
        return int(self._cursor.lastrowid)

    def _make(self) -> Callable[[Iterable[Any]], Any]:
        columns = self._cursor.description or ()
        return _row_type(tuple(column[0] for column in columns))


@functools.lru_cache(maxsize=STATEMENTS)
def _row_type(names: tuple[str, ...]) -> Callable[[Iterable[Any]], Any]:
    made: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]
    return cast(Callable[[Iterable[Any]], Any], made._make)


class Connection:
    """An open transaction, as its body sees it."""

    __slots__ = ("_driver",)

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def execute(self, sql: str, values: Mapping[str, Any] | Sequence[Any] = ()) -> Result:
        """Runs one statement with `:name` parameters; names it does not use are allowed."""
        return Result(self._driver.execute(sql, values))

    def execute_many(self, sql: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Runs one statement for each of `rows`."""
        self._driver.executemany(sql, rows)


class _Over:
    """Stands in for the driver after the end, when a statement would commit by itself."""

    def __getattr__(self, name: str) -> Any:
        raise DatabaseFault(refuse("this transaction is over", name, "Use it inside its block"))


class Database:
    """A database file and the few connections to it that threads pass on to each other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._closed = False
        # Two kinds, so that no transaction has to switch a connection over: True may write.
        self._idle: dict[bool, deque[Any]] = {True: deque(), False: deque()}

    @contextmanager
    def lend(self, writes: bool) -> Iterator[Any]:
        """Hands out a driver's connection; what it left open is rolled back.

        Raises:
            LevelcapError: what the driver raised, in our words.
        """
        driver = self._take(writes)
        try:
            yield driver
        except sqlite.Error as error:
            driver.close()
            raise _explained(error, self.path) from error
        except BaseException:
            self._put_back(driver, writes)
            raise
        self._put_back(driver, writes)

    def _take(self, writes: bool) -> Any:
        try:
            return self._idle[writes].pop()
        except IndexError:
            pass
        try:
            return self._open(writes)
        except sqlite.Error as error:
            raise _explained(error, self.path) from error

    def _open(self, writes: bool) -> Any:
        driver = sqlite.connect(
            str(self.path),
            isolation_level=None,  # the driver begins nothing by itself
            check_same_thread=False,  # one thread at a time all the same
            cached_statements=STATEMENTS,
        )
        try:
            for pragma in (
                f"busy_timeout = {BUSY_TIMEOUT_MS}",  # first: switching to WAL may have to wait
                "journal_mode = WAL",
                "synchronous = FULL",
                "foreign_keys = ON",
                # A writer waits in `_take_lock`, and afterwards nobody stands in its way.
                f"busy_timeout = {ROUND_MS}" if writes else "query_only = ON",
            ):
                driver.execute(f"PRAGMA {pragma}")
        except sqlite.Error:
            driver.close()
            raise
        return driver

    def _put_back(self, driver: Any, writes: bool) -> None:
        try:
            if driver.in_transaction:
                driver.execute("ROLLBACK")
        except sqlite.Error:
            driver.close()
            return
        idle = self._idle[writes]
        if self._closed or len(idle) >= KEPT_OPEN:
            driver.close()
        else:
            idle.append(driver)

    def dispose(self) -> None:
        """Closes what is idle now, and what is in use when it comes back."""
        self._closed = True
        for idle in self._idle.values():
            while idle:
                idle.pop().close()


def open_db(path: Path) -> Database:
    """Opens (and creates when missing) the database file `path`.

    Returns:
        The database; use `transaction` and `reading`, and `dispose()` of it at the end.

    Raises:
        StateError: the SQLite library is too old, or the file cannot be opened.
        Corrupt: the file is damaged or no database.
        Busy: another process held its lock for too long.
    """
    if sqlite.sqlite_version_info < MIN_SQLITE:
        what = f"SQLite {'.'.join(map(str, MIN_SQLITE))} or newer is needed"
        raise StateError(refuse(what, sqlite.sqlite_version, "Run make setup"))
    path.parent.mkdir(parents=True, exist_ok=True)
    database = Database(path)
    try:
        with reading(database) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema")
    except LevelcapError:
        database.dispose()
        raise
    return database


def _explained(error: sqlite.Error, path: Path) -> LevelcapError:
    """Says in our words what the driver said; a statement that is wrong is a fault of ours."""
    code = (getattr(error, "sqlite_errorname", None) or "").removeprefix("SQLITE_")
    if code.startswith(_BUSY):
        what, remedy = "the database is locked", "Stop the process that holds it, or try again"
        return Busy(refuse(what, str(path), remedy))
    if code.startswith("FULL"):
        what, remedy = "the disk is full", "Make room; it goes on by itself then"
        return NoSpace(refuse(what, str(path), remedy))
    if code.startswith(_DAMAGED):
        what = "not a usable database" if code == "NOTADB" else "the database is damaged"
        remedy = "Restore it from a copy in state/backups"
        return Corrupt(refuse(f"{what} ({error})", str(path), remedy))
    if code.startswith(_NOT_USABLE):
        what, remedy = "the database cannot be opened", "Check who owns the file and its folder"
        return StateError(refuse(f"{what} ({error})", str(path), remedy))
    return DatabaseFault(refuse(f"the database refused a statement ({error})", code, "Report this"))


@contextmanager
def transaction(database: Database) -> Iterator[Connection]:
    """Opens a transaction that may write; commits at the end, rolls back on an exception.

    The body runs once and only after the write lock is held; waiting for the lock takes up to
    three times ten seconds.

    Raises:
        Busy: another process held the lock all that time. Nothing was written.
        NoSpace: the disk is full. Nothing was written.
    """
    with database.lend(writes=True) as driver:
        _take_lock(driver, database.path)
        connection = Connection(driver)
        try:
            yield connection
        finally:
            connection._driver = _Over()
        driver.execute("COMMIT")


def _take_lock(driver: Any, path: Path) -> None:
    began = time.monotonic()
    while True:
        try:
            driver.execute("BEGIN IMMEDIATE")
            return
        except sqlite.OperationalError as error:
            if not isinstance(_explained(error, path), Busy):
                raise
            patience_s = BUSY_ATTEMPTS * BUSY_TIMEOUT_MS / 1000
            if time.monotonic() - began >= patience_s:
                what = f"the database was locked for {patience_s:.0f} s"
                remedy = "Stop the process that holds it, or try again"
                raise Busy(refuse(what, str(path), remedy)) from error


@contextmanager
def reading(database: Database) -> Iterator[Connection]:
    """Opens a snapshot for reading: takes no lock, waits for nobody, refuses to write."""
    with database.lend(writes=False) as driver:
        driver.execute("BEGIN DEFERRED")
        connection = Connection(driver)
        try:
            yield connection
        finally:
            connection._driver = _Over()


Migration = Callable[[Connection], None]


def migrate(database: Database, migrations: Sequence[Migration], scope: str = "main") -> list[str]:
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
    with transaction(database) as connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (scope TEXT NOT NULL, name TEXT NOT NULL,"
            " applied TEXT NOT NULL, PRIMARY KEY (scope, name)) STRICT"
        )
        if newer := _applied(connection, scope) - set(names):
            what = f"the database was written by a newer levelcap ({scope})"
            raise Conflict(refuse(what, sorted(newer), "Update levelcap, or use a backup"))
    return [m.__name__ for m in migrations if _run_once(database, m, scope)]


def _run_once(database: Database, migration: Migration, scope: str) -> bool:
    with transaction(database) as connection:
        # Looked up under the write lock: of two starting processes one does the work.
        if migration.__name__ in _applied(connection, scope):
            return False
        migration(connection)
        row = {"s": scope, "n": migration.__name__, "a": datetime.now(UTC).isoformat()}
        connection.execute("INSERT INTO migrations VALUES (:s, :n, :a)", row)
        return True


def _applied(connection: Connection, scope: str) -> set[str]:
    query = "SELECT name FROM migrations WHERE scope = :s"
    return set(connection.execute(query, {"s": scope}).scalars())


def backup(database: Database, path: Path) -> None:
    """Copies the database while it is in use; `path` is replaced only by a checked copy.

    Raises:
        Corrupt: the copy does not pass SQLite's integrity check; `path` is as before.
    """
    tmp = path.with_name(f"{TMP}{path.name}-{secrets.token_hex(4)}")
    try:
        with closing(sqlite.connect(str(tmp))) as copy, database.lend(writes=False) as driver:
            driver.backup(copy)
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
