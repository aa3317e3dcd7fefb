"""Everything the guild's page shows of a text hero, as plain values."""

from __future__ import annotations

from typing import Any

from levelcap.campaign.kinds.heroes import get_text_hero
from levelcap.campaign.kinds.studies import curriculum_of
from levelcap.campaign.sheet.cap import estimate_cap
from levelcap.campaign.sheet.drift import passives
from levelcap.campaign.sheet.titles import skill_titles
from levelcap.campaign.story import campaigns, skills
from levelcap.campaign.story.campaigns import Campaign
from levelcap.guild.curriculum import PRESETS, STRATEGIES
from levelcap.guild.primitives import PRIMITIVES, TRACK_OF
from levelcap.kit.db import Connection
from levelcap.vault.lookup import newest_examined


def guild_sheet(connection: Connection, hero_id: str) -> dict[str, Any]:
    """Skills, primitives, passives, curriculum and personal bests; not yet measured is None.

    Raises:
        UnknownName: no such text hero.
    """
    hero = get_text_hero(hero_id)
    campaign = campaigns.current(connection, hero_id)
    found = [] if campaign is None else skills.standings(connection, campaign)
    curriculum = None if campaign is None else curriculum_of(hero, campaign)
    return {
        "hero": hero.id,
        "campaign": None if campaign is None else campaign.id,
        "skills": [
            row | {"cap": _cap(connection, campaign, row)} | skill_titles(row) for row in found
        ],
        "primitives": _primitives(found),
        "passives": _passives(connection, hero_id),
        "bests": skills.bests(connection, hero_id),
        "curriculum": None
        if curriculum is None
        else {
            "strategy": curriculum.strategy,
            "skills": list(curriculum.skills),
            "preset": curriculum.preset,
            "focus": curriculum.focus,
        },
        "chosen": {}
        if campaign is None
        else {name: campaign.config_overrides.get(name) for name in ("curriculum", "strategy")},
        "presets": list(PRESETS),
        "strategies": list(STRATEGIES),
    }


def _cap(
    connection: Connection, campaign: Campaign | None, row: dict[str, Any]
) -> dict[str, Any] | None:
    """Where the levels of a skill are heading."""
    if campaign is None:
        return None
    ups = skills.level_ups(connection, campaign.id, row["skill"])
    points = [(up.core_seconds, up.level + 1.0) for up in ups]
    return estimate_cap(points, row["core_seconds"] or 0.0).as_json()


def _primitives(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All 39 and those of SY, with right and count over the last ten exams of each skill."""
    counts: dict[str, list[int]] = {name: [0, 0] for name in PRIMITIVES}
    for row in found:
        for name, (right, count) in row["primitives"].items():
            before = counts.get(name, [0, 0])
            counts[name] = [before[0] + right, before[1] + count]
    return [
        {
            "name": name,
            "track": TRACK_OF.get(name, "words"),
            "right": right,
            "count": count,
            "accuracy": right / count if count else None,
        }
        for name, (right, count) in counts.items()
    ]


def _passives(connection: Connection, hero_id: str) -> dict[str, Any] | None:
    """The table of the newest checkpoint whose passives were asked."""
    entry = newest_examined(connection, hero_id)
    return None if entry is None else passives(connection, entry)
