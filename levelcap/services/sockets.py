"""What every WebSocket of ours needs: a bounded backlog and a budget of messages."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

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
