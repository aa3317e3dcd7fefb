"""The hero sheet: level, XP, ATK, DEF, ACC, gold, each with its formula and its raw number.

A hero of the arena lives on updates and wins, a text hero on passed levels and exams.
"""

from __future__ import annotations

from typing import Any

from levelcap.campaign.kinds.heroes import Hero, TextHeroFile
from levelcap.campaign.story import campaigns, skills
from levelcap.kit.db import Connection
from levelcap.vault.champion import champion_of

STEPS_A_LEVEL = 1000
GOLD_A_QUEST = 100


def sheet(connection: Connection, hero: Hero) -> dict[str, Any]:
    """Everything the hero's page and `levelcap status` show; a stat that is not known is None."""
    campaign = campaigns.current(connection, hero.id)
    steps = campaign.current_step if campaign else 0
    newest = _newest(connection, hero.id, campaign.id if campaign else None)
    quests = connection.execute(
        "SELECT count(*) FROM quests JOIN campaigns ON campaigns.id = campaign"
        " WHERE hero_id = :h AND quests.status = 'done'",
        {"h": hero.id},
    ).scalar_one()
    champion = champion_of(connection, hero.id)
    losses = {"ATK": newest.get("train_loss"), "DEF": newest.get("val_loss")}
    text_hero = isinstance(hero, TextHeroFile)
    stats = {
        **(_learned(connection, campaign) if text_hero else {
            "level": _stat(steps // STEPS_A_LEVEL, "steps // 1000", steps),
            "XP": _stat(steps, "optimizer updates", steps),
        }),
        **{
            name: _stat(None if not loss else 1.0 / loss, f"1 / {word} loss", loss)
            for (name, loss), word in zip(losses.items(), ("training", "held-out"), strict=True)
        },
        "ACC": _stat(newest.get("accuracy"), _ACCURACY[hero.kind], newest.get("accuracy")),
        "gold": _stat(int(quests) * GOLD_A_QUEST, "completed quests x 100", int(quests)),
    }  # fmt: skip
    return {
        "id": hero.id, "name": hero.name, "kind": hero.kind, "subtitle": hero.subtitle,
        "portrait": hero.portrait,
        "world": "text" if isinstance(hero, TextHeroFile) else hero.world,
        "chosen": campaigns.chosen_hero(connection) == hero.id,
        "why_not": hero.why_not() if isinstance(hero, TextHeroFile) else None,
        "skills": _levels(connection, campaign) if text_hero else {},
        "campaign": campaign.as_json() if campaign else None, "stats": stats,
        "elo": {key: newest.get(key) for key in ("elo", "elo_low", "elo_high", "elo_bound")},
        "checkpoint": newest.get("id"),
        "champion": champion.as_json() if champion else None,
    }  # fmt: skip


_ACCURACY = {
    "arena": "win rate against the sealed panel", "text": "answers of the last exam that are exact",
}  # fmt: skip


def _levels(connection: Connection, campaign: campaigns.Campaign | None) -> dict[str, int]:
    """Skill -> the level a text hero works on."""
    if campaign is None:
        return {}
    plain = [name for name, (_, preset) in skills.tracks().items() if preset is None]
    names = dict.fromkeys((*plain, *campaign.peak_skill_levels))
    return {name: skills.level_of(connection, campaign, name) for name in names}


def _learned(
    connection: Connection, campaign: campaigns.Campaign | None
) -> dict[str, dict[str, Any]]:
    """Level and XP of a text hero."""
    levels = _levels(connection, campaign)
    passed = sum(level - 1 for level in levels.values())
    query = "SELECT coalesce(sum(xp), 0) FROM exams WHERE campaign = :c"
    earned = connection.execute(query, {"c": campaign and campaign.id}).scalar_one()
    return {
        "level": _stat(1 + passed, "1 + passed levels of all skills", passed),
        "XP": _stat(int(earned), "10 x the level's multiplier x accuracy, an exam", int(earned)),
    }


def _stat(value: float | int | None, formula: str, raw: float | int | None) -> dict[str, Any]:
    return {"value": value, "formula": formula, "raw": raw}


def _newest(connection: Connection, hero: str, campaign: str | None) -> dict[str, Any]:
    """Loss of the newest checkpoint; what only an evaluation knows, of the newest judged one."""
    base = (
        "SELECT id, train_loss, val_loss, accuracy, elo, elo_low, elo_high, elo_bound"
        " FROM ledger"
        " WHERE hero = :h AND (:c IS NULL OR campaign = :c) AND retired IS NULL"
    )
    values = {"h": hero, "c": campaign}
    newest = connection.execute(base + " ORDER BY seq DESC LIMIT 1", values).first()
    if newest is None:
        return {}
    judged = connection.execute(
        base + " AND (elo IS NOT NULL OR role = 'text' AND val_loss IS NOT NULL)"
        " ORDER BY seq DESC LIMIT 1",
        values,
    ).first()
    found = newest._asdict()
    if judged is not None:
        for name in ("val_loss", "accuracy", "elo", "elo_low", "elo_high", "elo_bound"):
            found[name] = getattr(judged, name)
    return found
