"""`/`: the hero, its stats, the battle going on, what happened."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

from levelcap.campaign.sheet.guild import guild_sheet
from levelcap.campaign.sheet.strength import strength_curve, win_rates
from levelcap.campaign.sheet.titles import Honours, honours
from levelcap.campaign.story import curves, runs
from levelcap.campaign.story.events import Event, list_events
from levelcap.kit.db import Connection
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.tavern import lore, plots
from levelcap.services.tavern.orders import OrderBody, Said
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, Tavern, View
from levelcap.services.tavern.visits import summary
from levelcap.vault.evals import Mark, marks

FEED = 40
READ = 3 * FEED  # events, of which those that say the same again are counted
CURVE_S = 4.0  # between two readings of the curve


class HeroAsked(Asked):
    """Which picture is shown."""

    picture: Literal["strength", "loss"] = "strength"


@dataclass(frozen=True)
class Line:
    """One line of the feed: an event, and how often it came in a row."""

    event: Event
    times: int = 1


class Shown:
    """What the template shows; each part reads only what it needs, because one is read a second."""

    def __init__(self, tavern: Tavern, moment: Moment, picture: str) -> None:
        self._tavern, self._moment, self._picture = tavern, moment, picture
        self.welcomed = tavern.visits.welcomed

    @cached_property
    def away(self) -> dict[str, Any] | None:
        """What happened since somebody was last here, if that is a while ago."""
        since = self._tavern.visits.away_since()
        return None if since is None else self._tavern.realm.read(summary, since)

    @cached_property
    def honours(self) -> Honours:
        """Titles and achievements."""
        hero = self._moment.hero
        given = (hero.id, lore.steps_of(hero), hero.elo.elo)
        return self._tavern.realm.read(honours, *given)

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """The champion's verdict, and the bound that the newest hunt of it found."""
        champion = self._moment.hero.champion
        if champion is None:
            return ()
        found = self._tavern.realm.read(marks, [champion.checkpoint])
        return found.get(champion.checkpoint, ())

    @cached_property
    def rates(self) -> dict[str, dict[str, float]]:
        """Win rates of the champion, or of the newest judged one, against sealed opponents."""
        hero = self._moment.hero
        who = hero.champion.checkpoint if hero.champion else hero.judged
        return {} if who is None else self._tavern.realm.read(win_rates, who)

    @cached_property
    def events(self) -> list[Line]:
        """The newest first; what came several times in a row is one line."""
        read = self._tavern.realm.read(lambda connection: list_events(connection, limit=READ))
        groups = groupby(read, key=lambda event: (event.kind, event.message))
        found = [list(group) for _, group in groups]
        return [Line(group[0], len(group)) for group in found[:FEED]]

    @property
    def hits(self) -> list[tuple[int, str]]:
        """Update and damage of the blows since the last look."""
        fight = self._moment.fight
        blows = () if fight is None else fight.hits
        return [(update, lore.number(lore.damage(loss))) for update, loss in blows]

    @cached_property
    def chart(self) -> dict[str, Any] | None:
        """The picture that was asked for."""
        if self._picture == "loss":
            return self._loss()
        hero = self._moment.hero
        name, read = f"strength {hero.id}", self._tavern.realm.read
        if hero.kind == "text":
            found = self._tavern.pulse.recent(name, lambda: read(guild_sheet, hero.id), CURVE_S)
            examined = any(row.standing.exams for row in found.skills)
            return plots.skill_levels(found.skills) if examined else None
        campaign, world = hero.campaign, hero.world
        if campaign is None:
            return None
        data = self._tavern.pulse.recent(
            name, lambda: read(strength_curve, campaign, world), CURVE_S
        )
        return plots.strength(data) if data.points else None

    @property
    def caps(self) -> list[str]:
        """Where the levels of a text hero's skills are heading, in words."""
        found = self._tavern.realm.read(guild_sheet, self._moment.hero.id)
        return [f"{row.standing.skill.upper()}: {row.cap.words}" for row in found.skills]

    def _loss(self) -> dict[str, Any] | None:
        """The loss of the battle, or of the last one, as a chart."""
        work = self._tavern.realm.read
        data = self._tavern.pulse.recent("curve", lambda: work(_curve, self._moment), CURVE_S)
        return plots.curve(data) if data is not None and len(data["step"]) > 1 else None

    def skills(self, words: str, between: str, shouted: bool) -> str:
        """The levels of a text hero's skills."""
        rows = self._moment.hero.skills.items()
        return between.join(words.format(n.upper() if shouted else n, lvl) for n, lvl in rows)


class HeroView(View[HeroAsked]):
    """A welcome, then the hero and its honours beside the battle and what happened."""

    asked = HeroAsked
    fresh_s = 0.8

    def __init__(self, tavern: Tavern, place: lore.Place) -> None:
        super().__init__(tavern, place)
        self.orders = {"begin": self._begin}

    def _begin(self, _keeper: KeeperClient, _given: OrderBody) -> Said:
        self.tavern.visits.welcome()
        return Said()

    def read(self, moment: Moment, asked: HeroAsked) -> Shown:
        """Nothing yet: the parts read what they show."""
        return Shown(self.tavern, moment, asked.picture)


def _curve(connection: Connection, moment: Moment) -> dict[str, Any] | None:
    """The loss of the running run, else of the newest one."""
    run = None if moment.fight is None else moment.fight.run
    if run is None:
        newest = runs.list_runs(connection, limit=1)
        run = newest[0].id if newest else None
    if run is None:
        return None
    metric = "loss" if "loss" in curves.metrics_of(connection, run) else "value_loss"
    return curves.read(connection, run, metric, "all")
