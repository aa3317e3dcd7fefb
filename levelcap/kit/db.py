"""The database: `open_db`, transactions, snapshots for reading, migrations, backups.

    database = open_db(path)
    with transaction(database) as connection:
        connection.execute("UPDATE shelves SET books = :b WHERE id = :i", {"b": 7, "i": 1})
    with reading(database) as connection:
        names = connection.execute("SELECT name FROM shelves").scalars()

Statements have `:name` parameters. Every transaction that may write waits for the lock before it
has read anything, so it can never be told "locked" half-way; readers take no lock and see one
snapshot. What `transaction` wrote is on disk when it returns. An error of the driver leaves a
transaction as one of `kit.errors`. The words of SQLite are in `kit.sqlite`.
"""

import functools
import os
import secrets
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from levelcap.kit.errors import (
    BadValue,
    Conflict,
    Corrupt,
    DatabaseFault,
    LevelcapError,
    refuse,
)
from levelcap.kit.files import TMP, keep_private, sync
from levelcap.kit.sqlite import Database as Database
from levelcap.kit.sqlite import Driver, Use, check_version, connect_plain


class Result:
    """The rows of one statement: tuples whose columns are attributes, too. Read it once."""

    __slots__ = ("_cursor", "_sql")

    def __init__(self, cursor: Any, sql: str) -> None:
        self._cursor, self._sql = cursor, sql

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
        key = self._sql, len(columns)  # a migration may add a column to `SELECT *`
        if (make := _MAKERS.get(key)) is None:
            make = _MAKERS[key] = _row_type(tuple(column[0] for column in columns))
        return make


_MAKERS: dict[tuple[str, int], Callable[[Iterable[Any]], Any]] = {}


@functools.cache
def _row_type(names: tuple[str, ...]) -> Callable[[Iterable[Any]], Any]:
    made: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]
    return cast(Callable[[Iterable[Any]], Any], made._make)


class _Over:
    """Stands in for the driver after the end, when a statement would commit by itself."""

    def __getattr__(self, name: str) -> Any:
        raise DatabaseFault(refuse("this transaction is over", name, "Use it inside its block"))


class Connection:
    """An open transaction, as its body sees it."""

    __slots__ = ("_driver",)

    def __init__(self, driver: Driver | _Over) -> None:
        self._driver = driver

    def execute(self, sql: str, values: Mapping[str, object] | Sequence[object] = ()) -> Result:
        """Runs one statement with `:name` parameters; names it does not use are allowed."""
        return Result(self._driver.execute(sql, values), sql)

    def execute_many(self, sql: str, rows: Iterable[Mapping[str, object]]) -> None:
        """Runs one statement for each of `rows`."""
        self._driver.executemany(sql, rows)


def open_db(path: Path) -> Database:
    """Opens (and creates when missing) the database file `path`.

    Returns:
        The database; use `transaction` and `reading`, and `dispose()` of it at the end.

    Raises:
        StateError: the SQLite library is too old, or the file cannot be opened.
        Corrupt: the file is damaged or no database.
        Busy: another process held its lock for too long.
    """
    check_version()
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):  # what cannot be opened is told below
        keep_private(path)  # SQLite makes the two files beside it with the rights of this one
    database = Database(path)
    try:
        with reading(database) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema")
    except LevelcapError:
        database.dispose()
        raise
    return database


@contextmanager
def transaction(database: Database, group_commit: bool = False) -> Iterator[Connection]:
    """Opens a transaction that may write; commits at the end, rolls back on an exception.

    The body runs once and only after the write lock is held; waiting for the lock takes up to
    three times ten seconds.

    Args:
        group_commit: let the lock go before the disk has confirmed, and wait for the disk then:
            several processes that commit at once share one wait. Readers may see such a commit
            some milliseconds before it is safe; this call returns only when it is. So whoever
            deletes files because of what it has read must not rely on rows written this way.

    Raises:
        Busy: another process held the lock all that time. Nothing was written.
        NoSpace: the disk is full. Nothing was written.
    """
    with database.lend(Use.GROUP if group_commit else Use.WRITE) as driver:
        driver.take_lock(database.path)
        connection = Connection(driver)
        try:
            yield connection
        finally:
            connection._driver = _Over()
        driver.execute("COMMIT")
        if group_commit:
            # Also when nothing was written: what this transaction has read, and its caller will
            # rely on (a job that exists already), may be another's that is not safe yet.
            driver.sync_log(database.path)


@contextmanager
def reading(database: Database) -> Iterator[Connection]:
    """Opens a snapshot for reading: takes no lock, waits for nobody, refuses to write."""
    with database.lend(Use.READ) as driver:
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
        keep_private(tmp)
        with closing(connect_plain(tmp)) as copy, database.lend(Use.READ) as driver:
            driver.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
            if (found := copy.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                what = "the copied database is damaged"
                raise Corrupt(refuse(what, found, "Keep the older backup and restore from it"))
        sync(tmp)
        os.replace(tmp, path)
        sync(path.parent)
    finally:
        tmp.unlink(missing_ok=True)
