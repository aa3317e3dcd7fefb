"""`/vault`: every checkpoint that was kept: sort, compare, verify, promote, pack, pin, delete."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from nicegui import context, ui

from levelcap.kit.db import reading
from levelcap.services.tavern import lore
from levelcap.services.tavern.frame import Tavern, frame, page_heading
from levelcap.services.tavern.page import Page, Pager, table
from levelcap.services.tavern.pages.comparison import show_comparison
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.tags import (
    Acts,
    Icon,
    Modal,
    Tag,
    button,
    card,
    div,
    heading,
    paragraph,
    span,
    tip,
)
from levelcap.vault import champion, removals
from levelcap.vault.champion import Promotion
from levelcap.vault.ledger import Entry, get_ledger

PATH = "/vault"
PAGE = 25
UNDO_S = 30
COLUMNS = (
    ("Checkpoint", ""), ("Step", "num"), ("Elo", "num"), ("Train loss", "num optional"),
    ("ACC", "num optional"), ("Size", "num optional"), ("", ""),
)  # fmt: skip
SORTED_BY = {
    "Checkpoint": "seq", "Step": "step", "Elo": "elo", "Train loss": "train_loss",
    "ACC": "accuracy", "Size": "size_bytes",
}  # fmt: skip


def build(tavern: Tavern) -> None:
    """Registers the page."""

    @ui.page(PATH, title=f"Vault · {lore.TITLE_LINE}")
    async def vault_page() -> None:
        moment = await tavern.pulse.now()
        page = VaultPage(tavern, moment.hero.id)
        await page.read()
        with frame(tavern, PATH, moment):
            page.build()
        tavern.pulse.listen(context.client, page.refresh)


class VaultPage(Page):
    """One open page."""

    def __init__(self, tavern: Tavern, hero: str) -> None:
        super().__init__(tavern)
        self.hero = hero
        self.sort, self.descending, self.number = "seq", True, 0
        self.chosen: list[str] = []
        self.rows: list[Entry] = []
        self.total = 0
        self.going: dict[str, str] = {}
        self.lines: list[Promotion] = []
        self._clocks: dict[str, Tag] = {}

    def _read(self) -> None:
        engine = self.tavern.realm.engine
        ledger = get_ledger(engine)
        self.rows = ledger.page(
            self.sort, descending=self.descending, offset=self.number * PAGE, limit=PAGE
        )
        self.total = ledger.count()
        with reading(engine) as connection:
            self.going = removals.waiting(connection)
            self.lines = champion.history(connection, self.hero, 12)

    def _shown(self) -> Any:
        return self.rows, self.total, self.going, self.lines

    def build(self) -> None:
        """Everything, top to bottom."""
        page_heading(
            "Vault",
            "Every checkpoint that was kept, with what was measured when it was saved and judged.",
        )
        with card(None, "ledger-card"):
            with div("row between"):
                self._count = heading("")
                self._tray = div("row")
            self._table = div("table-wrap")
            self._pager = Pager("Back", "Next", self._turn)
        with card("Champions"):
            self._throne = div("form")
        with Modal("Two checkpoints") as self._window:
            self._inside = div("form")
        self._fill()

    async def _turn(self, way: int) -> None:
        last = max(0, (self.total - 1) // PAGE)
        self.number = min(last, max(0, self.number + way))
        await self.reload()

    async def refresh(self, moment: Moment) -> None:
        """Follows what happens; counts down what is about to go."""
        if any(event.kind.startswith(("vault.", "eval.")) for event in moment.events):
            await self.follow()
        for checkpoint, shown in self._clocks.items():
            shown.say(_left(self.going[checkpoint]))

    def _fill(self) -> None:
        self._count.say(lore.counted(self.total, "checkpoint"))
        self._clocks = {}
        self._table.clear()
        with self._table:
            table(
                COLUMNS,
                self.rows,
                self._row,
                head=self._head,
                nothing="Nothing is kept yet: the first checkpoint comes with the first quest.",
            )
        pages = max(1, -(-self.total // PAGE))
        place = f"page {self.number + 1} of {pages}"
        self._pager.show(place, self.number == 0, self.number + 1 >= pages)
        self._throne.clear()
        with self._throne:
            self._champions()
        self._fill_tray()

    def _fill_tray(self) -> None:
        self._tray.clear()
        with self._tray:
            if not self.chosen:
                span("quest-sub", "Choose two with the scales to compare them")
            for checkpoint in self.chosen:
                span("chip", checkpoint)
            if len(self.chosen) == 2:
                button("Compare", self._compare, "primary small", "scales")

    def _head(self, title: str, classes: str) -> None:
        column, sorted_by = SORTED_BY.get(title), {}
        if column == self.sort:
            sorted_by = {"aria_sort": "descending" if self.descending else "ascending"}
        with Tag("th", classes, **sorted_by):
            if column is None:
                return
            arrow = "" if column != self.sort else (" ↓" if self.descending else " ↑")
            Tag("button", "sort", title + arrow, type="button").on(
                "click", self._sort_by(column), args=[]
            )

    def _sort_by(self, column: str) -> Any:
        async def sort() -> None:
            self.descending = not self.descending if column == self.sort else True
            self.sort, self.number = column, 0
            await self.reload()

        return sort

    def _row(self, entry: Entry) -> None:
        is_champion = bool(self.lines) and self.lines[0].checkpoint == entry.id
        classes = "going" if entry.id in self.going else ("champion" if is_champion else "")
        with Tag("tr", classes, data_checkpoint=entry.id):
            with Tag("td"):
                with div("row"):
                    span("mono", entry.id)
                    if is_champion:
                        span("chip", "champion")
                    if entry.pinned:
                        span("chip plain", "pinned")
                Tag(
                    "div",
                    "quest-sub",
                    f"{entry.world} · {lore.ago(entry.timestamp)} · {entry.run or 'imported'}",
                )
            Tag("td", "num", f"{entry.step:,}", data_label="Step")
            with Tag("td", "num", data_label="Elo"):
                low, high = lore.number(entry.elo_low, 4), lore.number(entry.elo_high, 4)
                tip(
                    lore.elo_of(entry),
                    f"95 % interval {low} to {high}, rookie = 1000",
                )
            Tag("td", "num optional", lore.number(entry.train_loss))
            Tag("td", "num optional", lore.percent(entry.accuracy))
            Tag("td", "num optional", lore.size_text(entry.size_bytes))
            with Tag("td", "num"):
                self._acts(entry, is_champion)

    def _acts(self, entry: Entry, is_champion: bool) -> None:
        if entry.id in self.going:
            with div("row acts"):
                self._clocks[entry.id] = span("quest-sub", _left(self.going[entry.id]))
                button("Undo", self._order(entry, "restore", "It stays"), "small primary", "undo")
            return
        deeds = {
            "compare": self._choose(entry.id),
            "promote": self._promote(entry),
            "verify": self._verify(entry),
            "pin": self._pin(entry),
            "delete": self._delete(entry),
        }
        Acts(_acts_of(entry, is_champion, entry.id in self.chosen), lambda name: deeds[name]())

    def _choose(self, checkpoint: str) -> Any:
        def choose() -> None:
            if checkpoint in self.chosen:
                self.chosen.remove(checkpoint)
            else:
                self.chosen = [*self.chosen[-1:], checkpoint]
            self._fill()

        return choose

    async def _compare(self) -> None:
        one, other = self.chosen
        found = await self.tavern.orders.ask("GET", "/api/compare", a=one, b=other)
        if found is not None:
            self._inside.clear()
            with self._inside:
                show_comparison(found)
            self._window.open()

    def _order(self, entry: Entry, verb: str, done: str, body: Any = None) -> Any:
        async def order() -> None:
            path = f"/api/checkpoints/{entry.id}/{verb}"
            await self.tavern.orders.ask("POST", path, body, done=done)
            await self.reload()

        return order

    def _pin(self, entry: Entry) -> Any:
        word = "Unpinned" if entry.pinned else "Pinned"
        return self._order(entry, "pin", word, {"pinned": not entry.pinned})

    def _verify(self, entry: Entry) -> Any:
        async def verify() -> None:
            said = await self.tavern.orders.ask("POST", f"/api/checkpoints/{entry.id}/verify")
            if said is not None:
                well = said.get("problem") is None
                ui.notify(
                    "Every byte is as it was saved" if well else "Damaged",
                    caption=said.get("problem") or entry.id,
                    position="top-right",
                    type="positive" if well else "negative",
                )

        return verify

    def _promote(self, entry: Entry) -> Any:
        async def promote() -> None:
            body = {"checkpoint": entry.id, "reason": "chosen in the Tavern", "who": "the player"}
            await self.tavern.orders.ask("POST", "/api/champion", body)
            await self.reload()

        return promote

    def _delete(self, entry: Entry) -> Any:
        async def delete() -> None:
            path = f"/api/checkpoints/{entry.id}"
            done = f"Goes in {UNDO_S} s"
            await self.tavern.orders.ask("DELETE", path, done=done, delay_s=UNDO_S)
            await self.reload()

        return delete

    def _champions(self) -> None:
        if not self.lines:
            paragraph("No champion yet: the first judged checkpoint becomes one.", "empty")
            return
        with div("row between"):
            span("chip", f"champion: {self.lines[0].checkpoint}")
            button("Roll back", self._roll_back, "small danger", "undo")
        with Tag("ol", "feed"):
            for line in self.lines:
                with Tag("li", "event"):
                    Icon("crown")
                    with div("event-words"):
                        span("event-title mono", line.checkpoint)
                        span("event-text", line.reason)
                    span("event-time", lore.ago(line.time))

    async def _roll_back(self) -> None:
        await self.tavern.orders.ask(
            "POST",
            "/api/champion/rollback",
            {"hero": self.hero},
            done="The champion before is back",
        )
        await self.reload()


def _acts_of(entry: Entry, is_champion: bool, picked: bool) -> list[dict[str, Any]]:
    """What can be done with a row; a champion is neither promoted nor deleted."""
    pin = "Unpin" if entry.pinned else "Pin"
    acts: list[dict[str, Any]] = [
        {"name": "compare", "label": "Compare", "icon": "scales", "picked": picked},
        {"name": "promote", "label": "Promote", "icon": "crown", "title": "Make it champion"},
        {"name": "verify", "label": "Verify", "icon": "check", "title": "Read every byte"},
        {"name": "pin", "label": pin, "icon": "pin"},
        {
            "name": "pack",
            "label": "Pack",
            "icon": "down",
            "title": "Pack as .tar",
            "href": f"/download/checkpoint/{entry.id}",
        },
        {"name": "delete", "label": "Delete", "icon": "trash"},
    ]
    barred = ("promote", "delete") if is_champion else ()
    return [act for act in acts if act["name"] not in barred]


def _left(due: str) -> str:
    seconds = (datetime.fromisoformat(due) - datetime.now(UTC)).total_seconds()
    return f"goes in {max(0, int(seconds))} s"
