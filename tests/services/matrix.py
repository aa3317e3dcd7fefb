"""Who may do what, asked of every route: route × method × token × Host × Origin, from the router.

`walk(app, tokens)` calls everything and returns how many calls it made; it fails with a list of
the answers that are wrong. Endpoints are replaced while it walks, so that nothing is carried out.
"""

import asyncio
import itertools
import re
from contextlib import contextmanager
from unittest.mock import patch

from fastapi.routing import APIRoute
from starlette.routing import Route

from levelcap.services.rights import JSON, RIGHTS, Right, right_of, routes_of

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
TOKENS = ("none", "wrong", "empty", "basic", "twice", "viewer", "worker", "admin")
NO_TOKEN = TOKENS[:5]
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
        "null", "http://evil.example", f"http://evil.example:{port}", "",
        f"http://localhost:{port + 1}",
        f"http://localhost.evil.example:{port}", "file://", f"http://localhost:{port}.evil.example",
        f"ftp://localhost:{port}", "http://localhost", f"http://localhost:{port}@evil.example",
    ]  # fmt: skip


def credentials(tokens, kind):
    """Headers of a caller."""
    if kind in ("none", "twice"):
        value = [("authorization", f"Bearer {tokens.admin}")] * 2
        return [] if kind == "none" else value
    words = {"wrong": "Bearer " + "x" * 43, "empty": "Bearer ", "basic": f"Basic {tokens.admin}"}
    return [("authorization", words.get(kind) or f"Bearer {getattr(tokens, kind)}")]


def expected(rights, method, kind):
    """The status a call with our Host and no Origin must get, or None for "it passes"."""
    declared = rights.get(method)
    if declared is None:
        return 401 if kind in NO_TOKEN else 405
    if declared.role == "open":
        return None
    if kind in NO_TOKEN:
        return 401
    return None if RIGHTS.index(kind) >= RIGHTS.index(declared.role) else 403


def http_routes(app):
    """path -> {method: Right} of everything but WebSockets and mounts."""
    found = {}
    for route in routes_of(app):
        if route.methods:
            found.setdefault(route.path, {}).update(dict.fromkeys(route.methods, right_of(route)))
    for path, rights in found.items():  # /api/jobs/claim is also a place of /api/jobs/{job_id}
        for other, more in found.items():
            if re.fullmatch(re.sub(r"{[^}]*}", "[^/]+", other), path):
                rights.update({m: r for m, r in more.items() if m not in rights})
    return found


@contextmanager
def _nothing_is_done():
    """Every request that passes the guard is answered here instead of by its endpoint."""

    def instead_of(real):
        async def answer(self, scope, receive, send):
            if self.methods and scope["method"] not in self.methods:
                await real(self, scope, receive, send)
                return
            await send({"type": "http.response.start", "status": PASSED, "headers": []})
            await send({"type": "http.response.body"})

        return answer

    with patch.object(APIRoute, "handle", instead_of(APIRoute.handle)):
        with patch.object(Route, "handle", instead_of(Route.handle)):
            yield


def walk(app, tokens, port, methods=METHODS, kinds=TOKENS):
    """Calls every route in every way; returns the number of calls."""
    with _nothing_is_done():
        return asyncio.run(_walk(app, tokens, port, methods, kinds))


async def _walk(app, tokens, port, methods, kinds):
    wrong, count = [], 0
    for path, rights in [*http_routes(app).items(), (NOWHERE, {})]:
        for method, kind in itertools.product(methods, kinds):
            for headers, status in _variants(rights, method, kind, port, path):
                headers = {"host": f"localhost:{port}"} | headers
                pairs = [*headers.items(), *credentials(tokens, kind)]
                got = await _call(app, method, path.translate(NO_BRACES), pairs)
                count += 1
                if got != (status or PASSED):
                    wrong.append((method, path, kind, headers, got, status or PASSED))
    assert not wrong, f"{len(wrong)} of {count} calls, e.g. {wrong[:5]}"
    return count


def _variants(rights, method, kind, port, path):
    """(headers, expected status) of one method and caller."""
    declared = rights.get(method)
    content = declared.content_type if isinstance(declared, Right) else JSON
    typed = {"content-type": content}
    normal = expected(rights, method, kind)
    if path == NOWHERE and normal == 405:
        normal = 404
    yield typed, normal
    yield typed | {"origin": f"http://localhost:{port}"}, normal
    # Every stranger's name with no token and with the strongest one, else the first alone.
    full = kind in ("none", "admin")
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
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(),
        "query_string": b"", "http_version": "1.1", "scheme": "http", "root_path": "",
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 1),
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }  # fmt: skip
    await app(scope, receive, send)
    assert (b"x-content-type-options", b"nosniff") in sent[0]["headers"]
    return sent[0]["status"]
