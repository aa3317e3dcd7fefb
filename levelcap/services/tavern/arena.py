"""Routes that the arena's page calls. No torch: the Oracle plays the matches."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, WebSocket
from pydantic import Field
from starlette.responses import StreamingResponse

from levelcap.jobs.job import Unreachable
from levelcap.kit.errors import BadValue, LevelcapError, refuse
from levelcap.kit.ids import check_id
from levelcap.kit.paths import without_paths
from levelcap.services.clients.keeper import Client, KeeperClient
from levelcap.services.door.fields import Body, Id, Seat, ViewNames
from levelcap.services.door.rights import Routes, right
from levelcap.services.door.tokens import Tokens
from levelcap.services.process.hosts import get_service_url
from levelcap.services.tavern.relay import Relays

PATH = "/arena"
BINARY = "application/octet-stream"
FILM_S = 180.0  # the Oracle gives up a film before that


class OracleClient(Client):
    """The Oracle, as the Tavern asks it."""

    name = "The Oracle"

    @classmethod
    def local(cls, tokens: Tokens) -> OracleClient:
        """The Oracle of this realm."""
        return cls(get_service_url("oracle"), tokens.worker)

    def choices(self) -> dict[str, Any]:
        """Everything the lobby shows."""
        found = self.call("GET", "/choices") | self.call("GET", "/matches")
        return found | self.call("GET", "/replays")

    def socket_of(self, match_id: str) -> str:
        """The address of a live match's socket."""
        return f"{self.url.replace('http', 'ws', 1)}/matches/{check_id(match_id, 'match')}"


class ShowBody(Body):
    """Whose exhibition is asked for."""

    hero: Id | None = None


class QuestBody(Body):
    """A played match that a hero shall imitate."""

    match: Id
    recipe: Annotated[dict[str, Any], Field(max_length=12)]


def routes(oracle: OracleClient, keeper: KeeperClient, tokens: Tokens) -> APIRouter:
    """What the page's modules call."""
    door = Routes(APIRouter(prefix=PATH, tags=["arena"]))
    relays = Relays(oracle.socket_of, tokens.worker)
    _add_replays(door, oracle)

    @door.get("/api/choices", "viewer")
    def choices() -> dict[str, Any]:
        """What a match can be made of, live matches, replays."""
        return oracle.choices()

    @door.post("/api/matches", "admin", status_code=201)
    def start(body: dict[str, Any]) -> dict[str, Any]:
        """Start a live match; the Oracle says what a body may hold."""
        return oracle.call("POST", "/matches", body)

    @door.post("/api/exhibition", "admin")
    def exhibition(body: ShowBody) -> dict[str, Any]:
        """The match that is on while somebody looks; an Oracle that is away is no error here."""
        try:
            found: dict[str, Any] = oracle.call("POST", "/exhibition", body.model_dump())
        # No status of an error: browsers write those into their console, time and again.
        except Unreachable:
            return {"id": None, "show": "The Oracle sleeps: there is no exhibition at the moment"}
        except LevelcapError as error:
            return {"id": None, "show": without_paths(str(error))}
        return found

    @door.post("/api/quests", "admin", status_code=201)
    def quest(body: QuestBody) -> dict[str, Any]:
        """Make a quest of a played match: imitate the person."""
        if body.recipe.get("quest") != "imitate":
            remedy = "Use the quest board for other quests"
            raise BadValue(refuse("a match can be imitated", body.recipe.get("quest"), remedy))
        return keeper.add_quest(body.recipe)

    @door.where.websocket("/ws/{match_id}")
    @right("admin")
    async def watch(socket: WebSocket, match_id: str) -> None:
        await relays.attend(socket, match_id)

    return door.where


def _add_replays(door: Routes[APIRouter], oracle: OracleClient) -> None:
    @door.get("/api/replays/{replay_id}", "viewer", response_class=StreamingResponse)
    async def replay(replay_id: Id) -> StreamingResponse:
        """A recorded match as stacked messages."""
        pieces = await oracle.stream("GET", f"/replays/{replay_id}")
        return StreamingResponse(pieces, media_type=BINARY)

    @door.get("/api/replays/{replay_id}/seats/{seat}", "viewer", response_class=StreamingResponse)
    async def seat(replay_id: Id, seat: Seat, views: ViewNames) -> StreamingResponse:
        """What a seat of a recorded match saw and did, as arrays."""
        path = f"/replays/{replay_id}/seats/{seat}?views={views}"
        return StreamingResponse(await oracle.stream("GET", path), media_type=BINARY)

    @door.get("/replays/{replay_id}.{kind}", "viewer", response_class=StreamingResponse)
    async def give(replay_id: Id, kind: Literal["lcr", "gif"]) -> StreamingResponse:
        """A recorded match to give away: the file itself, or a film of it."""
        part = {"lcr": "file", "gif": "film"}[kind]
        pieces = await oracle.stream("GET", f"/replays/{replay_id}/{part}", patience_s=FILM_S)
        name = {"Content-Disposition": f'attachment; filename="{replay_id}.{kind}"'}
        media = "image/gif" if kind == "gif" else BINARY
        return StreamingResponse(pieces, media_type=media, headers=name)

    @door.delete("/api/replays/{replay_id}", "admin")
    def forget(replay_id: Id) -> dict[str, Any]:
        """Delete a recorded match."""
        return oracle.call("DELETE", f"/replays/{replay_id}")
