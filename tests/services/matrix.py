"""Who may do what, asked of every route: route × method × token × Host × Origin, from the router.

`walk(app, tokens)` calls everything and returns how many calls it made, `walk_sockets` does the
same with WebSockets; they fail with a list of the answers that are wrong. Endpoints are replaced
meanwhile, so that nothing is carried out. What is mounted counts as a route of every method.
"""

import asyncio
import itertools
import re
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from fastapi.routing import APIRoute
from starlette.routing import Mount, Route, WebSocketRoute

from levelcap.services.door.rights import JSON, RIGHTS, Right, right_of, routes_of

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
TOKENS = ("none", "wrong", "empty", "basic", "twice", "viewer", "worker", "admin")
COOKIES = ("cookie", "stale cookie", "cookie and wrong token")
FULL = ("none", "admin", "cookie")  # callers who try every stranger's Host and Origin
PASSED = 299  # what a replaced endpoint answers
NOWHERE = "/no/such/path"
NO_BRACES = str.maketrans("{}:", "xxx")  # `{name}` in a route becomes a name


def bad_hosts(port):
    """Host headers of strangers."""
    names = (
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "0.0.0.0",
        "",
        "[::]",
    )
    return [f"{name}:{port}" for name in names] + [
        "localhost",
        f"localhost:{port + 1}",
        "127.0.0.1",
    ]


def bad_origins(port):
    """Origin headers of strangers."""
    return [
        "null",
        "http://evil.example",
        f"http://evil.example:{port}",
        "",
        f"http://localhost:{port + 1}",
        f"http://localhost.evil.example:{port}",
        "file://",
        f"http://localhost:{port}.evil.example",
        f"ftp://localhost:{port}",
        "http://localhost",
        f"http://localhost:{port}@evil.example",
    ]


def callers(tokens, cookie=None):
    """kind -> (headers, role or None); `cookie` is `name=secret` of a session, where there are."""
    admin = ("authorization", f"Bearer {tokens.admin}")
    wrong = ("authorization", "Bearer " + "x" * 43)
    found = {
        "none": ([], None),
        "wrong": ([wrong], None),
        "twice": ([admin] * 2, None),
        "empty": ([("authorization", "Bearer ")], None),
        "basic": ([("authorization", f"Basic {tokens.admin}")], None),
    }
    for role in ("viewer", "worker", "admin"):
        found[role] = ([("authorization", f"Bearer {getattr(tokens, role)}")], role)
    if cookie:
        stale = cookie.split("=")[0] + "=" + "x" * 43
        found["cookie"] = ([("cookie", cookie)], "admin")
        found["stale cookie"] = ([("cookie", stale)], None)
        found["cookie and wrong token"] = ([("cookie", cookie), wrong], None)
    return found


def expected(declared, role):
    """The status a call with our Host and no Origin must get, or None for "it passes"."""
    if declared is None:
        return 401 if role is None else 405
    if declared.role == "open":
        return None
    if role is None:
        return 401
    return None if RIGHTS.index(role) >= RIGHTS.index(declared.role) else 403


def http_routes(app):
    """path -> {method: Right} of everything but WebSockets; a mount answers to every method."""
    found, everywhere = {}, {}
    for route in routes_of(app):
        if route.methods:
            found.setdefault(route.path, {}).update(dict.fromkeys(route.methods, right_of(route)))
        elif isinstance(route.route, Mount):
            rights = dict.fromkeys(METHODS, right_of(route))
            found[f"{route.path}/x"] = rights
            everywhere = everywhere if route.path else rights
    for path, rights in found.items():  # /api/jobs/claim is also a place of /api/jobs/{job_id}
        for other, more in found.items():
            if re.fullmatch(re.sub(r"{[^}]*}", "[^/]+", other), path):
                rights.update({m: r for m, r in more.items() if m not in rights})
    return {path: everywhere | rights for path, rights in (found | {NOWHERE: {}}).items()}


def socket_routes(app):
    """path -> Right of every WebSocket, and of one below every mount."""
    found = {}
    for route in routes_of(app):
        if isinstance(route.route, WebSocketRoute):
            found[route.path] = right_of(route)
        elif isinstance(route.route, Mount):
            found[f"{route.path}/x"] = right_of(route)
    return found


@contextmanager
def _nothing_is_done():
    """Every request that passes the guard is answered here instead of by its endpoint."""

    def instead_of(real):
        async def answer(self, scope, receive, send):
            if scope["type"] == "websocket":
                await send({"type": "websocket.accept"})
                return
            if getattr(self, "methods", None) and scope["method"] not in self.methods:
                await real(self, scope, receive, send)
                return
            await send({"type": "http.response.start", "status": PASSED, "headers": []})
            await send({"type": "http.response.body"})

        return answer

    with ExitStack() as stack:
        for kind in (APIRoute, Route, Mount, WebSocketRoute):
            stack.enter_context(patch.object(kind, "handle", instead_of(kind.handle)))
        yield


def walk(app, tokens, port, methods=METHODS, kinds=TOKENS, cookie=None):
    """Calls every route in every way; returns the number of calls."""
    with _nothing_is_done():
        return asyncio.run(_walk(app, tokens, port, methods, kinds, cookie))


async def _walk(app, tokens, port, methods, kinds, cookie):
    wrong, count = [], 0
    known = callers(tokens, cookie)
    kinds = (*kinds, *(COOKIES if cookie else ()))
    for path, rights in http_routes(app).items():
        for method, kind in itertools.product(methods, kinds):
            given, role = known[kind]
            for headers, status in _variants(rights, method, role, port, path, kind in FULL):
                headers = {"host": f"localhost:{port}"} | headers
                pairs = [*headers.items(), *given]
                got = await _call(app, method, path.translate(NO_BRACES), pairs)
                count += 1
                if got != (status or PASSED):
                    wrong.append((method, path, kind, headers, got, status or PASSED))
    assert not wrong, f"{len(wrong)} of {count} calls, e.g. {wrong[:5]}"
    return count


def walk_sockets(app, tokens, port, cookie=None):
    """Knocks at every WebSocket in every way; returns how often."""
    with _nothing_is_done():
        return asyncio.run(_walk_sockets(app, tokens, port, cookie))


async def _walk_sockets(app, tokens, port, cookie):
    wrong, count = [], 0
    for path, declared in socket_routes(app).items():
        for kind, (given, role) in callers(tokens, cookie).items():
            for headers, status in _knocks(expected(declared, role), port):
                pairs = [*({"host": f"localhost:{port}"} | headers).items(), *given]
                got = await _knock(app, path.translate(NO_BRACES), pairs)
                count += 1
                if got != (status or PASSED):
                    wrong.append((path, kind, headers, got, status or PASSED))
    assert not wrong, f"{len(wrong)} of {count} sockets, e.g. {wrong[:5]}"
    return count


def _knocks(normal, port):
    """(headers, expected status) of one caller at one socket."""
    yield {}, normal
    yield {"origin": f"http://localhost:{port}"}, normal
    for host in bad_hosts(port):
        yield {"host": host}, 421
    for origin in bad_origins(port):
        yield {"origin": origin}, normal or 403


def _variants(rights, method, role, port, path, full):
    """(headers, expected status) of one method and caller; full: every stranger's name."""
    declared = rights.get(method)
    content = declared.content_type if isinstance(declared, Right) else JSON
    typed = {"content-type": content}
    normal = expected(declared, role)
    if path == NOWHERE and normal == 405:
        normal = 404
    yield typed, normal
    yield typed | {"origin": f"http://localhost:{port}"}, normal
    for host in bad_hosts(port)[: None if full else 1]:
        yield typed | {"host": host}, 421
    # A stranger's page gets 403 where the caller would get in, and what the caller gets elsewhere.
    barred = 403 if normal in (None, 404, 405) else normal
    for origin in bad_origins(port)[: None if full else 1]:
        yield typed | {"origin": origin}, barred
    if declared and normal is None and method not in ("GET", "HEAD", "OPTIONS"):
        for other in {"text/plain", "application/x-www-form-urlencoded", ""} - {content}:
            yield {"content-type": other}, 415


async def _call(app, method, path, headers):
    """One request without a body, straight into the app; returns the status."""
    scope = {"type": "http", "method": method, "scheme": "http"}
    ask = {"type": "http.request", "body": b"", "more_body": False}
    first = await _first_answer(app, scope | _place(path, headers), ask)
    assert (b"x-content-type-options", b"nosniff") in first["headers"]
    return first["status"]


async def _knock(app, path, headers):
    """One WebSocket; returns the status of the refusal, or PASSED when it is accepted."""
    scope = {"type": "websocket", "scheme": "ws", "subprotocols": []}
    scope["extensions"] = {"websocket.http.response": {}}
    first = await _first_answer(app, scope | _place(path, headers), {"type": "websocket.connect"})
    return PASSED if first["type"] == "websocket.accept" else first["status"]


def _place(path, headers):
    return {
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "http_version": "1.1",
        "root_path": "",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 1),
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }


async def _first_answer(app, scope, asked):
    sent = []

    async def receive():
        return asked

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]
