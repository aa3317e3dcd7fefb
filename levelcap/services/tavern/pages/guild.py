"""`/guild`: what the hero can do, as far as it is measured; its titles and achievements."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nicegui import context, ui

from levelcap.campaign.sheet.guild import SkillSheet
from levelcap.campaign.sheet.titles import Honours, Threshold, honours, load_titles
from levelcap.kit.db import Connection, reading
from levelcap.services.tavern import lore
from levelcap.services.tavern.frame import Tavern, frame, page_heading
from levelcap.services.tavern.pages.curriculum import Controls
from levelcap.services.tavern.pages.guild_text import TextGuild
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.tags import Icon, Tag, card, div, heading, paragraph, span, tip
from levelcap.vault.evals import evaluations
from levelcap.vault.ledger import Entry
from levelcap.vault.lookup import in_world

PATH = "/guild"


def build(tavern: Tavern) -> None:
    """Registers the page."""

    @ui.page(PATH, title=f"Guild · {lore.TITLE_LINE}")
    async def guild_page() -> None:
        moment = await tavern.pulse.now()
        found = await asyncio.to_thread(_load, tavern, moment)
        reads = moment.hero.kind == "text"
        text_guild = TextGuild(tavern, moment.hero.id)
        if reads:
            await text_guild.read()
        with frame(tavern, PATH, moment):
            page_heading("Guild", "What the hero can do, as far as it has been measured.")
            if reads:
                text_guild.build()
                Controls(tavern).build(text_guild.sheet)
            else:
                with div("split"):
                    _rulesets(found.worlds)
                    _intents()
            _titles(moment, text_guild.sheet.skills if reads else [])
            _achievements(found.honours)
        if reads:
            tavern.pulse.listen(context.client, text_guild.refresh)


@dataclass(frozen=True)
class Measured:
    """The newest judged checkpoint in a ruleset, the best there, and its sealed matches."""

    newest: Entry
    best: Entry
    sealed: dict[str, Any]


@dataclass(frozen=True)
class Found:
    """What the page shows beside the sheet; worlds: ruleset -> what was measured there."""

    worlds: dict[str, Measured | None]
    honours: Honours


def _load(tavern: Tavern, moment: Moment) -> Found:
    hero = moment.hero
    with reading(tavern.realm.engine) as connection:
        return Found(
            {name: _measured(connection, hero.id, name) for name in lore.RULESETS},
            honours(connection, hero.id, lore.steps_of(hero), hero.elo.elo),
        )


def _measured(connection: Connection, hero: str, world: str) -> Measured | None:
    found = in_world(connection, hero, world)
    if found is None:
        return None
    newest, best = found
    judged = evaluations(connection, newest.id)
    return Measured(newest, best, judged[-1]["sealed"] if judged else {})


def _rulesets(worlds: dict[str, Measured | None]) -> None:
    with card("Rulesets"):
        for name, (title, words) in lore.RULESETS.items():
            found = worlds[name]
            with Tag("section", "skill", aria_label=title):
                with div("row between"):
                    heading(title, 3)
                    if found is None:
                        span("chip plain", "not entered yet")
                    else:
                        tip(
                            f"Elo {lore.elo_of(found.newest)}",
                            f"newest judged checkpoint: {found.newest.id}\nbest so far: "
                            f"{lore.elo_of(found.best)}",
                            "chip",
                        )
                paragraph(words, "muted")
                for bot, record in ({} if found is None else found.sealed).items():
                    _meter(bot, record)


def _meter(bot: str, record: dict[str, Any]) -> None:
    rate = float(record["win_rate"])
    with div("meter"):
        with div("meter-head"):
            span(
                "quest-sub", f"against cousins of {bot}" if "seer" not in bot else f"against {bot}"
            )
            tip(lore.percent(rate), f"win rate = (wins + draws / 2) / games\nraw value: {rate:.4f}")
        Tag("progress", "", max="1", value=str(round(rate, 4)), aria_label=f"Win rate, {bot}")


def _intents() -> None:
    with card("Intents"):
        paragraph(
            "The five things a player can be about at any moment. They are named in every "
            "recording; how well the hero does each is not measured yet.",
            "muted",
        )
        for name, (icon, words) in lore.INTENTS.items():
            with Tag("section", "intent", aria_label=name):
                Icon(icon)
                with div("event-words"):
                    span("event-title", name)
                    span("event-text", words)
                span("chip plain", "not measured")


def _titles(moment: Moment, skills: list[SkillSheet]) -> None:
    titles, hero = load_titles(), moment.hero
    with card("Titles"):
        with div("split"):
            unit = "updates" if hero.kind == "text" else "XP"
            _ladder("By experience", titles.steps, lore.steps_of(hero), unit)
            if hero.kind == "text":
                levels = {row.standing.skill: row.standing.level for row in skills}
                for name, rows in titles.skills.items():
                    _ladder(f"By {name.upper()}", rows, levels.get(name), "level")
            else:
                _ladder("By strength", titles.elo, hero.elo.elo, "Elo")


def _ladder(title: str, rows: Sequence[Threshold], value: float | None, unit: str) -> None:
    with Tag("section", aria_label=title):
        heading(title, 3)
        with Tag("ol", "ladder"):
            for row in rows:
                done = value is not None and value >= row.at
                with Tag("li", "rung done" if done else "rung"):
                    Icon("check" if done else "lock")
                    span("rung-title", row.title)
                    at = lore.number(int(row.at))
                    span("quest-sub", f"level {at}" if unit == "level" else f"{at} {unit}")


def _achievements(found: Honours) -> None:
    done = sum(deed.done for deed in found.deeds)
    with card(f"Achievements · {done} of {len(found.deeds)}"):
        with Tag("ul", "deeds"):
            for deed in found.deeds:
                row = deed.achievement
                with Tag("li", "deed done" if deed.done else "deed"):
                    Icon("star" if deed.done else "lock")
                    with div("event-words"):
                        span("event-title", row.title)
                        span("event-text", row.text)
                        share = min(1.0, deed.have / row.at)
                        Tag(
                            "progress",
                            "",
                            max="1",
                            value=str(round(share, 4)),
                            aria_label=row.title,
                        )
                    have = min(deed.have, row.at)
                    span("quest-sub", f"{lore.number(int(have))} / {lore.number(int(row.at))}")
