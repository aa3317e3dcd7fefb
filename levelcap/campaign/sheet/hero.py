"""The hero sheet: level, XP, ATK, DEF, ACC, gold, each with its formula and its raw number.

A hero of the arena lives on updates and wins, a text hero on passed levels and exams.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from levelcap.campaign.kinds.heroes import KINDS
from levelcap.campaign.kinds.kind import HeroFile, Stat
from levelcap.campaign.story import campaigns, quests
from levelcap.kit.db import Connection
from levelcap.vault import lookup
from levelcap.vault.champion import champion_of

GOLD_A_QUEST = 100


def sheet(connection: Connection, hero: HeroFile) -> dict[str, Any]:
    """Everything the hero's page and `levelcap status` show; a stat that is not known is None."""
    kind, campaign = KINDS[hero.kind], campaigns.current(connection, hero.id)
    learned = kind.learned(connection, campaign)
    found = lookup.shown(connection, hero.id, campaign.id if campaign else None)
    newest, judged = found or (None, None)
    loss = None if newest is None else newest.train_loss
    held_out, accuracy = (None, None) if judged is None else (judged.val_loss, judged.accuracy)
    done = sum(quests.count_done(connection, hero.id).values())
    stats = {
        "level": learned.level,
        "XP": learned.xp,
        "ATK": Stat(1.0 / loss if loss else None, "1 / training loss", loss),
        "DEF": Stat(1.0 / held_out if held_out else None, "1 / held-out loss", held_out),
        "ACC": Stat(accuracy, kind.accuracy, accuracy),
        "gold": Stat(done * GOLD_A_QUEST, f"completed quests x {GOLD_A_QUEST}", done),
    }
    champion = champion_of(connection, hero.id)
    return {
        "id": hero.id,
        "name": hero.name,
        "kind": hero.kind,
        "subtitle": hero.subtitle,
        "portrait": hero.portrait,
        "world": hero.plays,
        "chosen": campaigns.chosen_hero(connection) == hero.id,
        "why_not": hero.why_not(),
        "skills": learned.skills,
        "campaign": campaign.as_json() if campaign else None,
        "stats": {name: asdict(stat) for name, stat in stats.items()},
        "elo": {name: judged and getattr(judged, name) for name in _ELO},
        "checkpoint": newest and newest.id,
        "champion": champion.as_json() if champion else None,
    }


_ELO = ("elo", "elo_low", "elo_high", "elo_bound")
