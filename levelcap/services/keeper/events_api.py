"""The battle log, as pages and as a stream (server-sent events)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header
from starlette.responses import StreamingResponse

from levelcap.campaign.realm import Realm
from levelcap.campaign.story.events import Event, follow, last_seq, list_events
from levelcap.kit.files import dump_line
from levelcap.services.door.fields import Number, Page
from levelcap.services.door.rights import Routes

POLL_S = 0.5
KEEP_ALIVE_S = 15.0


def routes(realm: Realm) -> APIRouter:
    """Routes of the battle log."""
    door = Routes(APIRouter(prefix="/api", tags=["events"]))

    @door.get("/battle_log", "viewer")
    def battle_log(
        before: Number | None = None,
        after: Number = 0,
        kind: str | None = None,
        channel: str | None = None,
        limit: Page = 100,
    ) -> dict[str, Any]:
        """Events, newest first; with `after` the next ones, oldest first."""
        found = realm.read(
            list_events, after=after, before=before, kind=kind, channel=channel, limit=limit
        )
        return {"events": [event.as_json() for event in found]}

    @door.get("/events", "viewer")
    def events(
        after: Number | None = None,
        last_event_id: Annotated[str | None, Header(max_length=20)] = None,
    ) -> StreamingResponse:
        """A stream of events from now on, or from `after` (or Last-Event-ID) on."""
        known = last_event_id is not None and last_event_id.isascii() and last_event_id.isdigit()
        seen = int(last_event_id or 0) if known else after
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(
            stream(realm, last_seq(realm.engine) if seen is None else min(seen, 2**53)),
            media_type="text/event-stream",
            headers=headers,
        )

    return door.where


def _all_after(realm: Realm, seen: int) -> list[Event]:
    return list(follow(realm.engine, seen))


async def stream(realm: Realm, seen: int) -> AsyncIterator[bytes]:
    """Events after number `seen`, and a comment now and then so that proxies keep the line."""
    quiet = 0.0
    yield b": levelcap\n\n"
    while True:
        found = await asyncio.to_thread(_all_after, realm, seen)
        for event in found:
            seen = event.seq
            head = f"id: {event.seq}\nevent: {event.kind}\ndata: ".encode()
            yield head + dump_line(event.as_json()) + b"\n"
        quiet = 0.0 if found else quiet + POLL_S
        if quiet >= KEEP_ALIVE_S:
            quiet = 0.0
            yield b": still here\n\n"
        await asyncio.sleep(POLL_S)
