"""Everything the guild's page shows of a text hero."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from levelcap.campaign.kinds.heroes import get_text_hero
from levelcap.campaign.kinds.studies import curriculum_of
from levelcap.campaign.sheet.cap import Cap, estimate_cap
from levelcap.campaign.sheet.drift import PassiveTable, passives
from levelcap.campaign.sheet.titles import SkillHonours, skill_titles
from levelcap.campaign.story import campaigns, skills
from levelcap.campaign.story.campaigns import Campaign
from levelcap.campaign.story.skills import Best, SkillStanding
from levelcap.guild.curriculum import PRESETS, STRATEGIES, Curriculum
from levelcap.guild.primitives import PRIMITIVES, TRACK_OF
from levelcap.kit.db import Connection
from levelcap.vault.lookup import newest_examined


@dataclass(frozen=True)
class SkillSheet:
    """Where a hero stands in a skill, where its level is heading, and its titles."""

    standing: SkillStanding
    cap: Cap
    honours: SkillHonours

    def as_json(self) -> dict[str, Any]:
        """Plain values, all of them side by side."""
        pool, following = self.standing.pool, self.honours.title_next
        return {
            **asdict(self.standing),
            "pool": {**asdict(pool), "memorisable": pool.memorisable},
            "cap": self.cap.as_json(),
            "title_won": self.honours.title_won,
            "title_next": None if following is None else following.model_dump(),
            "warnings": self.honours.warnings,
        }


@dataclass(frozen=True)
class PrimitiveRow:
    """How often problems that use a primitive were right."""

    name: str
    track: str
    right: int
    count: int
    accuracy: float | None


@dataclass(frozen=True)
class GuildSheet:
    """The guild of one text hero; chosen: what its campaign's settings say of the curriculum."""

    hero: str
    campaign: str | None
    skills: list[SkillSheet]
    primitives: list[PrimitiveRow]
    passives: PassiveTable | None
    bests: list[Best]
    curriculum: Curriculum | None
    chosen: dict[str, str | None]
    presets: list[str]
    strategies: list[str]

    def as_json(self) -> dict[str, Any]:
        """Plain values, as the API gives them."""
        shown, taught = ("strategy", "skills", "preset", "focus"), self.curriculum
        return {
            **{name: value for name, value in vars(self).items() if name in _PLAIN},
            "skills": [row.as_json() for row in self.skills],
            "primitives": [asdict(row) for row in self.primitives],
            "passives": self.passives and self.passives.as_json(),
            "bests": [asdict(row) for row in self.bests],
            "curriculum": taught and {name: getattr(taught, name) for name in shown},
        }


_PLAIN = ("hero", "campaign", "chosen", "presets", "strategies")


def guild_sheet(connection: Connection, hero_id: str) -> GuildSheet:
    """Skills, primitives, passives, curriculum and personal bests; not yet measured is None.

    Raises:
        UnknownName: no such text hero.
    """
    hero = get_text_hero(hero_id)
    campaign = campaigns.current(connection, hero_id)
    found = [] if campaign is None else skills.standings(connection, campaign)
    chosen = {} if campaign is None else campaign.config_overrides
    return GuildSheet(
        hero=hero.id,
        campaign=None if campaign is None else campaign.id,
        skills=[_skill(connection, campaign, row) for row in found] if campaign else [],
        primitives=_primitives(found),
        passives=_passives(connection, hero_id),
        bests=skills.bests(connection, hero_id),
        curriculum=None if campaign is None else curriculum_of(hero, campaign),
        chosen={name: chosen.get(name) for name in ("curriculum", "strategy")} if campaign else {},
        presets=list(PRESETS),
        strategies=list(STRATEGIES),
    )


def _skill(connection: Connection, campaign: Campaign, row: SkillStanding) -> SkillSheet:
    ups = skills.level_ups(connection, campaign.id, row.skill)
    points = [(up.core_seconds, up.level + 1.0) for up in ups]
    return SkillSheet(row, estimate_cap(points, row.core_seconds or 0.0), skill_titles(row))


def _primitives(found: list[SkillStanding]) -> list[PrimitiveRow]:
    """All 39 and those of SY, with right and count over the last ten exams of each skill."""
    counts: dict[str, list[int]] = {name: [0, 0] for name in PRIMITIVES}
    for row in found:
        for name, (right, count) in row.primitives.items():
            before = counts.get(name, [0, 0])
            counts[name] = [before[0] + right, before[1] + count]
    return [
        PrimitiveRow(
            name, TRACK_OF.get(name, "words"), right, count, right / count if count else None
        )
        for name, (right, count) in counts.items()
    ]


def _passives(connection: Connection, hero_id: str) -> PassiveTable | None:
    """The table of the newest checkpoint whose passives were asked."""
    entry = newest_examined(connection, hero_id)
    return None if entry is None else passives(connection, entry)
