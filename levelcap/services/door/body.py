"""Request bodies: capped while they arrive, and JSON read strictly before anything uses it."""

import asyncio
import time
from typing import Any

from starlette.types import Message, Receive

from levelcap.kit.errors import refuse
from levelcap.kit.files import parse_json

MAX_DEPTH = 64
MAX_VALUES = 200_000
READ_TIMEOUT_S = 10.0
LEAST_BYTES_A_SECOND = 10_000
DRAIN_BYTES = 2 << 20
DRAIN_S = 0.5


class Refusal(Exception):
    """An answer that ends the request before the route: status, code, message, headers."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Disconnected(Exception):
    """The caller went away; nobody is left to answer."""


class Watched:
    """A `receive` that knows whether the whole body has arrived."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self.ended = receive, False

    async def __call__(self) -> Message:
        message = await self._receive()
        self.ended = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return message


class Capped:
    """A `receive` that refuses the first byte beyond the cap, and a body that trickles in."""

    def __init__(self, receive: Receive, cap: int) -> None:
        self._receive, self._cap, self._seen, self._ended = receive, cap, 0, False
        self._begun_s = time.monotonic()

    async def __call__(self) -> Message:
        if self._ended:  # what comes now is the caller's going, whenever that is
            return await self._receive()
        late = self._begun_s + READ_TIMEOUT_S + self._seen / LEAST_BYTES_A_SECOND
        try:
            async with asyncio.timeout(late - time.monotonic()):
                message = await self._receive()
        except TimeoutError as error:
            raise too_slow(self._seen) from error
        self._ended = message["type"] == "http.disconnect" or not message.get("more_body", False)
        self._seen += len(message.get("body", b""))
        if self._seen > self._cap:
            raise too_large(self._cap, f"more than {self._cap} bytes")
        return message


def too_large(cap: int, got: object) -> Refusal:
    """The refusal of a body beyond the cap."""
    message = refuse(f"a body here has at most {cap} bytes", got, "Send less at a time")
    return Refusal(413, "too_large", message)


def too_slow(seen: int) -> Refusal:
    """The refusal of a body that does not come."""
    what = f"a body must arrive within {READ_TIMEOUT_S:.0f} s, a long one faster than 10 kB/s"
    return Refusal(408, "timeout", refuse(what, f"{seen} bytes", "Send it again"))


def check_length(headers: list[tuple[bytes, bytes]], cap: int) -> None:
    """Refuses a declared length that is no number or beyond the cap."""
    for value in (v for name, v in headers if name == b"content-length"):
        if not value.isdigit():
            message = refuse("Content-Length must be a number", value, "Correct the header")
            raise Refusal(400, "bad_header", message)
        if len(value) > 18 or int(value) > cap:
            raise too_large(cap, int(value[:18]))


async def read_body(receive: Receive) -> bytes:
    """Reads a whole body from a capped `receive`.

    Raises:
        Refusal: too large, or not complete after 10 s.
        Disconnected: the caller went away.
    """
    chunks: list[bytes] = []
    try:
        async with asyncio.timeout(READ_TIMEOUT_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Disconnected
                chunks.append(message.get("body", b""))
                if not message.get("more_body", False):
                    return b"".join(chunks)
    except TimeoutError as error:
        raise too_slow(sum(map(len, chunks))) from error


async def drain(receive: Watched) -> None:
    """Reads on a little after a refusal, so that the answer is not lost to a reset connection."""
    seen = 0
    try:
        async with asyncio.timeout(DRAIN_S):
            while seen < DRAIN_BYTES and not receive.ended:
                seen += len((await receive()).get("body", b""))
    except TimeoutError:
        return


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that hands out a body that was already read, then what follows it."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again


def check_json(body: bytes) -> Any:
    """Reads a body; refuses one that is not strict JSON.

    Not allowed: NaN and infinities, numbers beyond a double, a key twice, more than 64 levels or
    200,000 values (counted before parsing), anything but UTF-8, half of a surrogate pair.
    """
    try:
        if sum(body.count(sign) for sign in (b",", b"[", b"{")) > MAX_VALUES:
            raise ValueError(f"more than {MAX_VALUES} values")
        text = body.decode("utf-8")
        value = parse_json(text)
        opened = text.count("[") + text.count("{")
        if opened > MAX_DEPTH or "\\u" in text:
            _check_values(value)
        return value
    except ValueError as error:
        reason = "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        shown = body[:60].decode("utf-8", "replace")
        message = refuse(f"the body must be strict JSON ({reason})", shown, "Correct the body")
        raise Refusal(400, "bad_json", message) from error


def _check_values(value: Any) -> None:
    """Walks level by level, so that the depth is counted without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        if not level:
            return
        deeper: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                deeper += item.keys()
                deeper += item.values()
            elif isinstance(item, list):
                deeper += item
            elif isinstance(item, str) and not _encodes(item):
                raise ValueError("half of a surrogate pair")
        level = deeper
    raise ValueError(f"nested more than {MAX_DEPTH} levels")


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
