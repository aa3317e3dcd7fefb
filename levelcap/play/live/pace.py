"""How fast a live match is shown: `{"speed": 2, "paused": false}`, either or both."""

from __future__ import annotations

from dataclasses import dataclass

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.files import parse_json

SLOWEST, FASTEST = 0.5, 32.0
LONGEST = 200
REMEDY = 'Send {"speed": 1, "paused": false}'


@dataclass(frozen=True)
class Pace:
    """What is to change; None: leave it."""

    speed: float | None = None
    paused: bool | None = None


def read_pace(text: str) -> Pace:
    """A pace out of text that may come from anywhere; a speed beyond the limits is moved to them.

    Raises:
        BadValue: no such table.
    """
    if len(text) > LONGEST:
        raise BadValue(refuse("too long for a pace", len(text), REMEDY))
    try:
        values = parse_json(text)
    except ValueError as error:
        raise BadValue(refuse("a pace is JSON", text, REMEDY)) from error
    if not isinstance(values, dict) or not set(values) <= {"speed", "paused"}:
        raise BadValue(refuse("no pace", text, REMEDY))
    speed, paused = values.get("speed"), values.get("paused")
    if speed is not None and (isinstance(speed, bool) or not isinstance(speed, int | float)):
        raise BadValue(refuse("speed must be a number", speed, REMEDY))
    if not isinstance(paused, bool | None):
        raise BadValue(refuse("paused must be true or false", paused, REMEDY))
    moved = None if speed is None else float(min(FASTEST, max(SLOWEST, speed)))
    return Pace(moved, paused)
