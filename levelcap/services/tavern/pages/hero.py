"""`/`: the hero, its stats, the battle going on, what happened."""

from __future__ import annotations

from functools import cached_property
from typing import Any

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
CURVE_S = 4.0  # between two readings of the curve


class Shown:
    """What the template shows; each part reads only what it needs, because one is read a second."""

    def __init__(self, tavern: Tavern, moment: Moment) -> None:
        self._tavern, self._moment = tavern, moment
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
    def events(self) -> list[Event]:
        """The newest first."""
        return self._tavern.realm.read(lambda connection: list_events(connection, limit=FEED))

    @property
    def hits(self) -> list[tuple[int, str]]:
        """Update and damage of the blows since the last look."""
        fight = self._moment.fight
        blows = () if fight is None else fight.hits
        return [(update, lore.number(lore.damage(loss))) for update, loss in blows]

    @cached_property
    def curve(self) -> dict[str, Any] | None:
        """The loss of the battle, or of the last one, as a chart."""
        work = self._tavern.realm.read
        data = self._tavern.pulse.recent("curve", lambda: work(_curve, self._moment), CURVE_S)
        return plots.curve(data) if data is not None and len(data["step"]) > 1 else None

    def skills(self, words: str, between: str, shouted: bool) -> str:
        """The levels of a text hero's skills."""
        rows = self._moment.hero.skills.items()
        return between.join(words.format(n.upper() if shouted else n, lvl) for n, lvl in rows)


class HeroView(View[Asked]):
    """A welcome, then the hero and its honours beside the battle and what happened."""

    asked = Asked
    fresh_s = 0.8

    def __init__(self, tavern: Tavern, place: lore.Place) -> None:
        super().__init__(tavern, place)
        self.orders = {"begin": self._begin}

    def _begin(self, _keeper: KeeperClient, _given: OrderBody) -> Said:
        self.tavern.visits.welcome()
        return Said()

    def read(self, moment: Moment, asked: Asked) -> Shown:
        """Nothing yet: the parts read what they show."""
        return Shown(self.tavern, moment)


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
