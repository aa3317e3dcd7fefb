"""Connections that say nothing, or say it too slowly, end: a few thousand of them are no attack.

Uvicorn ends a connection that idles after an answer. It waits for ever for the first byte, for the
rest of a request's head, and for a caller who does not read; here each of these has 10 s.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

PATIENCE_S = 10.0


class PatientProtocol(HttpToolsProtocol):
    """Uvicorn's HTTP connection with an end to waiting."""

    _timer: asyncio.TimerHandle | None = None
    _upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection without a request."""
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        """Bytes of a request's head do not renew the time: only a whole head ends the wait."""
        super().data_received(data)
        if self._answering() or self._upgraded:
            self._stop()
        elif self._timer is None:
            self._start()

    def handle_websocket_upgrade(self) -> None:
        """Sockets have pings of their own."""
        self._upgraded = True
        self._stop()
        super().handle_websocket_upgrade()

    def pause_writing(self) -> None:
        """The caller does not read; every byte it takes renews the time."""
        super().pause_writing()
        self._start()

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._stop()
        super().connection_lost(exc)

    def _answering(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _start(self) -> None:
        self._stop()
        self._timer = self.loop.call_later(PATIENCE_S, self._give_up)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self._answering():
            self.transport.abort()  # it does not read: closing would wait for it
        else:
            self.transport.close()
