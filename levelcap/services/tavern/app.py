"""The Tavern's app and process: port 8888, no torch.

Pages stand behind the guard of every API: Host, then cookie (or token), then Origin, before a page
is read or its WebSocket accepted.
"""

from __future__ import annotations

import gc
import hashlib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response

from levelcap.campaign.realm import Realm, realm
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.http import make_app, serve, while_served
from levelcap.services.door.rights import Routes, right
from levelcap.services.door.tokens import Tokens, load_tokens
from levelcap.services.process import lifeline
from levelcap.services.tavern import arena, entry, finder, lore, oracle
from levelcap.services.tavern.doorway import POLICY, Doorway, small_page
from levelcap.services.tavern.downloads import add_downloads
from levelcap.services.tavern.live import Live
from levelcap.services.tavern.pages.anywhere import RUNTIME, RUNTIME_ADDRESS
from levelcap.services.tavern.pulse import Pulse
from levelcap.services.tavern.view import Plain, Tavern, View
from levelcap.services.tavern.visits import Visits

NAME = "tavern"
STATIC = Path(__file__).parent / "static"


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
    """The app: entry, statics, pages."""
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
        policy=POLICY,
        cookie_role=lambda cookies: entry.role_of(cookies.get(name)),
    )
    _add_entry(app, name)
    add_downloads(app, opened, keeper)
    version = static_version()
    app.mount(f"/static/{version}", right("viewer")(Statics(directory=STATIC)), name="static")
    # Set-up may bring it while the Tavern runs; its address names its version.
    runtime = Statics(directory=RUNTIME, check_dir=False)
    app.mount(RUNTIME_ADDRESS, right("viewer")(runtime), name="runtime")
    tavern = Tavern(opened, pulse, keeper, Visits(), f"/static/{version}")
    app.include_router(Live(tavern).routes())
    for place in (*lore.PLACES, *lore.BESIDE):
        app.include_router(_view_of(place)(tavern, place).routes())
    answers = arena.OracleClient.local(tokens)
    app.include_router(arena.routes(answers, keeper, tokens))
    app.include_router(oracle.routes(answers))
    app.include_router(finder.routes(tavern))
    app.add_middleware(Doorway)
    return app


def _view_of(place: lore.Place) -> type[View[Any]]:
    """`VaultView` of `pages/vault.py`, named as the path; without a file the template is all."""
    file = f"levelcap.services.tavern.pages.{place.name_of_files}"
    if find_spec(file) is None:
        return Plain
    found: type[View[Any]] = getattr(import_module(file), f"{place.name_of_files.capitalize()}View")
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


def main() -> None:
    """Serve until told to stop."""
    launch = lifeline.start(NAME)
    with realm() as opened:
        app = build(opened, load_tokens(), KeeperClient.local(), launch.port, launch.lan)
        gc.freeze()  # what was imported stays: collections look at pages only
        serve(app, host=launch.host, port=launch.port, name=NAME)
