"""A verdict: what was measured of a candidate, against whom, pass or fail, and why. No torch.

Every champion has one. Version 1 is panel + interval: an arena hero's Elo difference to the
champion on one panel, a text hero's level and share of right answers, each with its 95 % interval.
Version 2 is a whole trial: `parts` holds screen, strength, safety, robust, speed and cost, each
with `passed` and `why`. A person may decide otherwise: an `Override` says who and why, and is kept
for ever, too.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from levelcap.kit.errors import BadFile, BadValue, refuse
from levelcap.kit.ids import check_words

VERSION, TRIAL_VERSION = 1, 2
KINDS = ("panel", "exam", "trial")
Figure = tuple[float, float, float]  # value, low, high


@dataclass(frozen=True)
class Verdict:
    """The outcome of judging `candidate` against `champion` (None: there was none)."""

    candidate: str
    champion: str | None
    kind: str
    """one of `KINDS`: panel (arena), exam (text) or trial (arena, version 2)"""
    passed: bool
    reason: str
    figures: dict[str, Figure] = field(default_factory=dict)
    """name -> value with its interval: elo, difference, accuracy …"""
    version: int = VERSION
    parts: dict[str, Any] = field(default_factory=dict)
    """version 2: name of a part -> its plain values"""
    provisional: bool = False
    """an empty throne's first hero, by the panel alone"""

    def as_json(self) -> dict[str, Any]:
        """Plain values, for the line of the champion or a file."""
        said = {**asdict(self), "figures": {n: list(f) for n, f in self.figures.items()}}
        if self.version == VERSION:
            del said["parts"], said["provisional"]
        return said


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


def verdict_from_json(said: Any) -> Verdict:
    """The verdict of a file or a line, of version 1 or 2.

    Raises:
        BadFile: it is none, or of a version that came later.
    """
    remedy = "Give a verdict.json that levelcap trial wrote"
    if not isinstance(said, dict) or said.get("version") not in (VERSION, TRIAL_VERSION):
        found = said.get("version") if isinstance(said, dict) else type(said).__name__
        raise BadFile(refuse("no verdict of version 1 or 2", found, remedy))
    names = {f.name: f for f in fields(Verdict)}
    lacking = [n for n in ("candidate", "champion", "kind", "passed", "reason") if n not in said]
    odd = [n for n in said if n not in names]
    if lacking or odd or said["kind"] not in KINDS or not isinstance(said["passed"], bool):
        shown = {"lacking": lacking, "unknown": odd, "kind": said.get("kind")}
        raise BadFile(refuse("a verdict with other fields", shown, remedy))
    figures = {name: tuple(figure) for name, figure in said.get("figures", {}).items()}
    return Verdict(**{**said, "figures": figures})
