"""The guard before every route, always in this order:

body cap → Host → token → Origin and kind of body → strict JSON → route. WebSockets pass Host, token
and Origin before they are accepted. Every answer carries the security headers.
"""

import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any

import psutil
from fastapi import FastAPI
from fastapi.routing import RouteContext
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from levelcap.kit.errors import refuse
from levelcap.services.door.body import (
    Capped,
    Disconnected,
    Refusal,
    Watched,
    check_json,
    check_length,
    drain,
    read_body,
    replay,
)
from levelcap.services.door.rights import JSON, OPEN, Right, find
from levelcap.services.door.tokens import Tokens
from levelcap.services.process.hosts import LOOPBACK

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
API_POLICY = "default-src 'none'; frame-ancestors 'none'"
CookieRole = Callable[[dict[str, str]], str | None]


@dataclass(frozen=True)
class Gate:
    """What a guard needs to know; `cookie_role` maps cookies to a role for pages in a browser."""

    tokens: Tokens
    hosts: frozenset[str]
    body_cap: int
    policy: str = API_POLICY
    cookie_role: CookieRole | None = field(default=None, repr=False)


def own_hosts(port: int, lan: bool) -> frozenset[str]:
    """The Host headers that mean this service: loopback names, with `lan` the machine's own."""
    names: Iterable[str] = LOOPBACK
    if lan:
        names = (*LOOPBACK, *_machine_names())
    return frozenset(f"{name.lower()}:{port}" for name in names)


def _machine_names() -> set[str]:
    name = socket.gethostname()
    names = {name, f"{name.split('.')[0]}.local"}
    for addresses in psutil.net_if_addrs().values():
        for address in addresses:
            if address.family == socket.AF_INET:
                names.add(address.address)
            elif address.family == socket.AF_INET6:
                names.add(f"[{address.address.split('%')[0]}]")
    return names


class Guard:
    """ASGI middleware; `owner` is the app whose routes it guards."""

    def __init__(self, app: ASGIApp, *, owner: FastAPI, gate: Gate) -> None:
        self.app, self.owner, self.gate = app, owner, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        answer, watched = _Answer(send, self.gate.policy), Watched(receive)
        try:
            if scope["type"] == "websocket":
                self._admit(scope, *find(self.owner, scope))
                await self.app(scope, receive, send)
            else:
                await self._http(scope, watched, answer)
        except Disconnected:
            return
        except Refusal as refusal:
            if answer.started:
                raise
            if scope["type"] == "websocket":
                await _refuse_socket(scope, send, refusal)
            else:
                await drain(watched)
                await _json(refusal)(scope, receive, answer)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        route, declared = find(self.owner, scope)
        cap = (declared.body_cap if declared else None) or self.gate.body_cap
        check_length(scope["headers"], cap)
        self._admit(scope, route, declared)
        capped: Receive = Capped(receive, cap)
        if scope["method"] not in SAFE_METHODS and declared is not None:
            _check_kind(scope, declared)
            if declared.content_type == JSON:
                body = await read_body(capped)
                scope["state"]["json"] = check_json(body) if body else None
                capped = replay(body, receive)
        await self.app(scope, capped, send)

    def _admit(self, scope: Scope, route: RouteContext | None, declared: Right | None) -> None:
        """Host, then token, then Origin; route, declared: where it leads, and who may go there."""
        _check_host(scope, self.gate.hosts)
        role = self._role(scope)
        scope.setdefault("state", {})["role"] = role
        if declared is None or declared.role != OPEN:
            # Without a token nobody learns which paths and methods there are.
            if role is None:
                raise _no_token()
            if route is not None and (declared is None or not declared.allows(role)):
                needed = declared.role if declared else "nobody"
                what = f"this needs the right {needed!r}"
                raise Refusal(403, "forbidden", refuse(what, role, f"Use the token of {needed}"))
        _check_origin(scope, self.gate.hosts)

    def _role(self, scope: Scope) -> str | None:
        given = _values(scope, b"authorization")
        if len(given) == 1:
            scheme, _, token = given[0].partition(" ")
            return self.gate.tokens.role_of(token.strip()) if scheme.lower() == "bearer" else None
        if given or self.gate.cookie_role is None:
            return None
        return self.gate.cookie_role(_cookies(scope))


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _cookies(scope: Scope) -> dict[str, str]:
    found: dict[str, str] = {}
    for header in _values(scope, b"cookie"):
        try:
            found.update({name: part.value for name, part in SimpleCookie(header).items()})
        except CookieError:
            continue
    return found


def _check_host(scope: Scope, hosts: frozenset[str]) -> None:
    given = _values(scope, b"host")
    if len(given) != 1 or given[0].lower() not in hosts:
        message = refuse("this Host is not served here", given, "Use the address levelcap printed")
        raise Refusal(421, "wrong_host", message)


def _check_origin(scope: Scope, hosts: frozenset[str]) -> None:
    for origin in _values(scope, b"origin"):
        scheme, _, host = origin.lower().partition("://")
        if scheme not in ("http", "https") or host not in hosts:
            message = refuse("pages of another origin may not call this", origin, "Open ours")
            raise Refusal(403, "wrong_origin", message)


def _check_kind(scope: Scope, declared: Right) -> None:
    given = _values(scope, b"content-type")
    kind, _, rest = (given[0] if len(given) == 1 else "").lower().partition(";")
    charset = rest.strip().replace('"', "").removeprefix("charset=")
    wrong_charset = declared.content_type == JSON and charset not in ("", "utf-8")
    if kind.strip() != declared.content_type or wrong_charset:
        message = refuse(f"the body must be {declared.content_type}", given, "Set Content-Type")
        raise Refusal(415, "wrong_type", message)


def _no_token() -> Refusal:
    remedy = "Send `Authorization: Bearer <token>` with a token of config/tokens.json"
    message = refuse("a token is needed", "none or an unknown one", remedy)
    return Refusal(401, "unauthorized", message, www_authenticate="Bearer")


def _json(refusal: Refusal) -> JSONResponse:
    content = {"error": refusal.code, "message": refusal.message}
    return JSONResponse(content, refusal.status, headers=refusal.headers)


class _Answer:
    """A `send` that adds the security headers and remembers whether the answer has begun."""

    def __init__(self, send: Send, policy: str) -> None:
        self._send, self.started = send, False
        self._headers = {
            b"x-content-type-options": b"nosniff",
            b"cache-control": b"no-store",
            b"content-security-policy": policy.encode(),
            b"x-frame-options": b"DENY",
            b"referrer-policy": b"no-referrer",
        }

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = list(message.get("headers", []))
            present = {name.lower() for name, _ in headers}
            headers += [item for item in self._headers.items() if item[0] not in present]
            message = {**message, "headers": headers}
        await self._send(message)


async def _refuse_socket(scope: Scope, send: Send, refusal: Refusal) -> None:
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.code})
        return
    response: Any = _json(refusal)
    await send(
        {
            "type": "websocket.http.response.start",
            "status": refusal.status,
            "headers": response.raw_headers,
        }
    )
    await send({"type": "websocket.http.response.body", "body": response.body})
