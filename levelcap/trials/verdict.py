"""A verdict: what was measured of a candidate, against whom, pass or fail, and why. No torch.

Every champion has one. Version 1 is panel + interval: an arena hero's Elo difference to the
champion on one panel, a text hero's level and share of right answers, each with its 95 % interval.
A person may decide otherwise: an `Override` says who and why, and is kept for ever, too.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.ids import check_words

VERSION = 1
Figure = tuple[float, float, float]  # value, low, high


@dataclass(frozen=True)
class Verdict:
    """The outcome of judging `candidate` against `champion` (None: there was none)."""

    candidate: str
    champion: str | None
    kind: str
    """panel (arena) or exam (text)"""
    passed: bool
    reason: str
    figures: dict[str, Figure] = field(default_factory=dict)
    """name -> value with its interval: elo, difference, accuracy …"""
    version: int = VERSION

    def as_json(self) -> dict[str, Any]:
        """Plain values, for the line of the champion."""
        return {**asdict(self), "figures": {n: list(f) for n, f in self.figures.items()}}


@dataclass(frozen=True)
class Override:
    """A promotion that nobody measured: why, and who wanted it."""

    reason: str
    who: str

    def __post_init__(self) -> None:
        for name in ("reason", "who"):
            value = check_words(getattr(self, name))
            if not 0 < len(value.strip()) <= 200:
                what = f"{name} of an override has 1 to 200 characters"
                raise BadValue(refuse(what, value, f"Give a {name}"))

    def as_json(self) -> dict[str, Any]:
        """Plain values, told from a verdict's by their key."""
        return {"version": VERSION, "override": asdict(self)}


Decision = Verdict | Override
