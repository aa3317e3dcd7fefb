"""`/`: the hero, its stats, the battle going on, what happened."""

from __future__ import annotations

from typing import Any

from levelcap.campaign.sheet.hero import HeroSheet, Strength
from levelcap.campaign.sheet.titles import honours
from levelcap.campaign.story import curves, runs
from levelcap.campaign.story.events import Event, list_events
from levelcap.kit.db import reading
from levelcap.services.tavern import charts, lore
from levelcap.services.tavern.frame import Tavern
from levelcap.services.tavern.page import Page
from levelcap.services.tavern.parts import bar, chips, figures
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.tags import (
    Battle,
    Feed,
    Icon,
    Portrait,
    Tag,
    button,
    card,
    div,
    heading,
    link,
    paragraph,
    put,
    span,
    tip,
)
from levelcap.services.tavern.visits import summary

FEED = 40
BADGES = 6
CURVE_EVERY = 5  # looks between two drawings of the curve
STAT_ICONS = {"ATK": "swords", "DEF": "shield", "ACC": "target", "gold": "coin"}


def _curve(connection: Any, moment: Moment) -> dict[str, Any] | None:
    """The loss of the running run, else of the newest one."""
    run = None if moment.fight is None else moment.fight.run
    if run is None:
        newest = runs.list_runs(connection, limit=1)
        run = newest[0].id if newest else None
    if run is None:
        return None
    known = curves.metrics_of(connection, run)
    metric = "loss" if "loss" in known else "value_loss"
    return curves.read(connection, run, metric, "all")


class HeroPage(Page):
    """One open page."""

    def __init__(self, tavern: Tavern, moment: Moment) -> None:
        super().__init__(tavern, moment)
        self._looks = self._updates = 0
        self._since = tavern.visits.away_since()

    def _read(self) -> None:
        sheet = self.moment.hero
        with reading(self.tavern.realm.engine) as connection:
            self.honours = honours(connection, sheet.id, lore.steps_of(sheet), sheet.elo.elo)
            self.events = list_events(connection, limit=FEED)
            self.curve = _curve(connection, self.moment)
            self.away = None if self._since is None else summary(connection, self._since)

    def build(self) -> None:
        """A welcome, then the hero and its honours beside the battle and what happened."""
        if not self.tavern.visits.welcomed:
            self._welcome()
        elif self.away and self.away["events"]:
            self._away(self.away)
        with div("hero-grid"):
            with div("pillar"):
                self._sheet()
                self._honours()
            with div("pillar"):
                self._battle()
                self._feed()
        self.refresh(self.moment)

    def _welcome(self) -> None:
        with card("Welcome to the Realm of Training", "welcome") as shown:
            for line in lore.WELCOME[self.moment.hero.kind]:
                paragraph(line)

            def read() -> None:
                self.tavern.visits.welcome()
                shown.delete()

            button("Begin", read, "primary", "play")

    def _away(self, away: dict[str, Any]) -> None:
        with card("While you were away", "away") as shown:
            lines = away["lines"] or [f"{away['events']} small things happened"]
            chips((line, "") for line in lines)
            button("Good to know", shown.delete, "small")

    def _sheet(self) -> None:
        hero = self.moment.hero
        with card(None, "sheet"):
            self._portrait = Portrait(hero.portrait, f"Portrait of {hero.name}")
            heading(hero.name, 1, "hero-name")
            self._title = paragraph("", "hero-title")
            with div("level-line"):
                self._level = tip("", "", "level-number")
                self._elo = tip("", "", "elo")
            self._xp = bar(0, "Experience in this level", "xp", lore.STEPS_A_LEVEL)
            self._xp_words = tip("", "", "xp-words")
            self._stats: dict[str, Tag] = {}
            with Tag("dl", "stats"):
                for name, icon in STAT_ICONS.items():
                    with div("stat"):
                        with Tag("dt"):
                            Icon(icon)
                            span(text=lore.STATS[name])
                        with Tag("dd"):
                            self._stats[name] = tip("", "")
            self._campaign = paragraph("", "campaign-line")

    def _battle(self) -> None:
        hero_kind = self.moment.hero.kind
        with card(None, "fight"):
            with div("card-head"):
                self._battle_title = heading("", 2)
                self._battle_kind = span("chip", "")
            self._scene = Battle()
            self._progress = bar(0, "Progress of the quest", "quest-bar")
            self._damage, self._speed, self._earned, self._time = figures(
                (
                    ("Damage", "–", "damage = 1 / loss"),
                    ("Speed", "–", f"{lore.STEPS[hero_kind]} a second"),
                    (lore.BATTLE_XP[hero_kind], "–", "optimizer updates of this run"),
                    ("Fought for", "–", "training time of this run"),
                )
            )
            heading("Loss of this battle", 3)
            self._chart = charts.Chart({}, "Loss over XP", "loss")
            self._no_chart = paragraph("The curve appears with the first blows.", "empty")
            self._draw(self.curve)

    def _feed(self) -> None:
        with card("What happened", "feed-card"):
            lines = [_line(event) for event in self.events]
            self._list = Feed("What happened", lines, FEED)
            if not lines:
                paragraph("Nothing yet: the first quest is on its way.", "empty")

    def _honours(self) -> None:
        found = self.honours.deeds
        done = [deed for deed in found if deed.done]
        with card("Achievements", "honours"):
            paragraph(f"{len(done)} of {len(found)} reached", "muted")
            open_ = [deed for deed in found if not deed.done]
            with Tag("ul", "badges"):
                for deed in [*done[-BADGES:], *open_[: max(2, BADGES - len(done))]]:
                    row = deed.achievement
                    classes = "badge done" if deed.done else "badge"
                    have, at = lore.number(deed.have), lore.number(row.at)
                    words = f"{row.text} ({have} of {at})"
                    with Tag(
                        "li",
                        f"{classes} tip",
                        data_tip=f"{row.title}\n{words}",
                        tabindex="0",
                        aria_label=f"{row.title}: {words}",
                    ):
                        Icon("star" if deed.done else "lock")
                        span(text=row.title)
            link("All of them in the Guild", "/guild", "more")

    def refresh(self, moment: Moment) -> Any:
        """Show a moment; draws the curve now and then."""
        self.moment = moment
        self._show_sheet(moment.hero)
        self._show_battle(moment)
        self._list.add([_line(event) for event in reversed(moment.events)])
        self._looks += 1
        return self._redraw() if self._looks % CURVE_EVERY == 0 else None

    def _show_sheet(self, hero: HeroSheet) -> None:
        stats, found = hero.stats, self.honours
        level = stats["level"].value
        training = self.moment.training
        resting = training["quest"] is None or training["state"] != "running"
        champion = hero.champion is not None
        put(self._portrait, level=level, champion=champion, resting=resting)
        names = [name for name in (found.title, found.elo_title) if name]
        self._title.say(" · ".join(names) or "Untrained")
        _explain(self._level, f"Level {level}", lore.stat_tip("level", stats["level"]))
        if hero.kind == "text":
            self._show_learned(hero)
        else:
            _explain(self._elo, f"Elo {lore.elo_of(hero.elo)}", _elo_tip(hero.elo))
            have, need = lore.experience(int(stats["XP"].value or 0))
            self._xp.put(value=have)
            _explain(self._xp_words, f"{have:,} / {need:,} XP", lore.stat_tip("XP", stats["XP"]))
        for name, shown in self._stats.items():
            value = lore.stat_value(name, stats[name].value)
            _explain(shown, value, lore.stat_tip(name, stats[name]))
        self._campaign.say("no campaign" if hero.campaign is None else hero.campaign.name)

    def _show_learned(self, hero: HeroSheet) -> None:
        """A text hero has levels of skills instead of Elo, and its bar is the last exam."""
        levels = [f"{name.upper()} {level}" for name, level in hero.skills.items()]
        shown = " · ".join(levels) or "no skill yet"
        raw = ", ".join(f"{name} {level}" for name, level in hero.skills.items())
        formula = f"skill level = passed levels + 1\nraw value: {raw or lore.NOT_MEASURED}"
        _explain(self._elo, shown, formula)
        share = hero.stats["ACC"].value or 0.0
        exact = round(min(1.0, share) * lore.STEPS_A_LEVEL)
        self._xp.put(value=exact, aria_label="Exact answers of the last exam")
        xp = hero.stats["XP"]
        said = f"{lore.number(xp.value)} XP · the bar is the last exam"
        _explain(self._xp_words, said, lore.stat_tip("XP", xp))

    def _show_battle(self, moment: Moment) -> None:
        quest, fight = moment.training["quest"], moment.fight
        asleep = quest is None or moment.training["state"] != "running"
        self._battle_title.say("No battle at the moment" if quest is None else quest["title"])
        self._battle_kind.say("resting" if quest is None else lore.quest_words(quest["kind"])[0])
        self._progress.put(value=0 if quest is None else round(float(quest["progress"]), 3))
        put(self._scene, resting=asleep)
        if fight is None:
            return
        formula = f"damage = 1 / loss\nraw value: loss {lore.number(fight.loss, 5)}"
        _explain(self._damage, lore.number(lore.damage(fight.loss)), formula)
        self._speed.say(f"{lore.number(fight.steps_per_s)} steps/s")
        self._earned.say(lore.number(fight.updates))
        self._time.say(lore.lasting(fight.seconds))
        before, hits = self._updates or fight.updates, []
        for update, loss in fight.hits:
            damage = lore.number(lore.damage(loss))
            hits.append({"id": update, "damage": damage, "xp": max(0, update - before)})
            before = max(before, update)
        self._updates = fight.updates
        if hits and not asleep:
            put(self._scene, hits=hits)

    async def _redraw(self) -> None:
        if self.moment.fight is not None:
            self._draw(await self.tavern.pulse.shared("curve", self._read_curve, 4.0))

    def _read_curve(self) -> dict[str, Any] | None:
        return self.tavern.realm.read(_curve, self.moment)

    def _draw(self, data: dict[str, Any] | None) -> None:
        there = data is not None and len(data["step"]) > 1
        self._chart.set_visibility(there)
        self._no_chart.set_visibility(not there)
        if data is not None and there:
            self._chart.show(charts.curve(data, data["metric"].replace("_", " ")))


def _explain(shown: Tag, text: str, tip_text: str) -> None:
    shown.say(text)
    shown.put(data_tip=tip_text, aria_label=f"{text}. {tip_text}")


def _elo_tip(elo: Strength) -> str:
    if elo.elo is None:
        return "Elo = strength against the bots, rookie = 1000\nraw value: not judged yet"
    low, high = lore.number(elo.elo_low, 5), lore.number(elo.elo_high, 5)
    return f"Elo = strength against the bots, rookie = 1000\n95 % interval: {low} to {high}"


def _line(event: Event) -> dict[str, Any]:
    title, icon = lore.event_words(event.kind)
    return {
        "id": event.seq,
        "title": title,
        "icon": icon,
        "text": event.message,
        "severity": event.severity,
        "time": lore.clock(event.time),
        "title_time": event.time,
    }
