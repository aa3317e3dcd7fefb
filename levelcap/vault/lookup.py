"""Questions to the ledger that others ask: the newest, the best, what a hero has to show.

All take an open transaction, so that one page or one turn of the wheel sees one moment.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from levelcap.kit.db import Connection
from levelcap.kit.prefix import LISTED, MIN_CHARS, the_only
from levelcap.vault.ledger import Entry, row_of, select


def _first(
    connection: Connection, where: str, values: dict[str, Any], order: str = "seq DESC"
) -> Entry | None:
    found = select(connection, where, values, 1, order)
    return found[0] if found else None


def named(connection: Connection, name: str) -> Entry | None:
    """The checkpoint of this id or canonical name, or whose id or name alone begins so.

    Raises:
        BadValue: several begin so.
    """
    found = row_of(connection, name) or _first(connection, "canonical_name = :n", {"n": name})
    if found is not None or len(name) < MIN_CHARS:
        return found
    begins = (
        "retired IS NULL AND (substr(id, 1, length(:n)) = :n OR instr(id, '-' || :n) = :dash"
        " OR substr(canonical_name, 1, length(:n)) = :n)"
    )
    values = {"n": name, "dash": len("checkpoint-")}
    near = {row.id: row for row in select(connection, begins, values, LISTED + 1)}
    return near[the_only("checkpoint", name, list(near))] if near else None


def newest(connection: Connection, hero: str | None) -> Entry | None:
    """The newest checkpoint that was not removed, of one hero or of all."""
    return _first(connection, "retired IS NULL AND (:h IS NULL OR hero = :h)", {"h": hero})


def best(connection: Connection, hero: str | None) -> Entry | None:
    """The checkpoint with the highest Elo that was not removed."""
    where = "retired IS NULL AND elo IS NOT NULL AND (:h IS NULL OR hero = :h)"
    return _first(connection, where, {"h": hero}, "elo DESC, seq DESC")


def at_step(connection: Connection, step: int, hero: str | None) -> Entry | None:
    """The newest checkpoint of this step."""
    where = "retired IS NULL AND step = :s AND (:h IS NULL OR hero = :h)"
    return _first(connection, where, {"s": step, "h": hero})


def newest_of_run(connection: Connection, run: str | None) -> Entry | None:
    """The newest checkpoint of a run that was not removed."""
    if run is None:
        return None
    return _first(connection, "run = :run AND retired IS NULL", {"run": run})


def newest_of_campaign(connection: Connection, campaign: str) -> Entry | None:
    """The newest checkpoint of a campaign that was not removed."""
    return _first(connection, "campaign = :c AND retired IS NULL", {"c": campaign})


def is_kept(connection: Connection, checkpoint: str) -> bool:
    """Is this checkpoint known and not removed?"""
    found = row_of(connection, checkpoint)
    return found is not None and found.retired is None


def steps_of(connection: Connection, names: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Id or canonical name -> hero and step, of those that are in the ledger."""
    query = (
        "SELECT value, hero, step FROM json_each(:n) JOIN ledger ON ledger.id = value UNION ALL"
        " SELECT value, hero, step FROM json_each(:n) JOIN ledger ON canonical_name = value"
    )
    rows = connection.execute(query, {"n": json.dumps(list(names))})
    return {row.value: (row.hero, row.step) for row in rows}


def judged_of_run(connection: Connection, run: str) -> list[Entry]:
    """Checkpoints of a run that have an Elo, oldest first."""
    return select(connection, "run = :run AND elo IS NOT NULL", {"run": run}, 1000, "seq")


def newest_judged(connection: Connection, campaign: str) -> dict[str, int]:
    """Run of a campaign -> number of its newest checkpoint that has an Elo."""
    query = (
        "SELECT run, max(seq) FROM ledger WHERE campaign = :c AND elo IS NOT NULL"
        " AND run IS NOT NULL GROUP BY run"
    )
    return {run: int(seq) for run, seq in connection.execute(query, {"c": campaign})}


# Its bytes are here, and no trial against the champion :c has refused it.
_MAY_REIGN = (
    "id IN (SELECT id FROM assets WHERE status = 'present')"
    " AND NOT EXISTS (SELECT 1 FROM evals e WHERE e.checkpoint = ledger.id"
    " AND e.kind = 'trial' AND json_extract(e.result, '$.champion') = :c"
    " AND NOT json_extract(e.result, '$.passed'))"
)


def strongest(connection: Connection, hero: str, champion: str | None = None) -> Entry | None:
    """The checkpoint of a hero with the highest Elo whose bytes are here.

    champion: leave out whom a trial against this one has refused.
    """
    where = f"hero = :h AND elo IS NOT NULL AND {_MAY_REIGN}"
    return _first(connection, where, {"h": hero, "c": champion or ""}, "elo DESC, seq DESC")


def most_skilled(connection: Connection, hero: str, champion: str | None = None) -> Entry | None:
    """The examined checkpoint of a text hero with the highest level, then the best accuracy.

    One whose promotion was undone is left out; champion: as of `strongest`.
    """
    where = (
        "hero = :h AND skill_level IS NOT NULL AND accuracy IS NOT NULL AND retired IS NULL"
        f" AND {_MAY_REIGN}"
        " AND EXISTS (SELECT 1 FROM evals WHERE checkpoint = ledger.id)"
        " AND NOT EXISTS (SELECT 1 FROM champions c WHERE c.checkpoint = ledger.id AND undone = 1)"
    )
    values = {"h": hero, "c": champion or ""}
    return _first(connection, where, values, "skill_level DESC, accuracy DESC, seq DESC")


def was_undone(connection: Connection, checkpoint: str) -> bool:
    """Was a promotion of this checkpoint ever rolled back?"""
    query = "SELECT EXISTS (SELECT 1 FROM champions WHERE checkpoint = :c AND undone = 1)"
    return bool(connection.execute(query, {"c": checkpoint}).scalar_one())


def newest_examined(connection: Connection, hero: str) -> Entry | None:
    """The newest checkpoint of a text hero whose passives were asked."""
    where = (
        "hero = :h AND retired IS NULL"
        " AND EXISTS (SELECT 1 FROM evals WHERE checkpoint = ledger.id AND kind = 'exam')"
    )
    return _first(connection, where, {"h": hero})


def base_before(connection: Connection, entry: Entry) -> Entry | None:
    """The base model of its hero that a checkpoint comes from; of its own campaign if there is."""
    where = "hero = :h AND base = 1 AND seq <= :s"
    values = {"h": entry.hero, "s": entry.seq}
    own = f"{where} AND (campaign = :c OR campaign IS NULL)"
    found = entry.campaign and _first(connection, own, values | {"c": entry.campaign})
    return found or _first(connection, where, values)


def shown(
    connection: Connection, hero: str, campaign: str | None, start: str | None = None
) -> tuple[Entry, Entry] | None:
    """The newest checkpoint of a hero, and the newest that was judged (itself if none was).

    start: the checkpoint a campaign began with, which stands for it until its own are judged.
    """
    where = "hero = :h AND retired IS NULL"
    values: dict[str, Any] = {"h": hero}
    if campaign is not None:
        where, values = f"{where} AND campaign = :c", values | {"c": campaign}
    first = None if start is None else row_of(connection, start)
    newest = _first(connection, where, values) or first
    if newest is None:
        return None
    told = " AND (elo IS NOT NULL OR role = 'text' AND val_loss IS NOT NULL)"
    return newest, _first(connection, where + told, values) or first or newest


def judged_of(connection: Connection, campaign: str, start: str | None) -> list[Entry]:
    """Checkpoints of a campaign that have an Elo, and the one it began with; oldest first."""
    where = "(campaign = :c OR id = :s) AND elo IS NOT NULL"
    found = select(connection, where, {"c": campaign, "s": start or ""}, 1000)
    return found[::-1]


def least_losses(connection: Connection, hero: str) -> tuple[float | None, float | None]:
    """The smallest training and held-out loss a hero ever had."""
    query = (
        "SELECT min(CASE WHEN train_loss > 0 THEN train_loss END),"
        " min(CASE WHEN val_loss > 0 THEN val_loss END) FROM ledger WHERE hero = :h"
    )
    train, held_out = connection.execute(query, {"h": hero}).one()
    return train, held_out


def of_role(connection: Connection, text: bool, *, champion: bool) -> str | None:
    """The champion, or else the newest checkpoint, among text heroes or among the others."""
    query = "SELECT id FROM ledger WHERE retired IS NULL AND (role = 'text') = :t ORDER BY seq DESC"
    if champion:
        query = (
            "SELECT checkpoint FROM champions JOIN ledger ON ledger.id = checkpoint"
            " WHERE undone = 0 AND (role = 'text') = :t ORDER BY champions.seq DESC"
        )
    found = connection.execute(f"{query} LIMIT 1", {"t": text}).scalar()
    return None if found is None else str(found)


def in_world(connection: Connection, hero: str, world: str) -> tuple[Entry, Entry] | None:
    """The newest judged checkpoint of a hero in a world, and the strongest there."""
    where, values = "hero = :h AND world = :w AND elo IS NOT NULL", {"h": hero, "w": world}
    newest = _first(connection, where, values)
    best = _first(connection, where, values, "elo DESC, seq DESC")
    return None if newest is None or best is None else (newest, best)


def newest_elo(connection: Connection) -> dict[str, float]:
    """Hero -> Elo of its newest judged checkpoint."""
    query = (
        "SELECT hero, elo FROM ledger WHERE seq IN (SELECT max(seq) FROM ledger"
        " WHERE elo IS NOT NULL AND retired IS NULL GROUP BY hero)"
    )
    return {row.hero: row.elo for row in connection.execute(query)}


@dataclass(frozen=True)
class Deeds:
    """What the vault knows of a hero's past, for titles and achievements."""

    checkpoints: int
    champions: int
    evaluations: int
    elo: float
    decisions: int


def deeds(connection: Connection, hero: str) -> Deeds:
    """Count them."""
    query = (
        "SELECT count(*), (SELECT count(*) FROM champions WHERE hero = :h AND undone = 0),"
        " count(elo), coalesce(max(elo), 0), coalesce(max(total_examples_trained), 0)"
        " FROM ledger WHERE hero = :h"
    )
    return Deeds(*connection.execute(query, {"h": hero}).one())


@dataclass(frozen=True)
class Day:
    """Checkpoints of one day: how many, what was spent by then, the strongest with its interval."""

    day: str
    checkpoints: int
    core_seconds: float | None
    elo: float | None
    elo_low: float | None = None
    elo_high: float | None = None
    elo_bound: str | None = None
    checkpoint: str | None = None


def days(connection: Connection, since: str) -> list[Day]:
    """A row for every day since then on which a checkpoint was saved."""
    counted = connection.execute(
        "SELECT substr(timestamp, 1, 10) AS day, count(*) AS n, max(cost_core_seconds) AS spent"
        " FROM ledger WHERE timestamp >= :s GROUP BY day ORDER BY day",
        {"s": since},
    ).all()
    # With one max() SQLite takes the other columns from the row that has it.
    query = (
        "SELECT substr(timestamp, 1, 10) AS day, max(elo) AS elo, elo_low, elo_high, elo_bound, id"
        " FROM ledger WHERE timestamp >= :s AND elo IS NOT NULL GROUP BY day"
    )
    best = {row.day: tuple(row)[1:] for row in connection.execute(query, {"s": since})}
    return [Day(row.day, row.n, row.spent, *best.get(row.day, (None,))) for row in counted]
