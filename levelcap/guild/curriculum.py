"""Who gets how much of the training: shares between skills, by strategy.

A strategy turns standings into shares that add up to 1. A preset is a strategy with its skills;
`weakest` says for which level data is made when a queue would run dry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from levelcap.kit.errors import BadValue, check_known, refuse, unknown_name

FOCUS_SHARE = 0.8


@dataclass(frozen=True)
class Standing:
    """Where a hero stands in one skill."""

    skill: str
    level: int
    levels: int
    accuracy: float | None = None  # of the last evaluation; None: not examined yet


@dataclass(frozen=True)
class Curriculum:
    """A strategy and what it needs to know."""

    strategy: str
    skills: tuple[str, ...]
    focus: str | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    preset: str | None = None  # of the skill, e.g. bin_add

    def __post_init__(self) -> None:
        check_known("strategy", self.strategy, STRATEGIES)
        if not self.skills:
            raise BadValue(refuse("a curriculum needs skills", self.skills, "Name at least one"))
        if self.strategy == "focus" and self.focus not in self.skills:
            raise unknown_name("skill to focus on", str(self.focus), self.skills)
        bad = [n for n, w in self.weights.items() if n not in self.skills or not 0 <= w < 1e9]
        if bad or (self.strategy == "weighted" and not sum(self.weights.values()) > 0):
            remedy = "Give skills of the curriculum weights from 0, one above 0"
            raise BadValue(refuse("weights are refused", dict(self.weights), remedy))


def _equal(curriculum: Curriculum, standings: Sequence[Standing]) -> dict[str, float]:
    return {s.skill: 1.0 for s in standings}


def _focus(curriculum: Curriculum, standings: Sequence[Standing]) -> dict[str, float]:
    others = max(1, len(standings) - 1)
    rest = (1 - FOCUS_SHARE) / others
    return {s.skill: FOCUS_SHARE if s.skill == curriculum.focus else rest for s in standings}


def _weighted(curriculum: Curriculum, standings: Sequence[Standing]) -> dict[str, float]:
    return {s.skill: curriculum.weights.get(s.skill, 0.0) for s in standings}


def _lowest_first(curriculum: Curriculum, standings: Sequence[Standing]) -> dict[str, float]:
    lowest = weakest(standings)
    return {s.skill: float(s.skill == lowest.skill) for s in standings}


def _catch_up(curriculum: Curriculum, standings: Sequence[Standing]) -> dict[str, float]:
    """One part each, and one more for every level behind the foremost."""
    first = max(s.level for s in standings)
    return {s.skill: 1.0 + first - s.level for s in standings}


STRATEGIES: dict[str, Callable[[Curriculum, Sequence[Standing]], dict[str, float]]] = {
    "equal": _equal,
    "focus": _focus,
    "weighted": _weighted,
    "lowest_first": _lowest_first,
    "catch_up": _catch_up,
}
PRESETS: dict[str, Curriculum] = {
    "balanced": Curriculum("equal", ("bin", "sy")),
    "bin_focus": Curriculum("focus", ("bin", "sy"), focus="bin"),
    "sy_focus": Curriculum("focus", ("bin", "sy"), focus="sy"),
    "bin_add": Curriculum("equal", ("bin",), preset="bin_add"),
}


def get_curriculum(preset: str) -> Curriculum:
    """The curriculum of a preset's name.

    Raises:
        UnknownName: there is none.
    """
    return PRESETS[check_known("curriculum", preset, PRESETS)]


def shares(curriculum: Curriculum, standings: Sequence[Standing]) -> dict[str, float]:
    """Skill -> share of the training, adding up to 1; standings of other skills are ignored.

    Raises:
        BadValue: none of the curriculum's skills has a standing.
    """
    ours = [s for s in standings if s.skill in curriculum.skills]
    if not ours:
        remedy = f"Give standings of {', '.join(curriculum.skills)}"
        raise BadValue(refuse("no standing to share by", [s.skill for s in standings], remedy))
    parts = STRATEGIES[curriculum.strategy](curriculum, ours)
    total = sum(parts.values())
    if total <= 0:
        return {s.skill: 1 / len(ours) for s in ours}
    return {name: part / total for name, part in parts.items()}


def weakest(standings: Sequence[Standing]) -> Standing:
    """The skill that needs data first: least of its levels passed, then least accuracy."""
    if not standings:
        raise BadValue(refuse("no standings", standings, "Give at least one"))
    return min(standings, key=lambda s: (s.level / s.levels, s.accuracy or 0.0, s.skill))
