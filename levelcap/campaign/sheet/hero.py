"""The hero sheet: level, XP, ATK, DEF, ACC, gold, each with its formula and its raw number.

A hero of the arena lives on updates and wins, a text hero on passed levels and exams.
"""

from __future__ import annotations

from dataclasses import dataclass

from levelcap.campaign.kinds.heroes import KINDS
from levelcap.campaign.kinds.kind import HeroFile, Stat
from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.story.campaigns import Campaign
from levelcap.campaign.story.rows import Row
from levelcap.kit.db import Connection
from levelcap.vault import lookup
from levelcap.vault.champion import Promotion, champion_of
from levelcap.vault.ledger import Entry, row_of

GOLD_A_QUEST = 100


@dataclass(frozen=True)
class Strength:
    """Elo with its 95 % interval; bound: `>` or `<` after a perfect record."""

    elo: float | None = None
    elo_low: float | None = None
    elo_high: float | None = None
    elo_bound: str | None = None


@dataclass(frozen=True)
class HeroSheet(Row):
    """A hero as it stands; skills: skill -> level it works on."""

    id: str
    name: str
    kind: str
    subtitle: str
    portrait: str
    world: str
    chosen: bool
    why_not: str | None
    skills: dict[str, int]
    campaign: Campaign | None
    stats: dict[str, Stat]
    elo: Strength
    """of the newest judged checkpoint"""
    reigns: Strength
    """of the champion"""
    bests: dict[str, float | None]
    """personal bests of ATK and DEF"""
    checkpoint: str | None
    judged: str | None
    champion: Promotion | None


def sheet(connection: Connection, hero: HeroFile) -> HeroSheet:
    """Everything the hero's page and `levelcap status` show; a stat that is not known is None."""
    kind, campaign = KINDS[hero.kind], campaigns.current(connection, hero.id)
    learned = kind.learned(connection, campaign)
    start = campaign.starting_checkpoint if campaign else None
    found = lookup.shown(connection, hero.id, campaign.id if campaign else None, start)
    newest, judged = found or (None, None)
    loss = None if newest is None else newest.train_loss
    held_out, accuracy = (None, None) if judged is None else (judged.val_loss, judged.accuracy)
    reigning = champion_of(connection, hero.id)
    least = zip(("ATK", "DEF"), lookup.least_losses(connection, hero.id), strict=True)
    done = sum(quests.count_done(connection, hero.id).values())
    stats = {
        "level": learned.level,
        "XP": learned.xp,
        "ATK": Stat(1.0 / loss if loss else None, "1 / training loss", loss),
        "DEF": Stat(1.0 / held_out if held_out else None, "1 / held-out loss", held_out),
        "ACC": Stat(accuracy, kind.accuracy, accuracy),
        "gold": Stat(done * GOLD_A_QUEST, f"completed quests x {GOLD_A_QUEST}", done),
    }
    return HeroSheet(
        id=hero.id,
        name=hero.name,
        kind=hero.kind,
        subtitle=hero.subtitle,
        portrait=hero.portrait,
        world=hero.plays,
        chosen=campaigns.chosen_hero(connection) == hero.id,
        why_not=hero.why_not(),
        skills=learned.skills,
        campaign=campaign,
        stats=stats,
        elo=_strength(judged),
        reigns=_strength(None if reigning is None else row_of(connection, reigning.checkpoint)),
        bests={name: 1.0 / value if value else None for name, value in least},
        checkpoint=None if newest is None else newest.id,
        judged=None if judged is None else judged.id,
        champion=reigning,
    )


def _strength(judged: Entry | None) -> Strength:
    if judged is None:
        return Strength()
    return Strength(judged.elo, judged.elo_low, judged.elo_high, judged.elo_bound)
