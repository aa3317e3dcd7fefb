"""`/vault`: every checkpoint that was kept: sort, compare, verify, promote, pack, pin, delete."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

from nicegui import ui

from levelcap.kit.db import reading
from levelcap.services.tavern import lore
from levelcap.services.tavern.frame import Tavern
from levelcap.services.tavern.page import Page, Pager, table
from levelcap.services.tavern.pages.comparison import show_comparison
from levelcap.services.tavern.parts import line, page_heading
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.tags import (
    Acts,
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
from levelcap.vault import champion, evals, removals
from levelcap.vault.champion import Promotion
from levelcap.vault.evals import Mark
from levelcap.vault.ledger import Entry, get_ledger

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


class VaultPage(Page):
    """One open page."""

    sort, descending, number = "seq", True, 0
    chosen: tuple[str, ...] = ()
    rows: list[Entry]
    going: dict[str, str]  # checkpoint -> when it is removed
    lines: list[Promotion]
    marks: dict[str, tuple[Mark, ...]]  # checkpoint -> its trial and its hunt

    def __init__(self, tavern: Tavern, moment: Moment) -> None:
        super().__init__(tavern, moment)
        self._scales: dict[str, Acts] = {}  # where a checkpoint is chosen

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
            self.marks = evals.marks(connection, [row.id for row in self.rows])

    def build(self) -> None:
        """The ledger, the champions, a window to compare in."""
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
        """Follows what happens."""
        if any(event.kind.startswith(("vault.", "eval.")) for event in moment.events):
            await self.reload()

    def _fill(self) -> None:
        self._count.say(lore.counted(self.total, "checkpoint"))
        now = self.lines[0].checkpoint if self.lines else None
        table(
            self._table,
            COLUMNS,
            {
                row.id: (row, row.id == now, self.going.get(row.id), self.marks.get(row.id, ()))
                for row in self.rows
            },
            lambda row: self._row(*row),
            head=self._head,
            order=(self.sort, self.descending),
            nothing="Nothing is kept yet: the first checkpoint comes with the first quest.",
        )
        pages = max(1, -(-self.total // PAGE))
        place = f"page {self.number + 1} of {pages}"
        self._pager.show(place, self.number == 0, self.number + 1 >= pages)
        self._throne.redraw(self.lines, self._champions)
        self._tray.redraw(self.chosen, self._fill_tray)

    def _fill_tray(self) -> None:
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

    def _row(
        self, entry: Entry, is_champion: bool, due: str | None, marks: tuple[Mark, ...]
    ) -> Tag:
        classes = "going" if due else ("champion" if is_champion else "")
        with Tag("tr", classes, data_checkpoint=entry.id) as made:
            with Tag("td"):
                with div("row"):
                    span("mono", entry.id)
                    if is_champion:
                        span("chip", "champion")
                    if entry.pinned:
                        span("chip plain", "pinned")
                    for mark in marks:
                        tip(mark.word, mark.sentence, "chip plain")
                self.tell(div("quest-sub"), lambda: _origin(entry))
            Tag("td", "num", f"{entry.step:,}", data_label="Step")
            with Tag("td", "num", data_label="Elo"):
                low, high = lore.number(entry.elo_low, 4), lore.number(entry.elo_high, 4)
                tip(lore.elo_of(entry), f"95 % interval {low} to {high}, rookie = 1000")
            Tag("td", "num optional", lore.number(entry.train_loss))
            Tag("td", "num optional", lore.percent(entry.accuracy))
            Tag("td", "num optional", lore.size_text(entry.size_bytes))
            with Tag("td", "num"):
                self._acts(entry, is_champion, due)
        return made

    def _acts(self, entry: Entry, is_champion: bool, due: str | None) -> None:
        path = f"/api/checkpoints/{entry.id}"
        if due is not None:
            with div("row acts"):
                self.tell(span("quest-sub"), lambda: _left(due))
                undo = self.order(f"{path}/restore", done="It stays")
                button("Undo", undo, "small primary", "undo")
            return
        pinned = "Unpinned" if entry.pinned else "Pinned"
        chosen = {"checkpoint": entry.id, "reason": "chosen in the Tavern", "who": "the player"}
        deeds = {
            "compare": self._choose(entry.id),
            "promote": self.order("/api/champion", chosen),
            "verify": self.order(f"{path}/verify", then=_tell_verified),
            "pin": self.order(f"{path}/pin", {"pinned": not entry.pinned}, done=pinned),
            "delete": self.order(path, method="DELETE", done=f"Goes in {UNDO_S} s", delay_s=UNDO_S),
        }
        acts = _acts_of(entry, is_champion)
        self._scales[entry.id] = Acts(acts, lambda name: deeds[name]())
        self._scales[entry.id].pick("compare", entry.id in self.chosen)

    def _choose(self, checkpoint: str) -> Any:
        def choose() -> None:
            others = tuple(one for one in self.chosen if one != checkpoint)
            picked = checkpoint in self.chosen
            self.chosen = others if picked else (*others[-1:], checkpoint)
            for name, acts in self._scales.items():
                if not acts.is_deleted:
                    acts.pick("compare", name in self.chosen)
            self._tray.redraw(self.chosen, self._fill_tray)

        return choose

    async def _compare(self) -> None:
        one, other = self.chosen
        found = await self.tavern.orders.ask("GET", "/api/compare", a=one, b=other)
        if found is not None:
            self._inside.redraw(found, lambda: show_comparison(found))
            self._window.open()

    def _champions(self) -> None:
        if not self.lines:
            paragraph("No champion yet: the first judged checkpoint becomes one.", "empty")
            return
        with div("row between"):
            span("chip", f"champion: {self.lines[0].checkpoint}")
            body = {"hero": self.hero}
            back = self.order("/api/champion/rollback", body, done="The champion before is back")
            button("Roll back", back, "small danger", "undo")
        with Tag("ol", "feed"):
            for one in self.lines:
                since = line(one.checkpoint, one.reason, "", "crown", "mono")
                self.tell(since, partial(lore.ago, one.time))


def _tell_verified(said: dict[str, Any]) -> None:
    problem = said.get("problem")
    ui.notify(
        "Every byte is as it was saved" if problem is None else "Damaged",
        caption=problem or said["id"],
        position="top-right",
        type="positive" if problem is None else "negative",
    )


def _acts_of(entry: Entry, is_champion: bool) -> list[dict[str, Any]]:
    """What can be done with a row; a champion is neither promoted nor deleted."""
    pin = "Unpin" if entry.pinned else "Pin"
    acts: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
        ("compare", "Compare", "scales", {}),
        ("promote", "Promote", "crown", {"title": "Make it champion"}),
        ("verify", "Verify", "check", {"title": "Read every byte"}),
        ("pin", pin, "pin", {}),
        (
            "pack",
            "Pack",
            "down",
            {"title": "Pack as .tar", "href": f"/download/checkpoint/{entry.id}"},
        ),
        ("delete", "Delete", "trash", {}),
    )
    barred = ("promote", "delete") if is_champion else ()
    return [
        {"name": name, "label": label, "icon": icon, **more}
        for name, label, icon, more in acts
        if name not in barred
    ]


def _origin(entry: Entry) -> str:
    return f"{entry.world} · {lore.ago(entry.timestamp)} · {entry.run or 'imported'}"


def _left(due: str) -> str:
    seconds = (datetime.fromisoformat(due) - datetime.now(UTC)).total_seconds()
    return f"goes in {max(0, int(seconds))} s"
