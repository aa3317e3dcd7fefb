"""Routes of recorded matches."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import FileResponse, Response, StreamingResponse

from levelcap.services.door.fields import Id, Seat, ViewNames
from levelcap.services.door.rights import Routes
from levelcap.services.oracle import replays as kept

BINARY = "application/octet-stream"


def routes() -> APIRouter:
    """All of them."""
    door = Routes(APIRouter(tags=["matches"]))

    @door.get("/replays", "viewer")
    def replays() -> dict[str, Any]:
        """The newest recorded matches."""
        return {"replays": kept.list_replays()}

    @door.get("/replays/{replay_id}", "viewer", response_class=StreamingResponse)
    def replay(replay_id: Id) -> StreamingResponse:
        """A recorded match as stacked messages (`levelcap.play.show.frames`)."""
        return StreamingResponse(kept.stream(replay_id, 2), media_type=BINARY)

    @door.get("/replays/{replay_id}/file", "viewer", response_class=FileResponse)
    def replay_file(replay_id: Id) -> FileResponse:
        """The `.lcr` itself: `levelcap replay` plays it anywhere."""
        return FileResponse(kept.replay_path(replay_id), media_type=BINARY)

    @door.get("/replays/{replay_id}/seats/{seat}", "viewer", response_class=Response)
    def replay_seat(replay_id: Id, seat: Seat, views: ViewNames) -> Response:
        """What a seat saw and did, as arrays (`levelcap.world.seat_record`)."""
        return Response(kept.seat_record(replay_id, seat, views.split(",")), media_type=BINARY)

    @door.get("/replays/{replay_id}/film", "viewer", response_class=FileResponse)
    def replay_film(replay_id: Id) -> FileResponse:
        """A GIF of it; the first time it has to be drawn."""
        return FileResponse(kept.film(replay_id), media_type="image/gif")

    @door.delete("/replays/{replay_id}", "worker")
    def forget(replay_id: Id) -> dict[str, Any]:
        """Delete a replay; the result of the match stays counted."""
        kept.remove(kept.replay_path(replay_id))
        return {"deleted": replay_id}

    return door.where
