"""Passives of text heroes over time: gained, held or lost against the schooled base.

Every exam asks the same held-out problems in the same order, so a LITE exam (5 of each passive) is
compared with the base's answers to just those; the base itself was asked all 30.
"""

from __future__ import annotations

import json
from typing import Any

from levelcap.guild.passives import PASSIVES, drift
from levelcap.kit.db import Connection
from levelcap.vault.ledger import Entry


def base_of(connection: Connection, entry: Entry) -> str | None:
    """The schooled checkpoint that a checkpoint's drift is measured from."""
    query = (
        "SELECT id FROM ledger WHERE hero = :h AND base = 1 AND seq <= :s"
        " AND (campaign = :c OR :c IS NULL OR campaign IS NULL) ORDER BY seq DESC LIMIT 1"
    )
    for campaign in (entry.campaign, None):  # New Game+ was schooled in another campaign
        values = {"h": entry.hero, "c": campaign, "s": entry.seq}
        if (found := connection.execute(query, values).scalar()) is not None:
            return str(found)
    return None


def _asked(connection: Connection, checkpoint: str) -> dict[str, Any] | None:
    """The exam of a checkpoint that asked most passive problems, the newest of those."""
    query = (
        "SELECT result FROM evals WHERE checkpoint = :c AND kind = 'exam'"
        " ORDER BY length(json_extract(result, '$.passives')) DESC, id DESC LIMIT 1"
    )
    found = connection.execute(query, {"c": checkpoint}).scalar()
    return None if found is None else dict(json.loads(found))


def passives(connection: Connection, entry: Entry) -> dict[str, Any]:
    """The table of a checkpoint; a passive nobody asked yet has None."""
    base = base_of(connection, entry)
    now = _asked(connection, entry.id)
    before = None if base is None else _asked(connection, base)
    same = now and before and now["passives_version"] == before["passives_version"]
    rows: list[dict[str, Any]] = []
    for name, passive in PASSIVES.items():
        digits = now["passives"].get(name, "") if now else ""
        old = before["passives"].get(name, "")[: len(digits)] if same and before else ""
        share = digits.count("1") / len(digits) if digits else None
        known = share is not None and len(old) == len(digits)
        was = old.count("1") / len(old) if known else None
        rows.append({
            "name": name, "right": digits.count("1"), "count": len(digits), "accuracy": share,
            "base": was, "chance": round(passive.chance, 3),
            "primitives": sorted(passive.primitives),
            "drift": drift(was, share) if was is not None and share is not None else None,
        })  # fmt: skip
    words = [row["drift"] for row in rows]
    return {
        "checkpoint": entry.id, "base": base, "passives": rows,
        **{word: words.count(word) for word in ("gained", "held", "lost")},
        "above_chance": sum(
            row["accuracy"] is not None and row["accuracy"] >= row["chance"] + 0.1 for row in rows
        ),
    }  # fmt: skip
