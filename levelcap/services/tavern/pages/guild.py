"""`/guild`: what the hero can do, as far as it is measured; its titles and achievements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from levelcap.campaign.sheet.guild import SkillSheet
from levelcap.campaign.sheet.titles import Honours, Threshold, honours, load_titles
from levelcap.kit.db import Connection, reading
from levelcap.services.tavern import lore
from levelcap.services.tavern.frame import Tavern
from levelcap.services.tavern.page import Page
from levelcap.services.tavern.pages.curriculum import Controls
from levelcap.services.tavern.pages.guild_text import TextGuild
from levelcap.services.tavern.parts import bar, meter, page_heading, rung, words
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.tags import Icon, Tag, card, div, heading, paragraph, span, tip
from levelcap.vault.evals import evaluations
from levelcap.vault.ledger import Entry
from levelcap.vault.lookup import in_world


class GuildPage(Page):
    """One open page; of a text hero the skills are live."""

    def __init__(self, tavern: Tavern, moment: Moment) -> None:
        super().__init__(tavern, moment)
        self.skills = TextGuild(tavern, moment) if moment.hero.kind == "text" else None
        self.found: Found

    def _read(self) -> None:
        self.found = _load(self.tavern, self.moment)
        if self.skills is not None:
            self.skills._read()

    def build(self) -> None:
        """Skills or rulesets, then titles and achievements."""
        page_heading("Guild", "What the hero can do, as far as it has been measured.")
        if self.skills is not None:
            self.skills.build()
            Controls(self.tavern).build(self.skills.sheet)
        else:
            with div("split"):
                _rulesets(self.found.worlds)
                _intents(self.found.worlds)
        _titles(self.moment, self.skills.sheet.skills if self.skills else [])
        _achievements(self.found.honours)

    def refresh(self, moment: Moment) -> Any:
        """The skills follow what happens."""
        return None if self.skills is None else self.skills.refresh(moment)


@dataclass(frozen=True)
class Measured:
    """The newest judged checkpoint in a ruleset, the best there, its sealed matches, intents."""

    newest: Entry
    best: Entry
    sealed: dict[str, Any]
    intents: dict[str, Any]


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
    last = judged[-1] if judged else {}
    return Measured(newest, best, last.get("sealed", {}), last.get("intents", {}))


def _rulesets(worlds: dict[str, Measured | None]) -> None:
    with card("Rulesets"):
        for name, (title, text) in lore.RULESETS.items():
            found = worlds[name]
            with Tag("section", "skill", aria_label=title):
                with div("row between"):
                    heading(title, 3)
                    if found is None:
                        span("chip plain", "not entered yet")
                    else:
                        judged = f"newest judged checkpoint: {found.newest.id}"
                        best = f"best so far: {lore.elo_of(found.best)}"
                        tip(f"Elo {lore.elo_of(found.newest)}", f"{judged}\n{best}", "chip")
                paragraph(text, "muted")
                for bot, record in ({} if found is None else found.sealed).items():
                    rate = float(record["win_rate"])
                    formula = "win rate = (wins + draws / 2) / games\nraw value: "
                    against = f"against {bot}" if "seer" in bot else f"against cousins of {bot}"
                    said, label = lore.percent(rate), f"Win rate, {bot}"
                    meter(against, said, f"{formula}{rate:.4f}", rate, label)


def _intents(worlds: dict[str, Measured | None]) -> None:
    """How well the hero does each, in the first ruleset where it was measured."""
    known = [(world, found) for world, found in worlds.items() if found and found.intents]
    with card("Intents"):
        if not known:
            text = (
                "The five things a player can be about at any moment. Measured at every evaluation "
                "of a hero that states them (the hierarchy does); of this one nothing is known yet."
            )
        else:
            world, found = known[0]
            text = (
                f"The five things a player can be about, in {lore.RULESETS[world][0]} against "
                f"veteran: how well {found.newest.id} does each, and how much of its time it takes."
            )
        paragraph(text, "muted")
        for name, (icon, text) in lore.INTENTS.items():
            with Tag("section", "intent", aria_label=name):
                Icon(icon)
                with words(name, text):
                    if known:
                        _intent(name, known[0][1].intents[name])
                if not known:
                    span("chip plain", "not measured")


def _intent(name: str, row: dict[str, Any]) -> None:
    what, unit = lore.INTENT_MEASURES[name]
    if not row["count"]:
        span("muted", "never wanted in these matches")
        return
    times = lore.counted(row["count"], unit)
    said = f"{lore.percent(row['share'])} · {times}, {lore.percent(row['time'])} of the time"
    interval = f"95 % interval: {row['low']:.2f} – {row['high']:.2f}\nraw value: {row['share']:.4f}"
    meter(what, said, f"{what}\n{interval}", row["share"], f"{name}: {what}")


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
                with rung("check" if done else "lock", row.title, done):
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
                    with words(row.title, row.text):
                        bar(min(1.0, deed.have / row.at), row.title)
                    have = min(deed.have, row.at)
                    span("quest-sub", f"{lore.number(int(have))} / {lore.number(int(row.at))}")
