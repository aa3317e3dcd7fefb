"""Elo out of stored evaluations: every score is kept, so two checkpoints can be compared fairly."""

from __future__ import annotations

from typing import Any

from levelcap.campaign.story.values import get_value, set_value
from levelcap.kit.db import Connection
from levelcap.kit.errors import unknown_name
from levelcap.trials.ratings import Games, from_digits, rate
from levelcap.vault.evals import evaluations


def keep_ladder(connection: Connection, seed: int, result: dict[str, Any]) -> dict[str, Any]:
    """The result of an evaluation without the games of the bots among themselves.

    Those are kept once a world and seed: every checkpoint is rated against the same.
    """
    name = f"ladder {result['world']} {seed}"
    if "ladder" in result and get_value(connection, name) is None:
        set_value(connection, name, result["ladder"])
    return {key: value for key, value in result.items() if key != "ladder"}


def bot_elos(connection: Connection, world: str, seed: int = 0) -> dict[str, float]:
    """Bot -> Elo in the games of the bots among themselves; {}: none were played here yet."""
    ladder = get_value(connection, f"ladder {world} {seed}")
    if ladder is None:
        return {}
    found = rate([Games(x, y, from_digits(digits)) for x, y, digits in ladder])
    return {bot: round(found.elo(bot)) for bot in {name for row in ladder for name in row[:2]}}


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
