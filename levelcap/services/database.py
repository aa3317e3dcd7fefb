"""The realm's database as the Weaver opens it: whatever is wrong with it ends in one sentence."""

from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import DatabaseError, OperationalError

from levelcap.campaign.realm import open_realm
from levelcap.kit.db import is_busy, open_db, reading
from levelcap.kit.errors import Busy, Corrupt, StateError, refuse
from levelcap.kit.paths import folder
from levelcap.vault.ledger import DATABASE

RESTORE = "Restore state/realm.db from a copy in state/backups"


def open_database() -> Engine:
    """Opens the realm's database and brings it up to date.

    Raises:
        Corrupt: the file is damaged or no database.
        Conflict: a newer levelcap wrote it.
        Busy: another process held its lock for too long.
        StateError: the file cannot be opened.
    """
    try:
        return open_realm().engine
    except DatabaseError as error:
        raise _explained(error, str(folder("state") / DATABASE)) from error


def check_file(path: Path) -> None:
    """Opens a database file without changing its schema and reads its structure.

    Raises:
        StateError: it cannot be opened, is locked, damaged or no database.
    """
    try:
        engine = open_db(path)
    except DatabaseError as error:
        raise _explained(error, str(path)) from error
    try:
        check_integrity(engine)
    finally:
        engine.dispose()


def check_integrity(engine: Engine) -> None:
    """Reads the structure of the whole database.

    Raises:
        Corrupt: names the first fault.
    """
    path = str(engine.url.database)
    try:
        with reading(engine) as connection:
            found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
    except DatabaseError as error:
        raise _explained(error, path) from error
    if found != "ok":
        fault = " ".join(str(found).split())
        raise Corrupt(refuse(f"the database is damaged ({fault})", path, RESTORE))


def _explained(error: DatabaseError, path: str) -> StateError:
    if not isinstance(error, OperationalError):
        return Corrupt(refuse(f"the database is damaged ({error.orig})", path, RESTORE))
    if is_busy(error):
        return Busy(refuse("the database is locked", path, "Stop the process that holds it"))
    what = f"the database cannot be opened ({error.orig})"
    return StateError(refuse(what, path, "Check who owns the file and its folder"))
