"""Evaluations of checkpoints, every score kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from levelcap.kit.db import Connection

# Matches of an arena hero, questions to a text hero, what an exploiter found, a verdict, and the
# fresh games of a champion: who passes a gate was lucky, too, so what it passed with is too high.
QUICK, EXAM, HUNT, TRIAL, CONFIRMED = "quick", "exam", "hunt", "trial", "confirmed"


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


def evaluations(
    connection: Connection, checkpoint: str, kinds: Sequence[str] = (QUICK, EXAM)
) -> list[dict[str, Any]]:
    """Evaluations of a checkpoint, oldest first; kinds: those that say how strong it is."""
    query = (
        "SELECT id, time, kind, seed, result FROM evals WHERE checkpoint = :c"
        " AND kind IN (SELECT value FROM json_each(:k)) ORDER BY id"
    )
    given = {"c": checkpoint, "k": json.dumps(list(kinds))}
    rows = [row._asdict() for row in connection.execute(query, given)]
    return [row | json.loads(row.pop("result")) for row in rows]


def newest_trial(connection: Connection, checkpoint: str, champion: str) -> dict[str, Any] | None:
    """The last verdict on a checkpoint against this champion."""
    query = (
        "SELECT result FROM evals WHERE checkpoint = :c AND kind = 'trial'"
        " AND json_extract(result, '$.champion') = :a ORDER BY id DESC LIMIT 1"
    )
    found = connection.execute(query, {"c": checkpoint, "a": champion}).scalar()
    return None if found is None else dict(json.loads(found))


@dataclass(frozen=True)
class Mark:
    """What a row of the vault says of a trial or a hunt, in a word and in a sentence."""

    kind: str
    word: str
    sentence: str


def marks(connection: Connection, checkpoints: Sequence[str]) -> dict[str, tuple[Mark, ...]]:
    """The newest verdict, hunt and confirmation of each of these checkpoints."""
    query = (
        "SELECT checkpoint, kind, coalesce(json_extract(result, '$.reason'),"
        " json_extract(result, '$.words'), json_extract(result, '$.text')) AS said,"
        " json_extract(result, '$.passed') AS passed,"
        " json_extract(result, '$.champion') AS champion, json_extract(result, '$.bound') AS bound"
        " FROM evals WHERE kind IN ('trial', 'hunt', 'confirmed')"
        " AND checkpoint IN (SELECT value FROM json_each(:c)) ORDER BY id"
    )
    found: dict[str, dict[str, Mark]] = {}
    for row in connection.execute(query, {"c": json.dumps(list(checkpoints))}):
        if row.kind == TRIAL:
            word = "passed its trial" if row.passed else "refused"
            mark = Mark(row.kind, word, f"against {row.champion}: {row.said}")
        elif row.kind == CONFIRMED:
            mark = Mark(row.kind, "confirmed", f"in fresh games: {row.said}")
        else:
            mark = Mark(row.kind, f"hunted: {row.bound:.2f}", row.said)
        found.setdefault(row.checkpoint, {})[row.kind] = mark
    return {checkpoint: tuple(kinds.values()) for checkpoint, kinds in found.items()}


def widest_exam(connection: Connection, checkpoint: str) -> dict[str, Any] | None:
    """The exam of a checkpoint that asked most passive problems, the newest of those."""
    query = (
        "SELECT result FROM evals WHERE checkpoint = :c AND kind = 'exam'"
        " ORDER BY length(json_extract(result, '$.passives')) DESC, id DESC LIMIT 1"
    )
    found = connection.execute(query, {"c": checkpoint}).scalar()
    return None if found is None else dict(json.loads(found))
