"""Elo out of stored evaluations: every score is kept, so two checkpoints can be compared fairly."""

from __future__ import annotations

import json
from typing import Any

from levelcap.campaign.story.values import get_value, set_value
from levelcap.kit.db import Connection
from levelcap.kit.errors import unknown_name
from levelcap.trials.ratings import Games, from_digits, rate


def store_eval(
    connection: Connection, checkpoint: str, job: str, seed: int, result: dict[str, Any]
) -> None:
    """Keep an evaluation, and the games of the bots among themselves once a world and seed."""
    name = f"ladder {result['world']} {seed}"
    if "ladder" in result and get_value(connection, name) is None:
        set_value(connection, name, result["ladder"])
    kept = {key: value for key, value in result.items() if key != "ladder"}
    connection.execute(
        "INSERT INTO evals (checkpoint, kind, time, job, seed, result)"
        " VALUES (:c, :k, strftime('%Y-%m-%dT%H:%M:%fZ'), :j, :s, :r)"
        " ON CONFLICT (job) DO NOTHING",
        {
            "c": checkpoint,
            "k": "exam" if "passives" in result else "quick",
            "j": job,
            "s": seed,
            "r": json.dumps(kept),
        },
    )


def evaluations(connection: Connection, checkpoint: str) -> list[dict[str, Any]]:
    """All evaluations of a checkpoint, oldest first."""
    query = "SELECT id, time, kind, seed, result FROM evals WHERE checkpoint = :c ORDER BY id"
    return [
        {"id": row.id, "time": row.time, "kind": row.kind, "seed": row.seed,
         **json.loads(row.result)}
        for row in connection.execute(query, {"c": checkpoint})
    ]  # fmt: skip


def difference(connection: Connection, a: str, b: str) -> tuple[float, float, float] | None:
    """Elo of checkpoint a minus that of b with its 95 % interval; None: not both were judged.

    Both are rated together with the bots that link them, from their newest evaluations of one
    world and seed.
    """
    newest = {}
    for checkpoint in (a, b):
        found = evaluations(connection, checkpoint)
        if not found:
            return None
        newest[checkpoint] = found[-1]
    world, seed = newest[a]["world"], newest[a]["seed"]
    if not newest[a]["scores"]:  # text heroes play no games
        return None
    if (newest[b]["world"], newest[b]["seed"]) != (world, seed) or a == b:
        return (0.0, 0.0, 0.0) if a == b else None
    games = [
        Games(checkpoint, bot, from_digits(digits))
        for checkpoint, found in newest.items()
        for bot, digits in found["scores"].items()
    ]
    ladder = get_value(connection, f"ladder {world} {seed}")
    if ladder is None:
        raise unknown_name("ladder", f"{world} {seed}", [])
    games += [Games(x, y, from_digits(digits)) for x, y, digits in ladder]
    return rate(games).difference(a, b)
