"""What every WebSocket of ours needs: a bounded backlog, a budget of messages, one loop."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from levelcap.kit.errors import LevelcapError

MOST_A_SECOND, BURST = 120, 240  # messages of one socket
BAD_DATA, NOT_ALLOWED = 1007, 1008
LONGEST_REASON = 120  # bytes; a close frame has room for 123


class Backlog:
    """Messages on their way to one socket. One that cannot keep up loses what may be lost."""

    def __init__(self, most: int, may_go: Callable[[bytes], bool]) -> None:
        """most: messages that may wait. may_go: whether a message can be left out."""
        self._most, self._may_go = most, may_go
        self._waiting: deque[bytes] = deque()
        self._some = asyncio.Event()
        self._ended = False

    def put(self, message: bytes | None) -> None:
        """Add a message; None: there will be no more."""
        if message is None:
            self._ended = True
        else:
            if len(self._waiting) >= self._most:
                self._forget()
            self._waiting.append(message)
        self._some.set()

    def _forget(self) -> None:
        for number, old in enumerate(self._waiting):
            if self._may_go(old):
                del self._waiting[number]
                return

    async def next(self) -> bytes | None:
        """The next message; None when there will be none."""
        while not self._waiting:
            if self._ended:
                return None
            self._some.clear()
            await self._some.wait()
        return self._waiting.popleft()


class Budget:
    """So many messages a second on average, and so many at once."""

    def __init__(self, a_second: float, at_once: float) -> None:
        self.a_second, self._at_once = a_second, at_once
        self._left, self._last = at_once, time.monotonic()

    def spend(self) -> bool:
        """Counts one message; False when there have been too many."""
        now = time.monotonic()
        earned = (now - self._last) * self.a_second
        self._left, self._last = min(self._at_once, self._left + earned) - 1.0, now
        return self._left >= 0


def reason(error: object) -> str:
    """An error's words, cut to what a close frame holds."""
    return str(error).encode()[:LONGEST_REASON].decode(errors="ignore")


async def converse(
    socket: WebSocket,
    next_message: Callable[[], Awaitable[bytes | None]],
    closing: Callable[[], tuple[int, str]],
    hear: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """Serves an accepted socket until one side ends.

    Args:
        next_message: what to send; None: there will be no more.
        closing: the code and reason to close with then.
        hear: takes in a message; an error of ours closes the socket with its words.
    """
    sending = asyncio.create_task(_send(socket, next_message, closing))
    hearing = asyncio.create_task(_hear(socket, hear))
    try:
        await asyncio.wait({sending, hearing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, hearing):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await task


async def _send(
    socket: WebSocket,
    next_message: Callable[[], Awaitable[bytes | None]],
    closing: Callable[[], tuple[int, str]],
) -> None:
    while (message := await next_message()) is not None:
        await socket.send_bytes(message)
    await socket.close(*closing())


async def _hear(socket: WebSocket, hear: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
    budget = Budget(MOST_A_SECOND, BURST)
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        if not budget.spend():
            await socket.close(NOT_ALLOWED, f"more than {MOST_A_SECOND} messages a second")
            return
        try:
            await hear(dict(message))
        except LevelcapError as error:
            await socket.close(BAD_DATA, reason(error))
            return
