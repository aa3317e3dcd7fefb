"""The ledger: one row a checkpoint, written when it is saved, never lost.

    ledger = get_ledger()
    ledger.get_best(metric="elo"), ledger.list(campaign="first"), ledger.get("checkpoint-4f0a…")

A row belongs to a snapshot: a published folder of weights and their description. The same row lies
as `.ledger.json` in that folder. A snapshot that has no row (its writer was killed in between, or
it was trained without a realm) is adopted at the next start.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from levelcap.kit.db import Connection, Database, open_db, reading, transaction
from levelcap.kit.errors import Corrupt, check_known, refuse, unknown_name
from levelcap.kit.files import dump_json
from levelcap.kit.ids import checkpoint_name
from levelcap.kit.paths import folder
from levelcap.kit.publish import MANIFEST, attach, verify
from levelcap.vault.assets import content_id, find, now, register
from levelcap.vault.zones import Zone, load_zones

LEDGER_VERSION = 1
DATABASE = "realm.db"
ROLES = ("perception", "decision", "strategy", "text", "coach")
# Metrics of which less is better; of all others more.
LOWER = frozenset({"train_loss", "val_loss", "perplexity", "cost_core_seconds", "size_bytes"})
METRICS = (
    *("train_loss", "val_loss", "accuracy", "perplexity", "elo", "elo_low", "elo_high"),
    *("skill_level", "step", "cost_core_seconds", "size_bytes"),
)

SORTS = ("seq", "step", "elo", "train_loss", "accuracy", "size_bytes", "cost_core_seconds")


@dataclass(frozen=True)
class Facts:
    """What whoever saves a checkpoint knows of it; the rest is read from the folder."""

    step: int
    hero: str
    role: str = "decision"
    campaign: str | None = None
    quest: str | None = None
    run: str | None = None
    world: str | None = None
    train_loss: float | None = None
    val_loss: float | None = None
    learning_rate: float | None = None
    epoch: float | None = None
    accuracy: float | None = None
    perplexity: float | None = None
    training_file: str | None = None
    skill_name: str | None = None
    skill_level: int | None = None
    total_examples_trained: int | None = None
    has_optimizer: bool = False
    cost_core_seconds: float | None = None
    base: bool = False


@dataclass(frozen=True)
class Entry(Facts):
    """One row of the ledger."""

    id: str = ""
    timestamp: str = ""
    canonical_name: str = ""
    elo: float | None = None
    elo_low: float | None = None
    elo_high: float | None = None
    elo_bound: str = ""
    size_bytes: int = 0
    parents: tuple[str, ...] = ()
    sha256: str = ""
    created_by: str = ""
    pinned: bool = False
    retired: str | None = None
    ledger_version: int = LEDGER_VERSION
    seq: int = 0

    def as_json(self) -> dict[str, Any]:
        """Plain values; `path_id` is the asset's id, because paths stay inside."""
        return {**asdict(self), "parents": list(self.parents), "path_id": self.id}

    def elo_text(self) -> str:
        """The Elo as it is shown: "1342 (1310 to 1375)", "> 1310", "< 720", or nothing."""
        return elo_text(self.elo, self.elo_low, self.elo_high, self.elo_bound)


def elo_text(
    elo: float | None, low: float | None, high: float | None, bound: str | None = ""
) -> str:
    """An Elo with its interval; after a perfect record only the end that the games hold."""
    if elo is None or low is None or high is None:
        return ""
    if bound in ("<", ">"):
        return f"{bound} {low if bound == '>' else high:.0f}"
    return f"{elo:.0f} ({low:.0f} to {high:.0f})"


Entries = list[Entry]  # `Ledger.list` hides the builtin inside the class
_COLUMNS = [f.name for f in fields(Entry)]


def save(connection: Connection, place: Path, facts: Facts, zone: Zone) -> Entry:
    """Write the row of the snapshot at `place`; a row that exists is returned as it is."""
    asset_id = register(connection, "checkpoint", place, zone=zone)
    if (known := row_of(connection, asset_id)) is not None:
        return known
    check_known("role of a checkpoint", facts.role, ROLES)
    asset = find(connection, asset_id)
    last = connection.execute("SELECT coalesce(max(seq), 0) FROM ledger").scalar_one()
    entry = Entry(
        **asdict(facts),
        id=asset_id,
        timestamp=now(),
        canonical_name=checkpoint_name(facts.step),
        size_bytes=asset.size_bytes,
        parents=asset.parents,
        sha256=asset.sha256,
        created_by=asset.created_by,
        seq=int(last) + 1,
    )
    slots = ", ".join(f":{name}" for name in _COLUMNS)
    connection.execute(
        f"INSERT INTO ledger ({', '.join(_COLUMNS)}) VALUES ({slots})",
        asdict(entry) | {"parents": json.dumps(entry.parents)},
    )
    return entry


def write_beside(place: Path, entry: Entry) -> None:
    """The row as a file in the checkpoint's own folder, for whoever finds it without us."""
    attach(place, dump_json(entry.as_json()))


def rate(
    connection: Connection, checkpoint: str, elo: tuple[float, float, float], bound: str = ""
) -> None:
    """Write Elo and its interval into a row, and whether it is only a bound."""
    connection.execute(
        "UPDATE ledger SET elo = :e, elo_low = :l, elo_high = :h, elo_bound = :b WHERE id = :i",
        {"e": elo[0], "l": elo[1], "h": elo[2], "b": bound, "i": checkpoint},
    )


def amend(connection: Connection, checkpoint: str, **values: float | int | str | None) -> None:
    """Write what was measured after saving (accuracy, val_loss, skill_level, pinned …)."""
    for name, value in values.items():
        if name not in ("accuracy", "val_loss", "skill_name", "skill_level", "pinned", "base"):
            raise unknown_name("amendable column", name, ("accuracy", "val_loss", "pinned"))
        connection.execute(
            f"UPDATE ledger SET {name} = :v WHERE id = :i", {"v": value, "i": checkpoint}
        )


def row_of(connection: Connection, checkpoint: str) -> Entry | None:
    """The row with this id, or None."""
    query = f"SELECT {', '.join(_COLUMNS)} FROM ledger WHERE id = :i"
    row = connection.execute(query, {"i": checkpoint}).first()
    return None if row is None else _entry(row)


def _entry(row: Any) -> Entry:
    values = row._asdict()
    values["parents"] = tuple(json.loads(values["parents"]))
    for name in ("has_optimizer", "pinned", "base"):
        values[name] = bool(values[name])
    return Entry(**values)


def select(
    connection: Connection,
    where: str,
    values: dict[str, Any],
    limit: int,
    order: str = "seq DESC",
    offset: int = 0,
) -> Entries:
    """Rows that fulfil a condition, in this order."""
    tail = f"ORDER BY {order} LIMIT :most OFFSET :skip"
    query = f"SELECT {', '.join(_COLUMNS)} FROM ledger WHERE {where} {tail}"
    given = values | {"most": max(1, min(limit, 1000)), "skip": offset}
    return [_entry(row) for row in connection.execute(query, given)]


class Ledger:
    """The ledger of one realm, for reading; writers use `save` in their own transaction."""

    def __init__(self, engine: Database) -> None:
        self.engine = engine

    def get(self, checkpoint: str) -> Entry:
        """The row with this id, or of this canonical name.

        Raises:
            UnknownName: there is none.
        """
        with reading(self.engine) as connection:
            found = row_of(connection, checkpoint)
            if found is None:
                named = select(connection, "canonical_name = :n", {"n": checkpoint}, 1)
                found = named[0] if named else None
            if found is None:
                near = [entry.id for entry in select(connection, "1", {}, 20)]
                raise unknown_name("checkpoint", checkpoint, near)
            return found

    def list(
        self,
        *,
        campaign: str | None = None,
        hero: str | None = None,
        run: str | None = None,
        step: int | None = None,
        role: str | None = None,
        retired: bool = False,
        limit: int = 100,
        before: int | None = None,
    ) -> Entries:
        """Rows, newest first. before: only rows with a smaller `seq` (for the next page)."""
        where = ["1"] if retired else ["retired IS NULL"]
        values = {"campaign": campaign, "hero": hero, "run": run, "step": step, "role": role}
        where += [f"{name} = :{name}" for name, value in values.items() if value is not None]
        if before is not None:
            where.append("seq < :before")
        with reading(self.engine) as connection:
            return select(connection, " AND ".join(where), {**values, "before": before}, limit)

    def page(
        self,
        sort: str = "seq",
        *,
        descending: bool = True,
        offset: int = 0,
        limit: int = 50,
        campaign: str | None = None,
    ) -> Entries:
        """Rows in the order of a column, unknown values last; for pages people leaf through."""
        check_known("column to sort by", sort, SORTS)
        way = "DESC" if descending else "ASC"
        order = f"seq {way}" if sort == "seq" else f"{sort} {way} NULLS LAST, seq DESC"
        where = "retired IS NULL" + ("" if campaign is None else " AND campaign = :campaign")
        with reading(self.engine) as connection:
            return select(connection, where, {"campaign": campaign}, limit, order, max(0, offset))

    def get_best(
        self, metric: str = "elo", *, campaign: str | None = None, hero: str | None = None
    ) -> Entry | None:
        """The row with the best value of a metric; None when no row has one."""
        check_known("metric", metric, METRICS)
        order = "ASC" if metric in LOWER else "DESC"
        where = [f"{metric} IS NOT NULL", "retired IS NULL"]
        values = {"campaign": campaign, "hero": hero}
        where += [f"{name} = :{name}" for name, value in values.items() if value is not None]
        with reading(self.engine) as connection:
            found = select(
                connection, " AND ".join(where), values, 1, f"{metric} {order}, seq DESC"
            )
        return found[0] if found else None

    def count(self) -> int:
        """Rows that are not retired."""
        with reading(self.engine) as connection:
            query = "SELECT count(*) FROM ledger WHERE retired IS NULL"
            return int(connection.execute(query).scalar_one())


def get_ledger(engine: Database | None = None) -> Ledger:
    """The ledger of this realm."""
    return Ledger(engine or open_db(folder("state") / DATABASE))


def adopt_orphans(
    engine: Database, places: Iterable[Path], describe: Callable[[Path], Facts | None]
) -> list[str]:
    """Write rows for whole snapshots that have none; returns their ids.

    describe: what is known of a folder, or None to leave it alone. A damaged folder is left.
    """
    zone = load_zones()["hot"]
    adopted = []
    for place in places:
        if not (place / MANIFEST).exists():
            continue
        asset_id, _ = content_id("checkpoint", place)
        with reading(engine) as connection:
            if row_of(connection, asset_id) is not None:
                continue
        try:
            verify(place)
        except Corrupt:
            continue
        facts = describe(place)
        if facts is None:
            continue
        with transaction(engine) as connection:
            entry = save(connection, place, facts, zone)
        write_beside(place, entry)
        adopted.append(asset_id)
    return adopted


def require(entry: Entry) -> Entry:
    """The row, if its checkpoint still exists.

    Raises:
        Corrupt: it was retired.
    """
    if entry.retired is not None:
        what = f"this checkpoint was removed on {entry.retired}"
        raise Corrupt(refuse(what, entry.id, "Unpack it again from an archive"))
    return entry
