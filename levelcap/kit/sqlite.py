"""SQLite's own words: the driver, its pragmas, the lock, error codes, and the pool of connections.

Everything is WAL, synchronous FULL, with foreign keys. The driver is pysqlite3, because the SQLite
of many systems has a bug that can corrupt a database when its write-ahead log is reset; at least
3.51.3 is required. Writers begin with BEGIN IMMEDIATE.

Who waits for the lock asks again after .5, 1, 2, 5 ms, and again from the beginning. Left alone,
SQLite's pauses grow to 100 ms and favour whoever came last: with 64 writers some waited for ten
seconds while the lock lay idle.

Group commit: with synchronous FULL the log is synced under the lock, so processes wait for the disk
one after the other. A `Use.GROUP` connection commits with NORMAL (the log is written, not synced),
lets the lock go and then syncs the log itself. The log is one file in commit order, so whoever
syncs it makes everything before safe, too, and eight processes share the waits. Corruption is
prevented as before: SQLite syncs the log before a checkpoint and the database after it.
"""

import enum
import itertools
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pysqlite3.dbapi2 as sqlite

from levelcap.kit.errors import (
    Busy,
    Corrupt,
    DatabaseFault,
    LevelcapError,
    NoSpace,
    StateError,
    refuse,
)
from levelcap.kit.files import room

MIN_SQLITE = (3, 51, 3)
BUSY_TIMEOUT_MS = 10_000
BUSY_ATTEMPTS = 3
# Half a millisecond first: the queue holds the lock for a fifth of one. With less, the waiting take
# the time of the holder on two cores (benchmarks/log/2026-11-17-jobs-speed.txt).
PAUSES_S = (0.0005, 0.001, 0.002, 0.005)
CHECKPOINT_PAGES = 4000  # of 4 KB; SQLite's 1000 make the queue sync the database every 90 jobs
KEPT_OPEN = 8  # idle connections of a kind; more are opened as needed and closed afterwards
STATEMENTS = 512  # prepared ones kept by a connection: all that the project has

# Code of SQLite (without SQLITE_) -> what it means to people.
_BUSY, _DAMAGED = ("BUSY", "LOCKED"), ("CORRUPT", "NOTADB")
_NOT_USABLE = ("CANTOPEN", "IOERR", "READONLY", "PERM", "AUTH", "PROTOCOL")


class Use(enum.Enum):
    """What a connection is for; each kind has its own, so that no transaction sets pragmas."""

    READ = enum.auto()
    WRITE = enum.auto()
    GROUP = enum.auto()  # writes, and syncs the log after the lock is free again


# A writer waits in `take_lock`; once it has the lock nobody stands in its way.
_PRAGMAS = {
    Use.READ: ("query_only = ON",),
    Use.WRITE: ("busy_timeout = 0",),
    Use.GROUP: ("busy_timeout = 0", "synchronous = NORMAL"),
}


class Driver(sqlite.Connection):
    """One connection of the driver."""

    log_fd: int | None = None

    def take_lock(self, path: Path) -> None:
        """Begins a transaction that holds the write lock.

        Raises:
            Busy: somebody else held it for half a minute.
        """
        began = time.monotonic()
        for pause_s in itertools.cycle(PAUSES_S):
            try:
                self.execute("BEGIN IMMEDIATE")
                return
            except sqlite.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite.SQLITE_BUSY:  # its kinds are above 255
                    raise
                patience_s = BUSY_ATTEMPTS * BUSY_TIMEOUT_MS / 1000
                if time.monotonic() - began >= patience_s:
                    what = f"the database was locked for {patience_s:.0f} s"
                    remedy = "Stop the process that holds it, or try again"
                    raise Busy(refuse(what, str(path), remedy)) from error
                time.sleep(pause_s)

    def sync_log(self, path: Path) -> None:
        """Waits until everything committed so far is on disk.

        The log stays the same file while a connection is open, so this one's is kept with it.
        """
        if self.log_fd is None:
            self.log_fd = os.open(f"{path}-wal", os.O_RDWR | os.O_CLOEXEC)
        with room(path):
            os.fdatasync(self.log_fd)

    def close(self) -> None:
        """Closes the connection; what it left open is rolled back."""
        if self.log_fd is not None:
            os.close(self.log_fd)
            self.log_fd = None
        super().close()


class Database:
    """A database file and the few connections to it that threads pass on to each other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._closed = False
        self._idle: dict[Use, deque[Driver]] = {use: deque() for use in Use}

    @contextmanager
    def lend(self, use: Use) -> Iterator[Driver]:
        """Hands out a connection; what is left open on it is rolled back.

        Raises:
            LevelcapError: what the driver raised, in our words.
        """
        driver = self._take(use)
        try:
            yield driver
        except sqlite.Error as error:
            driver.close()
            raise explain(error, self.path) from error
        except BaseException:
            self._put_back(driver, use)
            raise
        self._put_back(driver, use)

    def _take(self, use: Use) -> Driver:
        try:
            return self._idle[use].pop()
        except IndexError:
            pass
        try:
            return self._open(use)
        except sqlite.Error as error:
            raise explain(error, self.path) from error

    def _open(self, use: Use) -> Driver:
        driver: Driver = sqlite.connect(
            str(self.path),
            factory=Driver,
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
                f"wal_autocheckpoint = {CHECKPOINT_PAGES}",
                *_PRAGMAS[use],
            ):
                driver.execute(f"PRAGMA {pragma}")
        except sqlite.Error:
            driver.close()
            raise
        return driver

    def _put_back(self, driver: Driver, use: Use) -> None:
        try:
            if driver.in_transaction:
                driver.execute("ROLLBACK")
        except sqlite.Error:
            driver.close()
            return
        if self._closed or len(self._idle[use]) >= KEPT_OPEN:
            driver.close()
        else:
            self._idle[use].append(driver)

    def dispose(self) -> None:
        """Closes what is idle now, and what is in use when it comes back."""
        self._closed = True
        for idle in self._idle.values():
            while idle:
                idle.pop().close()


def check_version() -> None:
    """Refuses an SQLite that can corrupt a database.

    Raises:
        StateError: it is older than 3.51.3.
    """
    if sqlite.sqlite_version_info < MIN_SQLITE:
        what = f"SQLite {'.'.join(map(str, MIN_SQLITE))} or newer is needed"
        raise StateError(refuse(what, sqlite.sqlite_version, "Run make setup"))


_QUESTIONS = (
    *(sqlite.SQLITE_SELECT, sqlite.SQLITE_READ, sqlite.SQLITE_FUNCTION, sqlite.SQLITE_RECURSIVE),
)
_SECRET = ("token", "secret", "password")
Refused = (sqlite.Error, sqlite.Warning)  # the latter: more than one statement


def connect_plain(path: Path) -> Any:
    """Opens a file without any of our settings: the copy that a backup writes into."""
    return sqlite.connect(str(path))


def connect_reader(path: Path, seconds: float) -> Any:
    """Opens a file for one stranger's question: read-only, for so long, tables and functions only.

    Whatever else a statement may do (write, attach, pragmas, extensions) SQLite itself refuses, and
    so are columns that sound like secrets: there is none, and a later one shall not slip through.
    """
    made = sqlite.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)

    def may(action: int, first: str | None, second: str | None, *_: object) -> int:
        column = (second or "").lower()
        if action == sqlite.SQLITE_READ and any(word in column for word in _SECRET):
            return int(sqlite.SQLITE_DENY)
        if action == sqlite.SQLITE_FUNCTION and column == "load_extension":
            return int(sqlite.SQLITE_DENY)
        return int(sqlite.SQLITE_OK if action in _QUESTIONS else sqlite.SQLITE_DENY)

    end = time.monotonic() + seconds
    made.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    made.set_authorizer(may)
    return made


def explain(error: sqlite.Error, path: Path) -> LevelcapError:
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
