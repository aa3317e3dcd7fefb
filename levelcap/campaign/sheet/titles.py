"""Titles and achievements of a hero: thresholds of `data/titles.yaml`, counts of the realm.

Nothing is stored: both follow from the ledger, the quests and the campaigns, so they are true after
every restart and cannot be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.story import campaigns, quests, skills
from levelcap.campaign.story.skills import SkillStanding, weak
from levelcap.kit.db import Connection
from levelcap.kit.documents import load_yaml
from levelcap.vault.lookup import deeds

COUNTS = (
    *("checkpoints", "imitations", "rounds", "champions", "quests", "evaluations", "elo"),
    *("decisions", "again", "schools", "studies", "spars", "levels"),
)


# Name of a count -> the kind of quest that is counted.
_QUESTS = {
    "imitations": "imitate", "rounds": "reinforce", "schools": "school", "studies": "study",
    "spars": "spar",
}  # fmt: skip


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Threshold(_Row):
    """A title and where it begins."""

    title: str = Field(min_length=1, max_length=40)
    at: float


T = TypeVar("T", bound=Threshold)


class SkillTitle(Threshold):
    """A title of a skill: a level (`at`), and an accuracy at the level after it."""

    accuracy: float = Field(0.0, ge=0, le=1)


class Achievement(_Row):
    """Something to reach once."""

    id: str = Field(pattern=r"^[a-z][a-z-]+$")
    title: str = Field(min_length=1, max_length=40)
    text: str = Field(min_length=1, max_length=80)
    count: str = Field(pattern=f"^({'|'.join(COUNTS)})$")
    at: float = Field(gt=0)
    hero: Literal["any", "arena", "text"] = "any"


class Titles(_Row):
    """The whole file."""

    steps: list[Threshold] = Field(min_length=1)
    elo: list[Threshold]
    skills: dict[str, list[SkillTitle]]
    warnings: dict[Literal["skill_regression", "primitive_weakness"], float]
    achievements: list[Achievement]


@cache
def load_titles() -> Titles:
    """The shipped file."""
    source = resources.files("levelcap") / "data" / "titles.yaml"
    return Titles.model_validate(load_yaml(source.read_text(encoding="utf-8")))


def reached(thresholds: Sequence[Threshold], value: float | None) -> str | None:
    """The highest title a value has reached; None: none yet."""
    names = [row.title for row in thresholds if value is not None and value >= row.at]
    return names[-1] if names else None


def next_title(thresholds: Sequence[T], value: float | None) -> T | None:
    """The nearest title that is not reached yet."""
    return next((row for row in thresholds if value is None or value < row.at), None)


@dataclass(frozen=True)
class SkillHonours:
    """The title of a skill, the next one, and what gives cause for concern."""

    title_won: str | None
    title_next: SkillTitle | None
    warnings: list[str]


def skill_titles(found: SkillStanding) -> SkillHonours:
    """Titles and warnings of a standing."""
    titles, level = load_titles(), found.level
    rows = titles.skills.get(found.of, [])
    sure = [row for row in rows if level > row.at or (found.accuracy or 0.0) >= row.accuracy]
    following = next_title(rows, level)
    bars, said = titles.warnings, []
    peak = found.peak or 0.0
    if found.accuracy is not None and found.accuracy <= peak - bars["skill_regression"]:
        said.append(f"skill_regression: {found.accuracy:.0%}, was {peak:.0%}")
    said += [
        f"primitive_weakness: {name}" for name in weak(found.primitives, bars["primitive_weakness"])
    ]
    have = reached([row for row in sure if row.at <= level], level)
    return SkillHonours(have, following, said)


@dataclass(frozen=True)
class Deed:
    """An achievement and how far it is."""

    achievement: Achievement
    have: float

    @property
    def done(self) -> bool:
        """Is it reached?"""
        return self.have >= self.achievement.at


@dataclass(frozen=True)
class Honours:
    """Titles by steps and by Elo, and every achievement."""

    title: str | None
    elo_title: str | None
    deeds: list[Deed]


def honours(connection: Connection, hero: str, steps: int, elo: float | None) -> Honours:
    """What a hero has earned."""
    titles, kind = load_titles(), find_hero(hero).kind
    counts = count_deeds(connection, hero)
    rows = [row for row in titles.achievements if row.hero in ("any", kind)]
    return Honours(
        reached(titles.steps, steps),
        reached(titles.elo, elo),
        [Deed(row, counts[row.count]) for row in rows],
    )


def count_deeds(connection: Connection, hero: str) -> dict[str, float]:
    """Name of `COUNTS` -> how many."""
    kept, done = deeds(connection, hero), quests.count_done(connection, hero)
    found = {
        **asdict(kept),
        **{name: done.get(kind, 0) for name, kind in _QUESTS.items()},
        "quests": sum(done.values()),
        "again": campaigns.count_again(connection, hero),
        "levels": skills.highest_level(connection, hero),
    }
    return {name: float(found[name]) for name in COUNTS}
