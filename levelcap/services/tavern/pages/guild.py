"""`/guild`: what the hero can do, as far as it is measured; its titles and achievements.

What was not measured says so; no figure stands without the number of problems behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from levelcap.campaign.sheet.guild import GuildSheet, SkillSheet, guild_sheet
from levelcap.campaign.sheet.titles import Honours, Threshold, honours, load_titles
from levelcap.guild import progress
from levelcap.kit.db import Connection, reading
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.tavern import lore, plots
from levelcap.services.tavern.orders import OrderBody, Said
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View
from levelcap.vault.evals import evaluations
from levelcap.vault.ledger import Entry
from levelcap.vault.lookup import in_world


@dataclass(frozen=True)
class Measured:
    """The newest judged checkpoint in a ruleset, the best there, its sealed matches, intents."""

    newest: Entry
    best: Entry
    sealed: dict[str, Any]
    intents: dict[str, Any]


@dataclass(frozen=True)
class Ladder:
    """Titles by one measure; value: how far the hero is, None when that is not known."""

    title: str
    rows: Sequence[Threshold]
    value: float | None
    unit: str


@dataclass(frozen=True)
class Shown:
    """What the template shows; worlds: ruleset -> what was measured there; text: of a text hero."""

    worlds: dict[str, Measured | None]
    honours: Honours
    ladders: list[Ladder]
    text: GuildSheet | None
    rules = progress

    @property
    def intents(self) -> tuple[str, Measured] | None:
        """The first ruleset where intents were measured."""
        known = ((world, found) for world, found in self.worlds.items() if found and found.intents)
        return next(known, None)

    def levels(self, sheet: SkillSheet) -> dict[str, Any]:
        """The way of a skill so far, as a chart."""
        row = sheet.standing
        points = [[0.0, 1], *([seconds, level] for level, seconds in row.level_ups)]
        if row.core_seconds:
            points.append([row.core_seconds, row.level])
        return plots.levels(points)

    @property
    def taught(self) -> str:
        """What is studied now."""
        now = self.text.curriculum if self.text else None
        if now is None:
            return ""
        names = " and ".join(name.upper() for name in now.skills)
        extra = f", only {now.preset}" if now.preset else ""
        most = f" on {now.focus.upper()}" if now.strategy == "focus" and now.focus else ""
        return f"Now: {names}{extra}, strategy {now.strategy.replace('_', ' ')}{most}."


def _teach(keeper: KeeperClient, given: OrderBody) -> Said:
    values = {name: value or None for name, value in given.values.items()}
    keeper.call("POST", f"/api/campaigns/{given.id}/settings", {"values": values})
    return Said("Taken over")


class GuildView(View[Asked]):
    """Skills or rulesets, then titles and achievements."""

    asked = Asked
    orders = {"teach": _teach}

    def read(self, moment: Moment, asked: Asked) -> Shown:
        """What was measured of the hero that trains."""
        hero, text = moment.hero, None
        with reading(self.tavern.realm.engine) as connection:
            worlds: dict[str, Measured | None] = {}
            if hero.kind == "text":
                text = guild_sheet(connection, hero.id)
            else:
                worlds = {name: _measured(connection, hero.id, name) for name in lore.RULESETS}
            won = honours(connection, hero.id, lore.steps_of(hero), hero.elo.elo)
        return Shown(worlds, won, _ladders(moment, text), text)


def _measured(connection: Connection, hero: str, world: str) -> Measured | None:
    found = in_world(connection, hero, world)
    if found is None:
        return None
    judged = evaluations(connection, found[0].id)
    last = judged[-1] if judged else {}
    return Measured(*found, last.get("sealed", {}), last.get("intents", {}))


def _ladders(moment: Moment, text: GuildSheet | None) -> list[Ladder]:
    titles, hero = load_titles(), moment.hero
    steps = lore.steps_of(hero)
    if text is None:
        by_elo = Ladder("By strength", titles.elo, hero.elo.elo, "Elo")
        return [Ladder("By experience", titles.steps, steps, "XP"), by_elo]
    levels = {row.standing.skill: row.standing.level for row in text.skills}
    return [
        Ladder("By experience", titles.steps, steps, "updates"),
        *(
            Ladder(f"By {name.upper()}", rows, levels.get(name), "level")
            for name, rows in titles.skills.items()
        ),
    ]
