"""Middleware that holds some answers back whole and sends others instead."""

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Rewriting:
    """Base class: `wants` says which answers, by how they start; `instead` makes the other one."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    def wants(self, scope: Scope, start: Message) -> bool:
        """Is this answer replaced?"""
        raise NotImplementedError

    def instead(self, start: Message, body: bytes) -> Response:
        """What is sent in its place."""
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start: Message | None = None
        body = b""

        async def held(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and self.wants(scope, message):
                start = message
            elif start is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    await self.instead(start, body)(scope, receive, send)

        await self.app(scope, receive, held)


def headers_of(start: Message, dropped: tuple[bytes, ...]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, without some."""
    return [(name, value) for name, value in start["headers"] if name.lower() not in dropped]
