"""Live matches for many browsers: one socket to the Oracle a match, fanned out here.

The first browser in a match with a person has the hands: its inputs go to the Oracle, and only its
header says which seat is its own. When it leaves, the next one that comes takes over. Everything a
browser sends is read here first; what is wrong ends that browser's socket and nobody else's.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.websockets import WebSocket
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from levelcap.kit.errors import BadValue, refuse
from levelcap.play.live.command import read_command
from levelcap.play.live.person import read_input
from levelcap.services.door.sockets import Backlog, converse

HEADER, STATE = 1, 2  # kinds of messages, see levelcap/play/show/frames.py
BACKLOG = 240
MOST_BROWSERS = 64  # of one match
TRY_AGAIN = 1013
LARGEST = 1 << 20
Away = (OSError, InvalidHandshake, TimeoutError)


class Relay:
    """One match and the browsers that watch it."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token
        self._browsers: list[Backlog] = []
        self._hands: Backlog | None = None
        self._header = b""
        self._notes: list[bytes] = []
        self._latest = b""
        self._oracle: ClientConnection | None = None
        self._over = False
        self.close = (1000, "")

    async def run(self) -> None:
        """Listens to the Oracle until the match is over, or until no browser is left."""
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            # No proxy: a setting of the machine must not send a match elsewhere.
            async with connect(
                self._url,
                additional_headers=headers,
                proxy=None,
                compression=None,
                max_size=LARGEST,
            ) as oracle:
                self._oracle = oracle
                async for message in oracle:
                    if isinstance(message, bytes) and message:
                        self._fan_out(message)
                self.close = (oracle.close_code or 1000, oracle.close_reason or "")
        except ConnectionClosed as error:
            self.close = (error.rcvd.code, error.rcvd.reason) if error.rcvd else (TRY_AGAIN, "")
        except Away:
            self.close = (TRY_AGAIN, "The Oracle does not answer")
        finally:
            self._oracle = None
            self._over = True
            for browser in self._browsers:
                browser.put(None)

    def _fan_out(self, message: bytes) -> None:
        if message[0] == HEADER:
            self._header = message
            for browser in self._browsers:
                browser.put(self._header_for(browser))
            return
        if message[0] == STATE:
            self._latest = message
        else:
            self._notes.append(message)
        for browser in self._browsers:
            browser.put(message)

    def _header_for(self, browser: Backlog) -> bytes:
        if browser is self._hands:
            return self._header
        values: dict[str, Any] = json.loads(self._header[1:])
        return bytes([HEADER]) + json.dumps(values | {"you": None}).encode()

    def join(self) -> Backlog:
        """A new browser; it first hears what the others have heard."""
        browser = Backlog(BACKLOG, lambda message: message[0] == STATE)
        if self._hands is None:
            self._hands = browser
        if self._header:
            browser.put(self._header_for(browser))
        for message in (*self._notes, self._latest):
            if message:
                browser.put(message)
        self._browsers.append(browser)
        if self._over:
            browser.put(None)
        return browser

    def leave(self, browser: Backlog) -> int:
        """A browser went away; returns how many are left."""
        self._browsers.remove(browser)
        if self._hands is browser:
            self._hands = None
        return len(self._browsers)

    @property
    def full(self) -> bool:
        """May nobody else come in?"""
        return len(self._browsers) >= MOST_BROWSERS

    async def hear(self, browser: Backlog, message: dict[str, Any]) -> None:
        """Passes on what a browser said.

        Raises:
            BadValue: it makes no sense, or this browser may not say it.
        """
        data = message.get("bytes")
        if data is None:
            text = message.get("text") or ""
            read_command(text)
            await self._send(text)
        elif browser is not self._hands:
            raise BadValue(refuse("another browser plays this seat", len(data), "Watch"))
        else:
            read_input(data)
            await self._send(data)

    async def _send(self, data: str | bytes) -> None:
        if self._oracle is not None:
            with contextlib.suppress(ConnectionClosed):
                await self._oracle.send(data)


class Relays:
    """All matches that are watched at the moment."""

    def __init__(self, url_of: Callable[[str], str], token: str) -> None:
        """url_of: id of a match -> the Oracle's address of its socket."""
        self._url_of, self._token = url_of, token
        self._relays: dict[str, tuple[Relay, asyncio.Task[None]]] = {}

    async def attend(self, socket: WebSocket, match_id: str) -> None:
        """Serves one browser until the match or the browser ends."""
        relay = self._relay(match_id)
        await socket.accept()
        if relay.full:
            await socket.close(TRY_AGAIN, "Too many are watching this match")
            return
        browser = relay.join()
        try:
            await converse(socket, browser.next, lambda: relay.close, partial(relay.hear, browser))
        finally:
            if relay.leave(browser) == 0:
                self._end(match_id, relay)

    def _relay(self, match_id: str) -> Relay:
        found = self._relays.get(match_id)
        if found is None or found[1].done():
            relay = Relay(self._url_of(match_id), self._token)
            found = self._relays[match_id] = (relay, asyncio.create_task(relay.run()))
        return found[0]

    def _end(self, match_id: str, relay: Relay) -> None:
        found = self._relays.get(match_id)
        if found is not None and found[0] is relay:
            found[1].cancel()
            del self._relays[match_id]
