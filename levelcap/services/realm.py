"""The realm's database as a service opens it: checked, and brought up to date."""

from collections.abc import Sequence

from sqlalchemy import Engine
from sqlalchemy.exc import DatabaseError, OperationalError

from levelcap.campaign import schema as campaign_schema
from levelcap.jobs import schema as jobs_schema
from levelcap.kit.db import Migration, is_busy, migrate, open_db, reading
from levelcap.kit.errors import Busy, Corrupt, StateError, refuse
from levelcap.kit.paths import folder
from levelcap.vault import schema as vault_schema
from levelcap.vault.ledger import DATABASE

SCHEMAS: tuple[tuple[str, Sequence[Migration]], ...] = (
    (jobs_schema.SCOPE, jobs_schema.MIGRATIONS),
    (vault_schema.SCOPE, vault_schema.MIGRATIONS),
    (campaign_schema.SCOPE, campaign_schema.MIGRATIONS),
)
RESTORE = "Restore state/realm.db from a copy in state/backups"


def open_realm() -> Engine:
    """Opens the realm's database and runs the migrations it has not seen.

    Raises:
        Corrupt: the file is damaged or no database.
        Conflict: a newer levelcap wrote it.
        Busy: another process held its lock for too long.
        StateError: the file cannot be opened.
    """
    path = folder("state") / DATABASE
    try:
        engine = open_db(path)
        for scope, migrations in SCHEMAS:
            migrate(engine, migrations, scope)
    except DatabaseError as error:
        raise _explained(error, str(path)) from error
    return engine


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
        raise Corrupt(refuse(f"the database is damaged ({found})", path, RESTORE))


def _explained(error: DatabaseError, path: str) -> StateError:
    if isinstance(error, OperationalError):
        if is_busy(error):
            return Busy(refuse("the database is locked", path, "Stop the process that holds it"))
        what = f"the database cannot be opened ({error.orig})"
        return StateError(refuse(what, path, "Check who owns the file and its folder"))
    return Corrupt(refuse(f"the database is damaged ({error.orig})", path, RESTORE))
