"""What a click asks of the Keeper: one request each, its refusal shown as it was said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from nicegui import ui

from levelcap.kit.errors import LevelcapError
from levelcap.services.clients.keeper import KeeperClient


class Orders:
    """The Keeper of this realm, for handlers of clicks."""

    def __init__(self, keeper: KeeperClient) -> None:
        self.keeper = keeper

    async def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """One request in a thread.

        Raises:
            LevelcapError: whatever the Keeper refused, in its words.
        """
        return await asyncio.to_thread(self.keeper.call, method, path, body, **query)

    async def ask(
        self, method: str, path: str, body: Any = None, *, done: str | None = None, **query: Any
    ) -> Any | None:
        """The same for a click: says `done`, or why not; None when it was refused."""
        return await attempt(self.call(method, path, body, **query), done)

    async def upload(self, name: str, text: str) -> Any:
        """A recipe file."""
        return await asyncio.to_thread(self.keeper.upload_quest, name, text.encode())


async def attempt(work: Awaitable[Any], done: str | None = None) -> Any | None:
    """Await something; an error of ours becomes a notification and None."""
    try:
        answer = await work
    except LevelcapError as error:
        refuse_aloud(str(error))
        return None
    praise(done)
    return {} if answer is None else answer


def praise(done: str | None) -> None:
    """Say that something was done, if there are words for it."""
    if done:
        ui.notify(done, type="positive", position="top-right")


def refuse_aloud(message: str) -> None:
    """Show why something was not done."""
    ui.notify(message, type="negative", position="top-right", multi_line=True, timeout=8000)
