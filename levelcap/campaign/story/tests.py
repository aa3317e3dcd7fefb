"""Sequential tests that have ended, those of the command line included. Open ones are quests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from levelcap.campaign.story import rows
from levelcap.campaign.story.rows import Row
from levelcap.kit.db import Connection
from levelcap.vault.assets import now


@dataclass(frozen=True)
class Ended(Row):
    """One row: A against B, and what came of it."""

    id: str
    time: str
    a: str
    b: str
    world: str
    preset: str
    seed: int
    verdict: str  # passed, failed or undecided
    pairs: list[int]  # pentanomial
    results: list[int]  # games won, drawn, lost by A
    seconds: float


def keep(
    connection: Connection, id: str, asked: Mapping[str, object], found: Mapping[str, object]
) -> None:
    """Keep a test; one that is known stays as it is.

    asked: its players, world and seed. found: what `SequentialTest.as_json` says, and seconds.
    """
    told = {name: asked[name] for name in ("a", "b", "world", "seed")}
    came = {name: found[name] for name in ("preset", "verdict", "results", "seconds")}
    row = {"id": id, "time": now(), "pairs": found["pentanomial"], **told, **came}
    rows.insert(connection, "tests", row, "ON CONFLICT DO NOTHING")


def list_ended(connection: Connection, limit: int = 100) -> list[Ended]:
    """Tests, newest first."""
    query = "SELECT * FROM tests ORDER BY time DESC, id DESC LIMIT :n"
    return rows.select(connection, Ended, query, n=rows.at_most(limit))
