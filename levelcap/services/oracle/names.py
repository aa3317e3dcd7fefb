"""Which checkpoint a name means here: heroes of the arena and text heroes have champions each."""

from __future__ import annotations

from levelcap.kit.db import Database, reading
from levelcap.vault.ask import NAMES as NAMES
from levelcap.vault.ask import resolve
from levelcap.vault.ledger import Entry
from levelcap.vault.lookup import of_role


def find(engine: Database, name: str, reads: bool = False) -> Entry:
    """The row of the ledger by any name of `vault.ask`; reads: names without an id mean text."""
    return resolve(engine, name, reads=reads)


def champion(engine: Database, reads: bool = False) -> str | None:
    """Id of the champion; None: there is none yet."""
    with reading(engine) as connection:
        return of_role(connection, reads, champion=True)
