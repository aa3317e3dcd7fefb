"""What a coach says of two seconds of play: a strict answer, and nothing else is one.

label = read_label(parse_json(text))      # refused when a field is missing, odd or out of range
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from levelcap.kit.errors import BadValue, check_known, refuse
from levelcap.world.spec import INTENTS, OBJECT_SLOTS

# Tactics a coach of ours knows; the vocabulary may grow at its end: numbers are kept in files.
TACTICS = ("brawl", "poke", "siege", "collect", "retreat", "roam", "hold")
MAX_DESCRIPTION = 500
FIELDS = ("health", "tactic", "description", "intent", "target", "confidence")


@dataclass(frozen=True)
class Label:
    """One answer."""

    health: float
    """0 to 100"""
    tactic: str
    """a short word or two"""
    description: str
    """what happened, in at most 500 characters"""
    intent: str
    """one of the five intents"""
    target: int | None
    """slot of the object that mattered, or none"""
    confidence: float
    """0 to 1"""

    def __post_init__(self) -> None:
        check_known("intent", self.intent, INTENTS)
        _check_number("health", self.health, 100)
        _check_number("confidence", self.confidence, 1)
        if not isinstance(self.tactic, str) or not 0 < len(self.tactic) <= 40:
            raise BadValue(refuse("a tactic is a short text", self.tactic, "Use a word or two"))
        if not isinstance(self.description, str) or len(self.description) > MAX_DESCRIPTION:
            what = f"a description has at most {MAX_DESCRIPTION} characters"
            raise BadValue(refuse(what, str(self.description)[:40], "Shorten it"))
        slot = self.target
        if slot is not None and (type(slot) is not int or not 0 <= slot < OBJECT_SLOTS):
            remedy = f"Give a slot from 0 to {OBJECT_SLOTS - 1}, or null"
            raise BadValue(refuse("a target is the slot of an object", slot, remedy))


def read_label(values: Any) -> Label:
    """An answer as parsed from JSON.

    Raises:
        BadValue: not exactly the fields of a label, or one out of range.
    """
    if not isinstance(values, dict) or set(values) != set(FIELDS):
        odd = sorted(set(values) ^ set(FIELDS)) if isinstance(values, dict) else values
        raise BadValue(refuse("an answer has exactly these fields", odd, f"Give {FIELDS}"))
    return Label(**values)


def _check_number(name: str, value: Any, most: float) -> None:
    if type(value) not in (int, float) or not 0 <= value <= most:
        raise BadValue(refuse(f"{name} is a number from 0 to {most}", value, "Correct it"))
