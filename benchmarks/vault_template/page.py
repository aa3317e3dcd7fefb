"""`/vault` as one template: the whole page once, afterwards its parts whenever something happened.

The browser's 60 lines (`vault.js`) ask for `?part=ledger` again when an event of the vault comes
over the stream, or a button was pressed. Everything is text in Jinja2 with escaping on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from jinja2 import Environment, FileSystemLoader
from starlette.responses import FileResponse, HTMLResponse, StreamingResponse

from levelcap.campaign.realm import Realm
from levelcap.campaign.story.events import follow, last_seq
from levelcap.kit.db import reading
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.rights import right
from levelcap.services.tavern import lore
from levelcap.services.tavern.pages.comparison import ROWS
from levelcap.services.tavern.pages.vault import COLUMNS, PAGE, SORTED_BY, UNDO_S
from levelcap.services.tavern.pulse import Pulse
from levelcap.vault import champion, removals
from levelcap.vault.ledger import get_ledger

HERE = Path(__file__).parent
ORDERS = {"promote", "verify", "pin", "unpin", "delete", "restore", "rollback"}


def routes(realm: Realm, keeper: KeeperClient, pulse: Pulse, version: str) -> APIRouter:
    """The page, its parts, its orders, its stream."""
    router = APIRouter()
    pages = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True)
    pages.globals |= {"lore": lore, "left": _left, "version": version}
    pages.globals["columns"] = [(title, SORTED_BY.get(title), look) for title, look in COLUMNS]

    @router.get("/trial/vault")
    @right("viewer")
    async def vault_page(
        sort: str = "seq",
        ascending: bool = False,
        page: Annotated[int, Query(ge=0)] = 0,
        part: str = "",
    ) -> HTMLResponse:
        moment = await pulse.now()
        shown = await asyncio.to_thread(_read, realm, moment.hero["id"], sort, ascending, page)
        name = {"ledger": "ledger.html"}.get(part, "vault.html")
        return HTMLResponse(pages.get_template(name).render(moment=moment, **shown))

    @router.get("/trial/vault/compare")
    @right("viewer")
    def compare(a: str, b: str) -> HTMLResponse:
        found = keeper.call("GET", "/api/compare", None, a=a, b=b)
        return HTMLResponse(pages.get_template("compare.html").render(rows=ROWS, **found))

    @router.post("/trial/vault/{order}")
    @right("admin")
    def act(order: str, body: dict[str, str]) -> dict[str, Any]:
        name = body.get("checkpoint", "")
        path = f"/api/checkpoints/{name}"
        reason = {"reason": "chosen in the Tavern", "who": "the player"}
        calls: dict[str, tuple[Any, ...]] = {
            "promote": ("POST", "/api/champion", {"checkpoint": name, **reason}),
            "verify": ("POST", f"{path}/verify", None),
            "pin": ("POST", f"{path}/pin", {"pinned": True}),
            "unpin": ("POST", f"{path}/pin", {"pinned": False}),
            "restore": ("POST", f"{path}/restore", None),
            "rollback": ("POST", "/api/champion/rollback", {"hero": body.get("hero", "")}),
        }
        if order == "delete":
            return dict(keeper.call("DELETE", path, None, delay_s=UNDO_S))
        return dict(keeper.call(*calls[order]))

    @router.get("/trial/vault/events")
    @right("viewer")
    def events() -> StreamingResponse:
        return StreamingResponse(_stream(realm), media_type="text/event-stream")

    @router.get("/trial/vault.js")
    @right("viewer")
    def script() -> FileResponse:
        return FileResponse(HERE / "vault.js", media_type="text/javascript")

    return router


def _read(realm: Realm, hero: str, sort: str, ascending: bool, page: int) -> dict[str, Any]:
    ledger = get_ledger(realm.engine)
    total = ledger.count()
    pages = max(1, -(-total // PAGE))
    page = min(page, pages - 1)
    with reading(realm.engine) as connection:
        lines = champion.history(connection, hero, 12)
        going = removals.waiting(connection)
    rows = ledger.page(sort, descending=not ascending, offset=page * PAGE, limit=PAGE)
    return {
        "rows": rows,
        "total": total,
        "page": page,
        "pages": pages,
        "sort": sort,
        "ascending": ascending,
        "lines": lines,
        "going": going,
        "reigning": lines[0].checkpoint if lines else None,
        "hero": hero,
    }


async def _stream(realm: Realm) -> AsyncIterator[str]:
    seen = await asyncio.to_thread(last_seq, realm.engine)
    while True:
        for event in await asyncio.to_thread(lambda after: list(follow(realm.engine, after)), seen):
            seen = event.seq
            if event.kind.startswith(("vault.", "eval.")):
                yield f"data: {json.dumps({'kind': event.kind, 'message': event.message})}\n\n"
        await asyncio.sleep(0.5)


def _left(due: str) -> int:
    return max(0, int((datetime.fromisoformat(due) - datetime.now(UTC)).total_seconds()))
