"""Passives of text heroes over time: gained, held or lost against the schooled base.

Every exam asks the same held-out problems in the same order, so a LITE exam (5 of each passive) is
compared with the base's answers to just those; the base itself was asked all 30.
"""

from __future__ import annotations

from dataclasses import dataclass

from levelcap.campaign.story.rows import Row
from levelcap.guild.passives import PASSIVES, drift
from levelcap.kit.db import Connection
from levelcap.vault.evals import widest_exam
from levelcap.vault.ledger import Entry
from levelcap.vault.lookup import base_before


@dataclass(frozen=True)
class PassiveRow:
    """One passive: right of count now, the base's share of the same, what guessing gives."""

    name: str
    right: int
    count: int
    accuracy: float | None
    base: float | None
    chance: float
    primitives: list[str]
    drift: str | None


@dataclass(frozen=True)
class PassiveTable(Row):
    """All passives of a checkpoint against its schooled base."""

    checkpoint: str
    base: str | None
    passives: list[PassiveRow]
    gained: int
    held: int
    lost: int
    above_chance: int


def passives(connection: Connection, entry: Entry) -> PassiveTable:
    """The table of a checkpoint; a passive nobody asked yet has None."""
    base = base_before(connection, entry)
    now = widest_exam(connection, entry.id)
    before = None if base is None else widest_exam(connection, base.id)
    same = now and before and now["passives_version"] == before["passives_version"]
    rows = []
    for name, passive in PASSIVES.items():
        digits = now["passives"].get(name, "") if now else ""
        old = before["passives"].get(name, "")[: len(digits)] if same and before else ""
        share = digits.count("1") / len(digits) if digits else None
        known = share is not None and len(old) == len(digits)
        was = old.count("1") / len(old) if known else None
        rows.append(
            PassiveRow(
                name=name,
                right=digits.count("1"),
                count=len(digits),
                accuracy=share,
                base=was,
                chance=round(passive.chance, 3),
                primitives=sorted(passive.primitives),
                drift=drift(was, share) if was is not None and share is not None else None,
            )
        )
    words = [row.drift for row in rows]
    return PassiveTable(
        checkpoint=entry.id,
        base=None if base is None else base.id,
        passives=rows,
        gained=words.count("gained"),
        held=words.count("held"),
        lost=words.count("lost"),
        above_chance=sum(
            row.accuracy is not None and row.accuracy >= row.chance + 0.1 for row in rows
        ),
    )
