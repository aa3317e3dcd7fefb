"""Evaluations of checkpoints, every score kept."""

from __future__ import annotations

import json
from typing import Any

from levelcap.kit.db import Connection

# Matches of an arena hero, questions to a text hero, what an exploiter found, a verdict.
QUICK, EXAM, HUNT, TRIAL = "quick", "exam", "hunt", "trial"


def store_eval(
    connection: Connection, checkpoint: str, kind: str, job: str, seed: int, result: dict[str, Any]
) -> None:
    """Keep an evaluation; that of a job whose result comes again is kept once."""
    connection.execute(
        "INSERT INTO evals (checkpoint, kind, time, job, seed, result)"
        " VALUES (:c, :k, strftime('%Y-%m-%dT%H:%M:%fZ'), :j, :s, :r)"
        " ON CONFLICT (job) DO NOTHING",
        {"c": checkpoint, "k": kind, "j": job, "s": seed, "r": json.dumps(result)},
    )


def evaluations(connection: Connection, checkpoint: str) -> list[dict[str, Any]]:
    """All evaluations of a checkpoint, oldest first."""
    query = "SELECT id, time, kind, seed, result FROM evals WHERE checkpoint = :c ORDER BY id"
    rows = [row._asdict() for row in connection.execute(query, {"c": checkpoint})]
    return [row | json.loads(row.pop("result")) for row in rows]


def newest_trial(connection: Connection, checkpoint: str, champion: str) -> dict[str, Any] | None:
    """The last verdict on a checkpoint against this champion."""
    query = (
        "SELECT result FROM evals WHERE checkpoint = :c AND kind = 'trial'"
        " AND json_extract(result, '$.champion') = :a ORDER BY id DESC LIMIT 1"
    )
    found = connection.execute(query, {"c": checkpoint, "a": champion}).scalar()
    return None if found is None else dict(json.loads(found))


def widest_exam(connection: Connection, checkpoint: str) -> dict[str, Any] | None:
    """The exam of a checkpoint that asked most passive problems, the newest of those."""
    query = (
        "SELECT result FROM evals WHERE checkpoint = :c AND kind = 'exam'"
        " ORDER BY length(json_extract(result, '$.passives')) DESC, id DESC LIMIT 1"
    )
    found = connection.execute(query, {"c": checkpoint}).scalar()
    return None if found is None else dict(json.loads(found))
