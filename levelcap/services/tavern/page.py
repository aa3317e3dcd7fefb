"""What all pages do alike: open, read in a thread, draw anew, leaf, order, move in the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from nicegui import context, ui

from levelcap.jobs.job import PRIORITIES
from levelcap.services.tavern import lore
from levelcap.services.tavern.fields import Field
from levelcap.services.tavern.frame import Tavern, frame
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.tags import Tag, button, div, paragraph, span

R = TypeVar("R")


class Page:
    """One open page; a kind of page says how it reads (`_read`) and draws (`build`, `_fill`)."""

    def __init__(self, tavern: Tavern, moment: Moment) -> None:
        """moment: when it was opened."""
        self.tavern, self.moment = tavern, moment
        self.hero = moment.hero.id
        self._drawn: dict[int, Any] = {}  # what stands in each place, by the place's id

    def _read(self) -> None:
        """Reads what is shown; in a thread."""

    def build(self) -> None:
        """Draws everything, top to bottom."""
        raise NotImplementedError

    def _fill(self) -> None:
        """Draws what was read into its places."""

    def refresh(self, moment: Moment) -> Any:
        """Follows what happens, once a second; may be a coroutine."""

    async def read(self) -> None:
        """Reads what is shown."""
        await asyncio.to_thread(self._read)

    async def reload(self) -> None:
        """Reads and draws anew."""
        await self.read()
        self._fill()

    def _shown(self) -> Any:
        """What was read, to compare; None: unknown."""
        return None

    async def follow(self) -> None:
        """Reads, and draws anew if it differs: a button that is being pressed is not replaced."""
        before = self._shown()
        await self.read()
        if before is None or before != self._shown():
            self._fill()

    def redraw(self, place: Tag, shown: Any, draw: Callable[[], None]) -> None:
        """Draw a place anew if what it shows has changed.

        A press on a button that has been replaced meanwhile is lost, so nothing is replaced by its
        equal.
        """
        if place.id not in self._drawn or self._drawn[place.id] != shown:
            self._drawn[place.id] = shown
            with place.emptied():
                draw()

    def order(
        self,
        path: str,
        body: Any = None,
        *,
        method: str = "POST",
        done: str | None = None,
        then: Callable[[Any], None] = lambda said: None,
        **query: Any,
    ) -> Any:
        """For a button: asks the Keeper, tells `then` what it said unless it refused, reloads."""

        async def act() -> None:
            said = await self.tavern.orders.ask(method, path, body, done=done, **query)
            if said is not None:
                then(said)
            await self.reload()

        return act

    def priority(self, path: str, value: str, classes: str = "") -> None:
        """A choice of priorities for what waits in the queue."""

        async def move(chosen: str) -> None:
            await self.order(path, {"priority": chosen}, done="Moved")()

        shown = Field("Priority", "choice", value, options=PRIORITIES, on_change=move)
        shown.classes(classes)


def register(tavern: Tavern, place: lore.Place, opened: Callable[[Tavern, Moment], Page]) -> None:
    """Puts a page at its address: it is read, drawn in the frame, and follows the pulse."""

    @ui.page(place.path, title=f"{place.name} · {lore.TITLE_LINE}")
    async def show() -> None:
        moment = await tavern.pulse.now()
        page = opened(tavern, moment)
        await page.read()
        with frame(tavern, place.path, moment):
            page.build()
        tavern.pulse.listen(context.client, page.refresh)


def table(
    columns: Sequence[tuple[str, str]],
    rows: Sequence[R],
    draw: Callable[[R], None],
    *,
    nothing: str = "",
    classes: str = "",
    head: Callable[[str, str], None] | None = None,
) -> None:
    """The one table of all pages: a head, then what `draw` makes of each row.

    columns: title and classes. nothing: what is said when there are no rows. head: draws a cell of
    the head where a title alone will not do.
    """
    if not rows and nothing:
        paragraph(nothing, "empty")
        return
    with Tag("table", f"sheet-table {classes}"):
        with Tag("thead"), Tag("tr"):
            for title, look in columns:
                if head is not None:
                    head(title, look)
                else:
                    Tag("th", look, title, scope="col")
        with Tag("tbody"):
            for row in rows:
                draw(row)


class Pager:
    """Two buttons to leaf with, and between them which page it is."""

    def __init__(self, back: str, on: str, turn: Callable[[int], Awaitable[None]]) -> None:
        """back, on: the words of the buttons; turn gets -1 or 1."""

        def turning(way: int) -> Any:
            async def act() -> None:
                await turn(way)

            return act

        with div("pager"):
            self._back = button(back, turning(-1), "small", "left")
            self._place = span()
            self._on = button(on, turning(1), "small", "right")

    def show(self, text: str, first: bool, last: bool) -> None:
        """text: which page it is."""
        self._place.say(text)
        self._back.put(disabled=first)
        self._on.put(disabled=last)
