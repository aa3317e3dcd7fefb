"""Matches that were played one by one: live ones, those of persons included.

Both sides are known by the content hash of what played them, so that a match still says who met
whom after names have changed. Games of evaluations are kept with their evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass

from levelcap.campaign.story import rows
from levelcap.campaign.story.rows import Row
from levelcap.kit.db import Connection


@dataclass(frozen=True)
class Match(Row):
    """One row. Side a is the first team; side b the other, or all others where there are many."""

    id: str
    time: str
    world: str
    seed: int
    a: str
    a_sha256: str | None  # None: played before this was kept
    b: str
    b_sha256: str | None
    winner: int  # team; -1: nobody
    score: float  # of side a: 1, .5, 0
    person: str | None
    outcome: int | None  # of the person: +1, 0, -1; None: no person played
    seconds: float
    replay: str | None
    shard: str | None


def add(connection: Connection, match: Match) -> None:
    """Keep a match; one that is known stays as it is."""
    rows.insert(connection, "matches", match.as_json(), "ON CONFLICT DO NOTHING")


def list_matches(connection: Connection, world: str | None = None, limit: int = 100) -> list[Match]:
    """Matches, newest first."""
    query = (
        "SELECT * FROM matches WHERE :w IS NULL OR world = :w ORDER BY time DESC, id DESC LIMIT :n"
    )
    return rows.select(connection, Match, query, w=world, n=rows.at_most(limit))


@dataclass(frozen=True)
class People:
    """What persons have played."""

    played: int
    won: int
    drawn: int
    lost: int


def count_people(connection: Connection) -> People:
    """Matches of persons."""
    query = "SELECT outcome, count(*) FROM matches WHERE outcome IS NOT NULL GROUP BY outcome"
    found = {int(outcome): int(count) for outcome, count in connection.execute(query)}
    won, drawn, lost = (found.get(outcome, 0) for outcome in (1, 0, -1))
    return People(won + drawn + lost, won, drawn, lost)
