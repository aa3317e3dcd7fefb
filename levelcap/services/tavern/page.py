"""What all pages do alike: open, read in a thread, draw anew, leaf, order, move in the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from nicegui import context, ui

from levelcap.jobs.job import PRIORITIES
from levelcap.services.tavern import lore
from levelcap.services.tavern.fields import Field
from levelcap.services.tavern.frame import Tavern, frame
from levelcap.services.tavern.orders import praise
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.tags import Tag, button, div, paragraph, span

R = TypeVar("R")


class Page:
    """One open page; a kind of page says how it reads (`_read`) and draws (`build`, `_fill`)."""

    def __init__(self, tavern: Tavern, moment: Moment) -> None:
        """moment: when it was opened."""
        self.tavern, self.moment = tavern, moment
        self.hero = moment.hero.id
        self._reloading = asyncio.Lock()
        self._told: dict[Tag, Callable[[], str]] = {}

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
        """Reads and draws what differs; one at a time, so that the newest reading is drawn last."""
        async with self._reloading:
            await self.read()
            self._fill()

    def tell(self, shown: Tag, words: Callable[[], str]) -> None:
        """Say what changes with time, now and at every look, without drawing its row anew."""
        shown.say(words())
        self._told[shown] = words

    def look(self, moment: Moment) -> Any:
        """One look of the pulse: what changes with time, then what the page follows."""
        self._told = {shown: words for shown, words in self._told.items() if not shown.is_deleted}
        for shown, words in self._told.items():
            shown.say(words())
        return self.refresh(moment)

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
        """For a button: asks the Keeper, reloads, says `done` and tells `then` unless it refused.

        Done is said when it is seen: who presses the next button then presses what is drawn.
        """

        async def act() -> None:
            said = await self.tavern.orders.ask(method, path, body, **query)
            await self.reload()
            if said is not None:
                then(said)
                praise(done)

        return act

    def priority(self, path: str, value: str, classes: str = "") -> Field:
        """A choice of priorities for what waits in the queue."""

        async def move(chosen: str) -> None:
            await self.order(path, {"priority": chosen}, done="Moved")()

        return Field(
            "Priority", "choice", value, options=PRIORITIES, on_change=move, classes=classes
        )


def register(tavern: Tavern, place: lore.Place, opened: Callable[[Tavern, Moment], Page]) -> None:
    """Puts a page at its address: it is read, drawn in the frame, and follows the pulse."""

    @ui.page(place.path, title=f"{place.name} · {lore.TITLE_LINE}")
    async def show() -> None:
        moment = await tavern.pulse.now()
        page = opened(tavern, moment)
        await page.read()
        with frame(tavern, place.path, moment):
            page.build()
        tavern.pulse.listen(context.client, page.look)


def table(
    place: Tag,
    columns: Sequence[tuple[str, str]],
    rows: Mapping[str, R],
    draw: Callable[[R], Tag],
    *,
    nothing: str = "",
    classes: str = "",
    head: Callable[[str, str], None] | None = None,
    order: object = None,
) -> None:
    """The one table of all pages: a head, then what `draw` makes of each row, by name.

    columns: title and classes. nothing: what is said when there are no rows. head: draws a cell of
    the head where a title alone will not do; order: what that depends on. Drawn again in the same
    place, equal rows stay the elements they are.
    """

    def build() -> None:
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
            place.body = Tag("tbody")

    place.redraw((order, bool(rows)), build)
    if rows:
        place.body.fill(rows, draw)


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
