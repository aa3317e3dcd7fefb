"""The Tavern's app and process: port 8888, no torch.

NiceGUI is mounted at the root behind the guard of every API: Host, then cookie (or token), then
Origin, before a page is built or its WebSocket accepted.
"""

from __future__ import annotations

import gc
import hashlib
from importlib import import_module
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.staticfiles import StaticFiles
from nicegui import core, ui
from starlette.responses import Response

from levelcap.campaign.realm import Realm, realm
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.http import make_app, serve, while_served
from levelcap.services.door.rights import Routes, right
from levelcap.services.door.tokens import Tokens, load_tokens
from levelcap.services.process import lifeline
from levelcap.services.tavern import arena, entry, lore, oracle
from levelcap.services.tavern.doorway import POLICY, Doorway, Nonces, small_page
from levelcap.services.tavern.downloads import add_downloads
from levelcap.services.tavern.frame import Tavern
from levelcap.services.tavern.orders import Orders
from levelcap.services.tavern.page import Page, register
from levelcap.services.tavern.pulse import Pulse
from levelcap.services.tavern.tags import STATIC
from levelcap.services.tavern.visits import Visits

NAME = "tavern"
RECONNECT_S = 10.0
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
    opened: Realm, tokens: Tokens, keeper: KeeperClient, port: int, lan: bool = False
) -> FastAPI:
    """The app: entry, statics, pages. Once a process, because NiceGUI is one."""
    pulse = Pulse(opened)

    def start() -> None:
        entry.sweep()
        pulse.start()

    name = entry.cookie_name(port)
    app = make_app(
        NAME,
        tokens=tokens,
        port=port,
        lan=lan,
        lifespan=while_served(start, pulse.stop),
        policy=POLICY.format(nonce=""),
        cookie_role=lambda cookies: entry.role_of(cookies.get(name)),
    )
    _add_entry(app, name)
    add_downloads(app, opened, keeper)
    version = static_version()
    app.mount(f"/static/{version}", right("viewer")(Statics(directory=STATIC)), name="static")
    tavern = Tavern(opened, pulse, Orders(keeper), Visits(), f"/static/{version}")
    for place in lore.PLACES:
        register(tavern, place, _page_of(place))
    answers = arena.OracleClient.local(tokens)
    app.include_router(arena.routes(answers, keeper, tokens))
    app.include_router(oracle.routes(answers))
    _mount_pages(app, version)
    app.add_middleware(Doorway)
    return app


def _page_of(place: lore.Place) -> type[Page]:
    """`VaultPage` of `pages/vault.py`: file and class are named as the path; `/` is the hero's."""
    name = place.path.strip("/") or "hero"
    file = import_module(f"levelcap.services.tavern.pages.{name}")
    found: type[Page] = getattr(file, f"{name.capitalize()}Page")
    return found


def _add_entry(app: FastAPI, name: str) -> None:
    @Routes(app).get("/enter", "open", include_in_schema=False)
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
    with realm() as opened:
        app = build(opened, load_tokens(), KeeperClient.local(), launch.port, launch.lan)
        gc.freeze()  # what was imported stays: collections look at pages only
        serve(app, host=launch.host, port=launch.port, name=NAME)
