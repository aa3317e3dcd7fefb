"""The champion of a hero: a ledger row. Promotion is a new line in a list; so is a roll-back.

Nothing is overwritten, so every former champion is known and can come back in one call. Every line
holds the decision it was made by: a verdict of the trials, or an override with who and why.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from levelcap.kit.db import Connection, Database, reading, transaction
from levelcap.kit.errors import Conflict, refuse
from levelcap.trials.gate import check_decision
from levelcap.trials.verdict import Decision
from levelcap.vault.assets import now, verify_asset
from levelcap.vault.ledger import get_ledger, require
from levelcap.vault.probes import require_probed


@dataclass(frozen=True)
class Promotion:
    """One line of the list: who followed whom, when, why."""

    seq: int
    hero: str
    checkpoint: str
    previous: str | None
    time: str
    reason: str
    verdict: dict[str, Any]
    """`trials.verdict`: a Verdict's or an Override's plain values"""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return dict(self.__dict__)


def champion_of(connection: Connection, hero: str | None = None) -> Promotion | None:
    """The line that counts now (None as hero: the newest of any hero); None: no champion yet."""
    lines = history(connection, hero, 1)
    return lines[0] if lines else None


def history(connection: Connection, hero: str | None, limit: int = 100) -> list[Promotion]:
    """All lines that were not rolled back, newest first."""
    query = (
        "SELECT seq, hero, checkpoint, previous, time, reason, verdict FROM champions"
        " WHERE (:h IS NULL OR hero = :h) AND undone = 0 ORDER BY seq DESC LIMIT :n"
    )
    found = [row._asdict() for row in connection.execute(query, {"h": hero, "n": limit})]
    return [Promotion(**row | {"verdict": json.loads(row["verdict"])}) for row in found]


def promote(engine: Database, checkpoint: str, decision: Decision) -> Promotion:
    """Make a checkpoint the champion of its hero, after reading every byte of it.

    One that has never worked is probed first.

    Raises:
        UnknownName: no such checkpoint. Corrupt: damaged or gone. BadFile: it is no net that works.
        Conflict: it is champion already, or the verdict does not hold (`trials.gate`).
    """
    entry = require(get_ledger(engine).get(checkpoint))
    verify_asset(engine, entry.id)
    require_probed(engine, entry.id)
    with transaction(engine) as connection:
        before = champion_of(connection, entry.hero)
        if before is not None and before.checkpoint == entry.id:
            remedy = "Choose another checkpoint, or leave it"
            raise Conflict(refuse("this checkpoint is the champion already", entry.id, remedy))
        previous = None if before is None else before.checkpoint
        check_decision(decision, entry.id, previous)
        connection.execute(
            "INSERT INTO champions (hero, checkpoint, previous, time, reason, verdict)"
            " VALUES (:h, :c, :p, :t, :r, :v)",
            {
                "h": entry.hero,
                "c": entry.id,
                "p": previous,
                "t": now(),
                "r": decision.reason,
                "v": json.dumps(decision.as_json()),
            },
        )
        after = champion_of(connection, entry.hero)
    assert after is not None
    return after


def roll_back(engine: Database, hero: str) -> Promotion | None:
    """Undo the last promotion of a hero; returns the champion after it (None: none is left).

    Raises:
        Conflict: there is no promotion to undo. Corrupt: the former champion is gone or damaged.
    """
    with reading(engine) as connection:
        lines = history(connection, hero, 2)
    if not lines:
        remedy = "Promote a checkpoint first"
        raise Conflict(refuse("this hero has no champion to roll back", hero, remedy))
    if len(lines) > 1:
        require(get_ledger(engine).get(lines[1].checkpoint))
        verify_asset(engine, lines[1].checkpoint)
    with transaction(engine) as connection:
        connection.execute("UPDATE champions SET undone = 1 WHERE seq = :s", {"s": lines[0].seq})
        return champion_of(connection, hero)
