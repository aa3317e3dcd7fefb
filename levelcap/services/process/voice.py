"""How services speak: events of the battle log, written by whoever has the database."""

from collections.abc import Callable
from typing import Any

from levelcap.campaign.story import events
from levelcap.kit.db import Database

# say(kind, severity, message, data): may wait for the database and may fail.
Say = Callable[[str, str, str, dict[str, Any]], None]


def voice(engine: Database) -> Say:
    """Returns a function that writes one event in a transaction of its own."""

    def say(kind: str, severity: str, message: str, data: dict[str, Any]) -> None:
        events.say(engine, kind, message, severity=severity, data=data)

    return say
