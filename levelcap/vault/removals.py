"""Removals that can be taken back: a checkpoint goes when its time is over, not before.

The wish is a row of the database, so it outlives a closed page and a killed service; the Keeper
carries it out. Until then everything about the checkpoint is as before.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from levelcap.kit.db import Connection, Database, reading, transaction
from levelcap.kit.errors import BadValue, Conflict, LevelcapError, refuse
from levelcap.vault.ledger import get_ledger, require
from levelcap.vault.retention import refuse_champion, remove_checkpoint

MAX_DELAY_S = 86_400.0


def schedule(engine: Database, checkpoint: str, delay_s: float) -> str:
    """Remove a checkpoint after a while; returns when. Asked again, the new time counts.

    Raises:
        UnknownName: no such checkpoint. Conflict: it is pinned, or a champion.
    """
    if not 0 <= delay_s <= MAX_DELAY_S:
        what = f"a removal waits 0 to {MAX_DELAY_S:.0f} s"
        raise BadValue(refuse(what, delay_s, "Choose a shorter time"))
    entry = require(get_ledger(engine).get(checkpoint))
    if entry.pinned:
        raise Conflict(refuse("a pinned checkpoint is not removed", entry.id, "Unpin it first"))
    due = _iso(datetime.now(UTC) + timedelta(seconds=delay_s))
    with transaction(engine) as connection:
        refuse_champion(connection, entry.id)
        connection.execute(
            "INSERT INTO removals VALUES (:c, :d)"
            " ON CONFLICT (checkpoint) DO UPDATE SET due = excluded.due",
            {"c": entry.id, "d": due},
        )
    return due


def take_back(engine: Database, checkpoint: str) -> None:
    """Let a checkpoint stay after all.

    Raises:
        Conflict: nobody asked for its removal, or it is gone.
    """
    with transaction(engine) as connection:
        query = "DELETE FROM removals WHERE checkpoint = :c"
        if connection.execute(query, {"c": checkpoint}).rowcount == 0:
            remedy = "See `levelcap vault ls`"
            raise Conflict(refuse("its removal does not wait (any more)", checkpoint, remedy))


def waiting(connection: Connection) -> dict[str, str]:
    """Id of a checkpoint -> when it goes."""
    rows = connection.execute("SELECT checkpoint, due FROM removals")
    return dict(map(tuple, rows))


def carry_out_due(engine: Database, at: datetime | None = None) -> dict[str, str | None]:
    """Remove what is due; id -> None, or why it stays (it has become champion)."""
    moment = _iso(at or datetime.now(UTC))
    with reading(engine) as connection:
        due = [c for c, when in waiting(connection).items() if when <= moment]
    ends: dict[str, str | None] = {}
    for checkpoint in due:
        try:
            remove_checkpoint(engine, checkpoint)
            ends[checkpoint] = None
        except LevelcapError as error:
            ends[checkpoint] = str(error)
        with transaction(engine) as connection:
            # Last: killed before this line, the next round finds the row again.
            connection.execute("DELETE FROM removals WHERE checkpoint = :c", {"c": checkpoint})
    return ends


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
