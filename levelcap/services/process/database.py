"""The realm's database as the Weaver opens it: whatever is wrong with it ends in one sentence."""

from pathlib import Path

from levelcap.campaign.realm import open_realm
from levelcap.kit.db import Database, open_db, reading
from levelcap.kit.errors import Corrupt, refuse

RESTORE = "Restore it from a copy in state/backups"


def open_database() -> Database:
    """Opens the realm's database and brings it up to date.

    Raises:
        Corrupt: the file is damaged or no database.
        Conflict: a newer levelcap wrote it.
        Busy: another process held its lock for too long.
        StateError: the file cannot be opened.
    """
    return open_realm().engine


def check_file(path: Path) -> None:
    """Opens a database file without changing its schema and reads its structure.

    Raises:
        StateError: it cannot be opened, is locked, damaged or no database.
    """
    engine = open_db(path)
    try:
        check_integrity(engine)
    finally:
        engine.dispose()


def check_integrity(engine: Database) -> None:
    """Reads the structure of the whole database.

    Raises:
        Corrupt: names the first fault.
    """
    with reading(engine) as connection:
        found = connection.execute("PRAGMA quick_check(1)").scalar()
    if found != "ok":
        fault = " ".join(str(found).split())
        raise Corrupt(refuse(f"the database is damaged ({fault})", str(engine.path), RESTORE))
