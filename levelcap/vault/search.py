"""Looking for checkpoints: words, hero, world, role and tag, in any order of the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from levelcap.kit.db import Connection
from levelcap.kit.errors import check_known
from levelcap.vault.ledger import SORTS, Entries, select

# One word of what is looked for: it may be part of a name, a step, a run, a note or a tag.
_WORD = (
    "(instr(lower(concat_ws(' ', id, canonical_name, hero, step, run, world)), :{0})"
    " OR EXISTS (SELECT 1 FROM notes WHERE subject IN (ledger.id, ledger.run)"
    " AND instr(lower(concat_ws(' ', text, tags)), :{0})))"
)
MOST_WORDS = 6


@dataclass(frozen=True)
class Wanted:
    """What is looked for; "": whatever."""

    words: str = ""
    hero: str = ""
    world: str = ""
    role: str = ""
    tag: str = ""


def search(
    connection: Connection,
    wanted: Wanted,
    sort: str = "seq",
    *,
    descending: bool = True,
    offset: int = 0,
    limit: int = 50,
) -> tuple[Entries, int]:
    """A page of what was found in the order of a column, unknown values last, and how many in all.

    Raises:
        UnknownName: no such column.
    """
    check_known("column to sort by", sort, SORTS)
    way = "DESC" if descending else "ASC"
    order = f"seq {way}" if sort == "seq" else f"{sort} {way} NULLS LAST, seq DESC"
    where, values = _where(wanted)
    total = connection.execute(f"SELECT count(*) FROM ledger WHERE {where}", values).scalar_one()
    return select(connection, where, values, limit, order, max(0, offset)), int(total)


def choices(connection: Connection) -> dict[str, list[str]]:
    """Heroes, worlds and roles that checkpoints have."""
    columns = ("hero", "world", "role")
    query = "SELECT DISTINCT {0} FROM ledger WHERE retired IS NULL AND {0} IS NOT NULL ORDER BY {0}"
    return {name: list(connection.execute(query.format(name)).scalars()) for name in columns}


def _where(wanted: Wanted) -> tuple[str, dict[str, Any]]:
    """The condition and its values."""
    said: list[str] = ["retired IS NULL"]
    values: dict[str, Any] = {}
    # "kestrel 11,552" is how pages name a step.
    for number, word in enumerate(wanted.words.replace(",", "").split()[:MOST_WORDS]):
        said.append(_WORD.format(f"w{number}"))
        values[f"w{number}"] = word.lower()
    for name in ("hero", "world", "role"):
        if value := getattr(wanted, name):
            said.append(f"{name} = :{name}")
            values[name] = value
    if wanted.tag:
        said.append(
            "EXISTS (SELECT 1 FROM notes, json_each(notes.tags) WHERE value = :tag"
            " AND subject IN (ledger.id, ledger.run))"
        )
        values["tag"] = wanted.tag
    return " AND ".join(said), values
