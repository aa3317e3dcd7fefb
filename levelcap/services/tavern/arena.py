"""`/arena`: watch matches live or as replays, and play one. No torch: the Oracle plays them.

The page is one element whose modules lie in `static/arena`. Frames come over a WebSocket of our
own, never through NiceGUI's channel; see `relay.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Annotated, Any

import httpx
from fastapi import APIRouter, WebSocket
from nicegui import ui
from nicegui.element import Element
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from levelcap.jobs.job import Unreachable
from levelcap.kit.errors import BadValue, UnknownName, refuse
from levelcap.kit.ids import check_id
from levelcap.services.clients.keeper import Client, KeeperClient
from levelcap.services.door.http import Id
from levelcap.services.door.rights import right
from levelcap.services.door.tokens import Tokens
from levelcap.services.process.hosts import get_service_url
from levelcap.services.tavern import lore
from levelcap.services.tavern.frame import Tavern, frame, page_heading
from levelcap.services.tavern.relay import Relays
from levelcap.services.tavern.tags import STATIC

PATH = "/arena"
BINARY = "application/octet-stream"
AWAY = "The Oracle is not reachable; live matches and replays need it"


class OracleClient(Client):
    """The Oracle, as the Tavern asks it."""

    @classmethod
    def local(cls, tokens: Tokens) -> OracleClient:
        """The Oracle of this realm."""
        return cls(get_service_url("oracle"), tokens.worker)

    def choices(self) -> dict[str, Any]:
        """Everything the lobby shows."""
        found = self.call("GET", "/choices") | self.call("GET", "/matches")
        return found | self.call("GET", "/replays")

    def stream(self, path: str) -> Iterator[bytes]:
        """The body of an answer in pieces; asks before the first one is taken.

        Raises:
            UnknownName: there is no such thing. Unreachable: no answer.
        """
        stack = ExitStack()
        try:
            answer = stack.enter_context(self._http.stream("GET", path))
            if not answer.is_success:
                answer.read()
                raise UnknownName(str(answer.json().get("message", answer.status_code)))
        except httpx.HTTPError as error:
            stack.close()
            what = f"{AWAY} ({type(error).__name__})"
            raise Unreachable(refuse(what, path, "Check levelcap status")) from error
        except BaseException:
            stack.close()
            raise

        def pieces() -> Iterator[bytes]:
            with stack:
                yield from answer.iter_bytes(1 << 16)

        return pieces()

    def socket_of(self, match_id: str) -> str:
        """The address of a live match's socket."""
        return f"{self.url.replace('http', 'ws', 1)}/matches/{check_id(match_id, 'match')}"


class QuestBody(BaseModel):
    """A played match that a hero shall imitate."""

    model_config = ConfigDict(extra="forbid", strict=True)

    match: Id
    recipe: Annotated[dict[str, Any], Field(max_length=12)]


def routes(oracle: OracleClient, keeper: KeeperClient, tokens: Tokens) -> APIRouter:
    """What the page's modules call."""
    router = APIRouter(prefix=PATH, tags=["arena"])
    relays = Relays(oracle.socket_of, tokens.worker)

    @router.get("/api/choices")
    @right("viewer")
    def choices() -> dict[str, Any]:
        """What a match can be made of, live matches, replays."""
        return oracle.choices()

    @router.post("/api/matches", status_code=201)
    @right("admin")
    def start(body: dict[str, Any]) -> dict[str, Any]:
        """Start a live match; the Oracle says what a body may hold."""
        return oracle.call("POST", "/matches", body)

    @router.get("/api/replays/{replay_id}", response_class=StreamingResponse)
    @right("viewer")
    def replay(replay_id: Id) -> StreamingResponse:
        """A recorded match as stacked messages."""
        return StreamingResponse(oracle.stream(f"/replays/{replay_id}"), media_type=BINARY)

    @router.post("/api/quests", status_code=201)
    @right("admin")
    def quest(body: QuestBody) -> dict[str, Any]:
        """Make a quest of a played match: imitate the person."""
        if body.recipe.get("quest") != "imitate":
            remedy = "Use the quest board for other quests"
            raise BadValue(refuse("a match can be imitated", body.recipe.get("quest"), remedy))
        return keeper.add_quest(body.recipe)

    @router.websocket("/ws/{match_id}")
    @right("admin")
    async def watch(socket: WebSocket, match_id: str) -> None:
        await relays.attend(socket, match_id)

    return router


class Canvas(Element, component=STATIC / "arena" / "element.js"):
    """The arena; `base` is where its modules lie."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._props["base"] = base


def build(tavern: Tavern, version: str) -> None:
    """Registers the page; version: of the static files."""
    base = f"/static/{version}/arena"

    @ui.page(PATH, title=f"Arena · {lore.TITLE_LINE}")
    async def arena_page() -> None:
        moment = await tavern.pulse.now()
        ui.add_head_html(f'<link rel="stylesheet" href="{base}/arena.css">')
        with frame(tavern, PATH, moment):
            page_heading("Arena", "Watch heroes and bots fight, or step in yourself.")
            Canvas(base)
