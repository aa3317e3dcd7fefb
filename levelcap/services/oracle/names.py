"""Which checkpoint a name means here: heroes of the arena and text heroes have champions each."""

from __future__ import annotations

from levelcap.campaign.kinds.heroes import load_text_heroes
from levelcap.kit.db import Database, reading
from levelcap.kit.errors import UnknownName, refuse
from levelcap.vault.ask import resolve
from levelcap.vault.ledger import Entry
from levelcap.vault.lookup import of_role

NAMES = ("champion", "best", "latest")


def find(engine: Database, name: str, reads: bool = False) -> Entry:
    """The row of the ledger: by id, canonical name, champion, best, latest, or a text hero's id.

    Args:
        engine: the realm's database.
        name: what was asked for.
        reads: names that are no ids mean text heroes.

    Raises:
        UnknownName: nothing is called that. Corrupt: it was removed.
    """
    if reads and name in load_text_heroes():
        return _of_hero(engine, name)
    # Text heroes have no Elo: the best of them is the one that was promoted.
    if name not in ("champion", "latest") and not (reads and name == "best"):
        return resolve(engine, name)
    with reading(engine) as connection:
        found = of_role(connection, reads, champion=name != "latest")
    if found is None:
        kind = "text checkpoint" if reads else "checkpoint of the arena"
        raise UnknownName(refuse(f"no {kind} is {name} yet", name, "Train a hero first"))
    return resolve(engine, found)


def _of_hero(engine: Database, hero: str) -> Entry:
    try:
        return resolve(engine, "champion", hero)
    except UnknownName:
        return resolve(engine, "latest", hero)


def short_name(entry: Entry) -> str:
    """A checkpoint as people call it, in seats and lists: kestrel 11,552."""
    return f"{entry.hero} {entry.step:,}"


def champion(engine: Database, reads: bool = False) -> str | None:
    """Id of the champion; None: there is none yet."""
    with reading(engine) as connection:
        return of_role(connection, reads, champion=True)
