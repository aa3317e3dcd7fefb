"""`/tests`: is one checkpoint better than another? Tests that run, wait and have ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from levelcap.campaign.sheet.tests import TestRow, list_tests
from levelcap.kit.errors import BadValue, refuse
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.tavern import lore
from levelcap.services.tavern.orders import OrderBody, Said, asks
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View
from levelcap.trials.sprt import PRESETS
from levelcap.vault.ledger import get_ledger

NAMED = ("champion", "latest", "best")
NEWEST = 30  # checkpoints that are offered by name


class TestsAsked(Asked):
    """test: which one is open."""

    test: Annotated[str, Field(max_length=100)] = ""


@dataclass(frozen=True)
class Shown:
    """What the template shows."""

    rows: list[TestRow]
    test: TestRow | None
    names: list[str]  # of checkpoints
    presets: dict[str, str]
    worlds: tuple[str, ...] = tuple(lore.RULESETS)

    def of(self, *states: str) -> list[TestRow]:
        """The tests in one of these states."""
        return [row for row in self.rows if row.state in states]

    @property
    def ended(self) -> list[TestRow]:
        """Those that will not go on."""
        return [row for row in self.rows if row.state not in ("running", "queued")]


def _ask(keeper: KeeperClient, given: OrderBody) -> Said:
    body: dict[str, Any] = {n: str(given.values.get(n, "")) for n in ("a", "b", "world", "preset")}
    minutes = given.values.get("minutes", "")
    try:
        body["minutes"] = float(minutes)
    except (TypeError, ValueError) as error:
        what = "the longest time is a number of minutes"
        raise BadValue(refuse(what, minutes, "Correct this field")) from error
    return Said("It is tested", keeper.add_quest({"quest": "test", **body})["title"])


class TestsView(View[TestsAsked]):
    """What runs with its ratio between the bounds, what waits, what has ended; a form for more."""

    asked = TestsAsked
    fresh_s = 0.8
    orders = {"ask": _ask, "cancel": asks("POST", "/api/quests/{id}/cancel", "Called off")}

    def read(self, moment: Moment, asked: TestsAsked) -> Shown:
        """Tests, and what could be tested."""
        rows = self.tavern.realm.read(list_tests)
        test = next((row for row in rows if row.id == asked.test), None)
        newest = [row.id for row in get_ledger(self.tavern.realm.engine).list(limit=NEWEST)]
        presets = {p.name: f"{p.name}: {p.low:g} to {p.high:g} nElo" for p in PRESETS}
        return Shown(rows, test, [*NAMED, *newest], presets)
