"""What may go. Never: champions past and present, the latest and the best of a campaign, base
models, pinned rows, and nothing of the last 36 hours.

Of the rest the newest `keep` of each campaign stay, and one a day. Removing goes ledger first, then
the folder is renamed to `.trash-…`, then it is deleted: killed anywhere, the next start finishes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from levelcap.kit.db import Connection, Database, reading, transaction
from levelcap.kit.errors import Conflict, refuse
from levelcap.kit.publish import retire, sweep
from levelcap.vault.assets import Asset, find, now, place_of
from levelcap.vault.ledger import Entry, get_ledger
from levelcap.vault.zones import load_zones

YOUNG = timedelta(hours=36)
KEEP = 20


@dataclass(frozen=True)
class Plan:
    """What would go and what stays, with the reason of each."""

    remove: list[Entry]
    protected: dict[str, str]

    @property
    def size_bytes(self) -> int:
        """Bytes that removing gives back."""
        return sum(entry.size_bytes for entry in self.remove)


def plan_retention(engine: Database, keep: int = KEEP, at: datetime | None = None) -> Plan:
    """Decide without touching anything."""
    moment = at or datetime.now(UTC)
    rows = _all_rows(engine)
    protected = _protected(engine, rows, moment)
    kept_days: set[tuple[str | None, str]] = set()
    newest: dict[str | None, int] = {}
    remove = []
    for entry in rows:  # newest first
        rank = newest[entry.campaign] = newest.get(entry.campaign, 0) + 1
        day = (entry.campaign, entry.timestamp[:10])
        if entry.id in protected or rank <= keep or day not in kept_days:
            kept_days.add(day)
            continue
        remove.append(entry)
    return Plan(remove, protected)


def _all_rows(engine: Database) -> list[Entry]:
    ledger, rows, before = get_ledger(engine), [], None
    while page := ledger.list(limit=1000, before=before):
        rows += page
        before = page[-1].seq
    return rows


def _protected(engine: Database, rows: list[Entry], moment: datetime) -> dict[str, str]:
    """Id -> why it must stay."""
    reasons: dict[str, str] = {}
    with reading(engine) as connection:
        query = "SELECT checkpoint FROM champions WHERE undone = 0"
        for checkpoint in connection.execute(query).scalars():
            reasons[checkpoint] = "champion"
    latest: dict[str | None, Entry] = {}
    best: dict[str | None, tuple[float, str]] = {}  # the highest Elo, and whose it is
    for entry in rows:
        if latest.setdefault(entry.campaign, entry) is entry:
            reasons.setdefault(entry.id, "latest")
        if entry.elo is not None and entry.elo > best.get(entry.campaign, (-math.inf,))[0]:
            best[entry.campaign] = (entry.elo, entry.id)
        if entry.base:
            reasons.setdefault(entry.id, "base model")
        if entry.pinned:
            reasons.setdefault(entry.id, "pinned")
        if moment - datetime.fromisoformat(entry.timestamp) < YOUNG:
            reasons.setdefault(entry.id, "younger than 36 hours")
    for _, checkpoint in best.values():
        reasons.setdefault(checkpoint, "best")
    return reasons


def carry_out(engine: Database, plan: Plan) -> list[str]:
    """Remove what the plan says, one after the other; returns the ids."""
    for entry in plan.remove:
        remove_checkpoint(engine, entry.id)
    return [entry.id for entry in plan.remove]


def remove_checkpoint(engine: Database, checkpoint: str) -> None:
    """Ledger first, then the folder. A champion is never removed.

    Raises:
        Conflict: it is or was a champion.
    """
    with transaction(engine) as connection:
        asset = find(connection, checkpoint)
        refuse_champion(connection, checkpoint)
        row = {"t": now(), "c": checkpoint}
        connection.execute("UPDATE ledger SET retired = :t WHERE id = :c", row)
        connection.execute("UPDATE assets SET status = 'retired' WHERE id = :c", row)
    _remove_folder(engine, asset)


def refuse_champion(connection: Connection, checkpoint: str) -> None:
    """Raises `Conflict` when this is or was a champion."""
    query = "SELECT count(*) FROM champions WHERE checkpoint = :c AND undone = 0"
    if connection.execute(query, {"c": checkpoint}).scalar_one():
        remedy = "Roll back or promote another one first"
        raise Conflict(refuse("a champion is not removed", checkpoint, remedy))


def _remove_folder(engine: Database, asset: Asset) -> None:
    if (place := place_of(asset)) is not None:
        retire(place)
    with transaction(engine) as connection:
        connection.execute("DELETE FROM locations WHERE asset_id = :c", {"c": asset.id})


def finish_removals(engine: Database) -> list[str]:
    """At a start: remove folders whose row is retired but that a kill left behind; sweep."""
    with reading(engine) as connection:
        query = "SELECT asset_id FROM locations JOIN ledger ON id = asset_id WHERE retired NOTNULL"
        left = connection.execute(query).scalars()
    parents: set[Path] = set()
    zones = load_zones()
    for checkpoint in left:
        with reading(engine) as connection:
            asset = find(connection, checkpoint)
        for zone_id, path in asset.zones.items():
            parents.add(zones[zone_id].place(path).parent)
        _remove_folder(engine, asset)
    for parent in parents:
        if parent.is_dir():
            sweep(parent)
    return left
