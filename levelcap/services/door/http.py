"""A guarded app and its server: health, errors as JSON, rights per route, one process a service.

app = make_app("keeper", tokens=load_tokens(), port=8767)

@app.get("/api/stats")
@right("viewer")
def stats() -> dict[str, int]: ...

serve(app, host="127.0.0.1", port=8767, name="keeper")
"""

import inspect
import logging
import math
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import levelcap
from levelcap.jobs.job import Refused, Stale
from levelcap.kit.errors import (
    Busy,
    Conflict,
    Corrupt,
    LevelcapError,
    NoSpace,
    StateError,
    UnknownName,
    UserError,
    refuse,
)
from levelcap.kit.log import ROOT, get_logger
from levelcap.kit.paths import without_paths
from levelcap.services.door.guard import API_POLICY, CookieRole, Gate, Guard, own_hosts
from levelcap.services.door.listen import bind
from levelcap.services.door.patience import PatientProtocol
from levelcap.services.door.rights import check_rights, right
from levelcap.services.door.tokens import Tokens

BODY_CAP = 1 << 20
GRACE_S = 2  # then open connections are cut: a service stops within 3 s
BUSY_RETRY_S = 1
Health = Callable[[], dict[str, Any]]

# First that fits.
STATUS: tuple[tuple[type[LevelcapError], int, str], ...] = (
    (UnknownName, 404, "not_found"),
    (UserError, 400, "bad_request"),
    (Conflict, 409, "conflict"),
    (Busy, 503, "busy"),
    (NoSpace, 507, "no_space"),
    (Corrupt, 409, "corrupt"),
    (Stale, 409, "stale"),
    (StateError, 409, "refused"),
)


def make_app(
    title: str,
    *,
    tokens: Tokens,
    port: int,
    lan: bool = False,
    body_cap: int = BODY_CAP,
    lifespan: Any = None,
    health: Health | None = None,
    cookie_role: CookieRole | None = None,
    policy: str = API_POLICY,
) -> FastAPI:
    """Makes an app whose every route is guarded (see `guard`).

    Args:
        title: the service's name, e.g. "keeper".
        tokens: who may do what.
        port: the port it will be reached at, part of every allowed Host and Origin.
        lan: True to answer to the machine's own names as well as to loopback.
        body_cap: bytes a body may have where a route declares nothing else.
        lifespan: as FastAPI takes it; see `while_served`.
        health: more fields of `GET /health`, which is open and must not wait for anything.
        cookie_role: cookies of a request -> role, for pages; None: cookies are ignored.
        policy: the Content-Security-Policy of answers that set none.

    Returns:
        The app with `/health` (open) and `/openapi.json` (viewer).
    """
    app = FastAPI(
        title=title,
        version=levelcap.__version__,
        docs_url=None,  # the page would load scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    gate = Gate(tokens, own_hosts(port, lan), body_cap, policy, cookie_role)
    app.add_middleware(Guard, owner=app, gate=gate)
    app.add_middleware(Boundary, name=title)  # added last: outermost
    _add_handlers(app)

    @app.get("/health", tags=["health"])
    @right("open")
    def get_health() -> dict[str, Any]:
        """Whether this service answers."""
        fields = {"status": "ok", "service": title, "version": levelcap.__version__}
        return fields | (health() if health else {})

    @app.get("/openapi.json", include_in_schema=False)
    @right("viewer")
    def get_openapi() -> dict[str, Any]:
        return app.openapi()

    return app


def while_served(
    start: Callable[[], object] = lambda: None, stop: Callable[[], object] = lambda: None
) -> Any:
    """A lifespan: `start` before the first request, `stop` (it may be a coroutine) at the end."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        start()
        try:
            yield
        finally:
            ended = stop()
            if inspect.isawaitable(ended):
                await ended

    return lifespan


def _add_handlers(app: FastAPI) -> None:
    app.add_exception_handler(LevelcapError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)


def error_json(
    status: int, code: str, message: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """The one shape of an error: `{"error": code, "message": …}`."""
    return JSONResponse({"error": code, "message": message}, status, headers=headers)


def _on_ours(_request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, Refused):
        wait = str(max(1, math.ceil(error.retry_after_sec)))
        return JSONResponse(error.as_json(), 429, headers={"Retry-After": wait})
    for kind, status, code in STATUS:
        if isinstance(error, kind):
            headers = {"Retry-After": str(BUSY_RETRY_S)} if kind is Busy else None
            return error_json(status, code, without_paths(str(error)), headers)
    raise error  # a fault of ours: the boundary logs it


def _on_invalid(_request: Request, error: Exception) -> JSONResponse:
    first = error.errors()[0]  # type: ignore[attr-defined]
    place = ".".join(str(part) for part in first["loc"])
    reason = first["msg"].removeprefix("Value error, ").split("; got ")[0]
    message = refuse(f"{place}: {reason}", first.get("input"), "Correct this field")
    content = {"error": "payload_invalid", "message": message, "field": place}
    return JSONResponse(content, 400)


def _on_http(request: Request, error: Exception) -> JSONResponse:
    status = getattr(error, "status_code", 500)
    code = {404: "not_found", 405: "wrong_method", 400: "bad_request"}.get(status, "refused")
    what = {404: "nothing is here", 405: "not with this method"}.get(
        status, str(getattr(error, "detail", "refused"))
    )
    remedy = "See /openapi.json for what there is"
    message = refuse(what, f"{request.method} {request.url.path}", remedy)
    headers = getattr(error, "headers", None)
    return error_json(status, code, message, dict(headers) if headers else None)


class Boundary:
    """The edge of the process: what nobody caught is logged with its traceback and answered."""

    def __init__(self, app: ASGIApp, *, name: str) -> None:
        self.app, self.log = app, get_logger(name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = scope["type"] != "http"

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except ClientDisconnect:
            return
        except Exception:
            if scope["type"] == "lifespan":
                raise
            # As text: a renderer that shows local variables would show the caller's token.
            trace = traceback.format_exc()
            self.log.error("request failed", path=scope["path"], traceback=trace)
            if not started:
                message = refuse("this failed here", scope["path"], "See the service's log")
                await error_json(500, "internal", message)(scope, receive, send)
            elif scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1011})


def serve(app: FastAPI, *, host: str, port: int, name: str) -> None:
    """Serves an app until SIGTERM or SIGINT; open connections get 2 s.

    Raises:
        StateError: a route without a right, or the port is taken.
    """
    check_rights(app)
    listening = bind(host, port, name)
    _log_like_us()
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_S,
        ws_max_size=BODY_CAP,
        # Twenty watchers of a match cost half the processor time; browsers are near.
        ws_per_message_deflate=False,
    )
    get_logger(name).info("listening", host=host, port=port)
    uvicorn.Server(config).run(sockets=[listening])


def _log_like_us() -> None:
    """The server's own messages go where ours go."""
    theirs = logging.getLogger("uvicorn")
    theirs.handlers = list(logging.getLogger(ROOT).handlers)
    theirs.setLevel(logging.WARNING)
    theirs.propagate = False
