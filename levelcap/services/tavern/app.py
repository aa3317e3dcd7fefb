"""The Tavern's app and process: port 8888, no torch.

NiceGUI is mounted at the root behind the guard of every API: Host, then cookie (or token), then
Origin, before a page is built or its WebSocket accepted.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.staticfiles import StaticFiles
from nicegui import core, ui
from starlette.responses import Response

from levelcap.campaign.realm import Realm, open_realm
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.http import make_app, serve
from levelcap.services.door.rights import right
from levelcap.services.door.tokens import Tokens, load_tokens
from levelcap.services.process import lifeline
from levelcap.services.tavern import arena, entry, lore, oracle
from levelcap.services.tavern.doorway import POLICY, Doorway, Nonces, small_page
from levelcap.services.tavern.downloads import add_downloads
from levelcap.services.tavern.frame import Tavern
from levelcap.services.tavern.orders import Orders
from levelcap.services.tavern.pulse import Pulse
from levelcap.services.tavern.tags import STATIC
from levelcap.services.tavern.visits import Visits

NAME = "tavern"
RECONNECT_S = 10.0
# A place's page is the file of `pages` named as its path; matches and talks are apps of their own.
PAGES = tuple(
    import_module(f"levelcap.services.tavern.pages.{place.path.strip('/') or 'hero'}")
    for place in lore.PLACES
    if place.path not in (arena.PATH, oracle.PATH)
)
FAVICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='#f0b95b' "
    "stroke-width='2'>"
    "<path d='M4 4l10 10M20 4L10 14M6 14l4 4M5 19l3-3M18 14l-4 4M19 19l-3-3'/></svg>"
)


class Statics(StaticFiles):
    """Our own scripts and styles; their address names their content, so they may be kept."""

    def file_response(self, *given: Any, **more: Any) -> Response:
        answer = super().file_response(*given, **more)
        answer.headers["Cache-Control"] = "private, max-age=31536000, immutable"
        return answer


def static_version(place: Path = STATIC) -> str:
    """A name for the present content of a folder of static files."""
    digest = hashlib.sha256()
    for path in sorted(p for p in place.rglob("*") if p.is_file()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def build(
    realm: Realm, tokens: Tokens, keeper: KeeperClient, port: int, lan: bool = False
) -> FastAPI:
    """The app: entry, statics, pages. Once a process, because NiceGUI is one."""
    pulse = Pulse(realm)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        entry.sweep()
        pulse.start()
        try:
            yield
        finally:
            await pulse.stop()

    name = entry.cookie_name(port)
    app = make_app(
        NAME,
        tokens=tokens,
        port=port,
        lan=lan,
        lifespan=lifespan,
        policy=POLICY.format(nonce=""),
        cookie_role=lambda cookies: entry.role_of(cookies.get(name)),
    )
    _add_entry(app, name)
    add_downloads(app, realm, keeper)
    version = static_version()
    app.mount(f"/static/{version}", right("viewer")(Statics(directory=STATIC)), name="static")
    places = frozenset((*(p.PATH for p in PAGES), arena.PATH, oracle.PATH))
    tavern = Tavern(realm, pulse, Orders(keeper), Visits(), places)
    for page in PAGES:
        page.build(tavern)
    arena.build(tavern, version)
    oracle.build(tavern, version)
    answers = arena.OracleClient.local(tokens)
    app.include_router(arena.routes(answers, keeper, tokens))
    app.include_router(oracle.routes(answers))
    _mount_pages(app, version)
    app.add_middleware(Doorway)
    return app


def _add_entry(app: FastAPI, name: str) -> None:
    @app.get("/enter", include_in_schema=False)
    @right("open")
    def come_in(request: Request) -> Response:
        """Exchanges a code for a cookie, once."""
        session = entry.enter(request.query_params.get("code", "")[: entry.LONGEST])
        if session is None:
            lines = [
                "This address has been used, or it is older than ten minutes.",
                "Run `levelcap open` for a new one.",
            ]
            return small_page("The key does not turn", lines, 403)
        # A page that goes on by itself, not a redirect: a Strict cookie is not sent along a
        # chain that began on another site.
        answer = small_page("Welcome in", ["The door is open …"], refresh="/")
        answer.set_cookie(
            name, session, max_age=int(entry.SESSION_S), httponly=True, samesite="strict", path="/"
        )
        return answer


def _mount_pages(app: FastAPI, version: str) -> None:
    ui.add_head_html(f'<link rel="stylesheet" href="/static/{version}/tavern.css">', shared=True)
    right("admin")(core.app)
    core.app.add_middleware(Nonces)
    core.app.add_exception_handler(404, _nothing_here)
    core.app.add_exception_handler(Exception, _broken)
    core.app.config.socket_io_js_transports = ["websocket"]
    core.sio.eio.max_http_buffer_size = 1 << 20
    ui.run_with(
        app,
        title=lore.TITLE_LINE,
        favicon=FAVICON,
        dark=True,
        language="en-US",
        tailwind=False,
        reconnect_timeout=RECONNECT_S,
        binding_refresh_interval=None,
        show_welcome_message=False,
        gzip_middleware_factory=None,
    )


def _nothing_here(_request: Request, _error: Exception) -> Response:
    return small_page("Nothing is here", ["No room of the Tavern has this address."], 404)


def _broken(_request: Request, _error: Exception) -> Response:
    lines = ["This page failed.", "The reason is in the log: `levelcap logs tavern`."]
    return small_page("A chair broke", lines, 500)


def main() -> None:
    """Serve until told to stop."""
    launch = lifeline.start(NAME)
    realm = open_realm()
    try:
        app = build(realm, load_tokens(), KeeperClient.local(), launch.port, launch.lan)
        gc.freeze()  # what was imported stays: collections look at pages only
        serve(app, host=launch.host, port=launch.port, name=NAME)
    finally:
        realm.close()
