"""What pages with lists do alike: read in a thread, draw anew, leaf, order, move in the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from levelcap.services.tavern.frame import Tavern
from levelcap.services.tavern.tags import Tag, button, div, paragraph, span

R = TypeVar("R")


class Page:
    """One open page; a kind of page says how it reads (`_read`) and draws (`_fill`)."""

    def __init__(self, tavern: Tavern) -> None:
        self.tavern = tavern

    def _read(self) -> None:
        """Reads what is shown; in a thread."""
        raise NotImplementedError

    def _fill(self) -> None:
        """Draws what was read."""
        raise NotImplementedError

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

    def order(self, path: str, then: Callable[[], None] = lambda: None) -> Any:
        """For a button: asks the Keeper, then `then` unless it refused, then draws anew."""

        async def act() -> None:
            if await self.tavern.orders.ask("POST", path) is not None:
                then()
            await self.reload()

        return act

    def prioritise(self, path: str) -> Any:
        """For a choice of priorities."""

        async def move(priority: str) -> None:
            await self.tavern.orders.ask("POST", path, {"priority": priority}, done="Moved")
            await self.reload()

        return move


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
