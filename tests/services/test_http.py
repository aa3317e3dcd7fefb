"""A guarded app: who gets in, what bodies pass, how errors look."""

import asyncio
import json
import resource
import time

import httpx
import pytest
from fastapi import APIRouter, Request, WebSocket
from pydantic import BaseModel
from starlette.testclient import TestClient, WebSocketDenialResponse

from levelcap.jobs.job import Refused
from levelcap.kit import errors
from levelcap.services.door.body import MAX_DEPTH
from levelcap.services.door.fields import Id
from levelcap.services.door.guard import own_hosts
from levelcap.services.door.http import make_app
from levelcap.services.door.rights import check_rights, right
from levelcap.services.door.tokens import load_tokens
from tests.services.matrix import bad_hosts, bad_origins, walk, walk_sockets
from tests.services.paths import PATHS, in_url

PORT = 8767
RAISED = {
    "unknown": errors.unknown_name("run", "x", ["y"]),
    "value": errors.BadValue("no"),
    "conflict": errors.Conflict("no"),
    "busy": errors.Busy("later"),
    "space": errors.NoSpace("full"),
    "state": errors.StateError("no"),
    "full": Refused(
        "queue_full",
        "too many",
        pending=5,
        running=1,
        max_pending=5,
        max_running=1,
        retry_after_sec=7,
    ),
    "bug": RuntimeError("a secret detail"),
}


class Item(BaseModel):
    name: Id
    count: int = 1


@pytest.fixture
def tokens():
    return load_tokens()


@pytest.fixture
def app(tokens):
    app = make_app("sample", tokens=tokens, port=PORT)
    router = APIRouter(prefix="/api")

    @router.get("/items/{item}")
    @right("viewer")
    def show(item: Id, filter: Id | None = None):
        return {"item": item, "filter": filter}

    @router.post("/items", status_code=201)
    @right("worker")
    def add(item: Item):
        return item

    @router.put("/files/{name}")
    @right("admin", body_cap=3 << 20, content_type="application/octet-stream")
    async def upload(name: Id, request: Request):
        size = 0
        async for chunk in request.stream():
            size += len(chunk)
        return {"bytes": size}

    @router.delete("/items/{item}")
    @right("admin")
    def remove(item: Id):
        return {}

    @router.get("/raise/{name}")
    @right("viewer")
    def fail(name: str):
        raise RAISED[name]

    app.include_router(router)

    @app.websocket("/live")
    @right("viewer")
    async def live(socket: WebSocket):
        await socket.accept()
        await socket.send_text("hello")

    return app


@pytest.fixture
def client(app):
    with TestClient(app, base_url=f"http://localhost:{PORT}", raise_server_exceptions=False) as one:
        yield one


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def test_every_route_method_token_host_and_origin_answers_as_declared(app, tokens):
    calls = walk(app, tokens, PORT)
    print(f"{calls} calls")
    assert calls > 6 * 9 * 8 * 4


def test_the_walk_sees_a_route_that_lets_too_many_in(app, tokens):
    from levelcap.services.door import guard

    real = guard.Right.allows
    try:
        guard.Right.allows = lambda self, role: True
        with pytest.raises(AssertionError, match="/api/items"):
            walk(app, tokens, PORT)
    finally:
        guard.Right.allows = real


def test_every_socket_asks_for_host_token_and_origin_before_it_accepts(app, tokens, monkeypatch):
    from levelcap.services.door import guard

    assert walk_sockets(app, tokens, PORT) > 150
    monkeypatch.setattr(guard, "_check_origin", lambda scope, hosts: None)
    with pytest.raises(AssertionError, match="/live"):
        walk_sockets(app, tokens, PORT)


def test_a_route_without_a_right_keeps_the_service_from_starting(app):
    check_rights(app)

    @app.get("/forgotten")
    def forgotten():
        return {}

    with pytest.raises(errors.StateError, match=r"got \['/forgotten'\]"):
        check_rights(app)


def test_a_route_without_a_right_is_closed_to_everybody(app, tokens, client):
    @app.get("/forgotten")
    def forgotten():
        return {}

    assert client.get("/forgotten", headers=bearer(tokens.admin)).status_code == 403
    assert client.get("/forgotten").status_code == 401


def test_a_right_that_does_not_exist_is_refused():
    with pytest.raises(errors.UnknownName, match="Did you mean 'viewer'"):
        right("viewr")


def test_health_is_open_and_says_who_answers(client):
    answer = client.get("/health")
    assert answer.status_code == 200
    assert answer.json()["service"] == "sample"
    assert answer.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_sockets_are_refused_before_they_are_accepted(client, tokens):
    def status(**headers):
        try:
            with client.websocket_connect("/live", headers=headers) as socket:
                return socket.receive_text()
        except WebSocketDenialResponse as refused:
            return refused.status_code

    good = bearer(tokens.viewer) | {"host": f"localhost:{PORT}"}
    assert status(**good) == "hello"
    assert status(**good, origin=f"http://localhost:{PORT}") == "hello"
    refusals = [status(host=f"localhost:{PORT}"), status(**(good | bearer("wrong")))]
    hosts = len(bad_hosts(PORT))
    refusals += [status(**(good | {"host": host})) for host in bad_hosts(PORT)]
    refusals += [status(**good, origin=origin) for origin in bad_origins(PORT)]
    assert refusals == [401, 401] + [421] * hosts + [403] * len(bad_origins(PORT))


def test_own_hosts_are_loopback_alone_unless_the_lan_is_asked_for():
    assert own_hosts(1, lan=False) == {"localhost:1", "127.0.0.1:1", "[::1]:1"}
    assert own_hosts(1, lan=True) > own_hosts(1, lan=False)


@pytest.mark.parametrize(
    "name, status, code",
    [
        ("unknown", 404, "not_found"),
        ("value", 400, "bad_request"),
        ("conflict", 409, "conflict"),
        ("busy", 503, "busy"),
        ("space", 507, "no_space"),
        ("state", 409, "refused"),
        ("bug", 500, "internal"),
    ],
)
def test_errors_are_json_with_a_code_and_a_message(client, tokens, name, status, code):
    answer = client.get(f"/api/raise/{name}", headers=bearer(tokens.viewer))
    assert (answer.status_code, answer.json()["error"]) == (status, code)
    assert answer.json()["message"]
    assert "secret" not in answer.text
    assert ("retry-after" in answer.headers) == (name == "busy")


def test_a_full_queue_answers_429_with_its_numbers(client, tokens):
    answer = client.get("/api/raise/full", headers=bearer(tokens.viewer))
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "7"
    assert answer.json() == {
        "accepted": False,
        "reason": "queue_full",
        "message": "too many",
        "pending": 5,
        "running": 1,
        "max_pending": 5,
        "max_running": 1,
        "retry_after_sec": 7,
    }


def post(client, tokens, body, **headers):
    kind = {"content-type": "application/json"}
    return client.post("/api/items", content=body, headers=bearer(tokens.worker) | kind | headers)


def test_a_wrong_field_is_named(client, tokens):
    answer = post(client, tokens, b'{"name": "a", "count": "many"}')
    assert answer.status_code == 400
    assert answer.json()["field"] == "body.count"
    assert "got 'many'" in answer.json()["message"]


@pytest.mark.parametrize(
    "body, reason",
    [
        (b'{"name": NaN}', "NaN is not JSON"),
        (b'{"name": -Infinity}', "-Infinity is not JSON"),
        (b'{"count": 1e999}', "number out of range"),
        (b'{"count": ' + b"9" * 5000 + b"}", "limit"),
        (b'{"name": "a", "name": "b"}', "a key occurs twice"),
        (b'{"name": "\\ud800"}', "half of a surrogate pair"),
        (b'{"\\udfff": 1}', "half of a surrogate pair"),
        (b'{"name": "\xff"}', "not UTF-8"),
        (b'{"name": "\xed\xa0\x80"}', "not UTF-8"),
        ('{"name": "a"}'.encode("utf-16"), "not UTF-8"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "nested more than 64 levels"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        (b"{", "Expecting"),
        (b"'a'", "Expecting"),
    ],
)
def test_a_body_that_is_not_strict_json_is_refused_with_the_reason(client, tokens, body, reason):
    answer = post(client, tokens, body)
    assert answer.status_code == 400
    assert answer.json()["error"] == "bad_json"
    assert reason in answer.json()["message"]


def test_a_surrogate_pair_is_a_character_like_any_other(client, tokens):
    answer = post(client, tokens, b'{"name": "a", "more": "\\ud83c\\udfae"}')
    assert answer.status_code == 201


def test_bombs_are_refused_within_a_second_and_64_mib(client, tokens):
    post(client, tokens, b'{"name": "warm"}')
    cap = 1 << 20
    bombs = [
        b"[" * cap,
        b"{" * cap,
        b'{"a":' * (cap // 5),
        b"[0," * (cap // 3),
        b'"' + b"a" * (cap - 1),
        b"[" + b"[]," * (cap // 3 - 2) + b"0]",
        b"9" * cap,
        b'"' + b"\\u0000" * (cap // 6) + b'"',
        b"[" + b"1e1," * (cap // 4 - 2) + b"1]",
        b" " * cap,
        b"[" * 64 + b"0" + b"]" * 64,
    ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worst = 0.0
    for bomb in bombs:
        began = time.process_time()
        assert post(client, tokens, bomb[:cap]).status_code == 400
        worst = max(worst, time.process_time() - began)
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"worst bomb {worst:.2f} s of one core, {grown_mb:.0f} MiB")
    assert worst <= 1.0
    assert grown_mb <= 64


def test_bodies_are_capped_by_their_length_and_by_their_bytes(client, tokens):
    cap = 1 << 20
    assert post(client, tokens, b" " * (cap + 1)).status_code == 413
    assert post(client, tokens, b"{}", **{"content-length": "9" * 30}).status_code == 413
    chunks = (b" " * 1000 for _ in range(cap // 1000 + 2))  # chunked: no length is declared
    assert post(client, tokens, chunks).status_code == 413
    assert post(client, tokens, b"{}", **{"content-length": "-1"}).status_code == 400


def test_a_route_may_take_more_and_another_kind_of_body(client, tokens):
    headers = bearer(tokens.admin) | {"content-type": "application/octet-stream"}
    answer = client.put("/api/files/a", content=b"\xff" * (3 << 20), headers=headers)
    assert answer.json() == {"bytes": 3 << 20}
    chunks = (b"\xff" * 100_000 for _ in range(40))
    assert client.put("/api/files/a", content=chunks, headers=headers).status_code == 413


def test_no_spelling_of_a_path_is_taken_for_an_id(client, tokens):
    admin = bearer(tokens.admin)
    json_too = admin | {"content-type": "application/json"}
    for path in PATHS:
        found = [
            client.get(f"/api/items/{in_url(path)}", headers=admin),
            client.get("/api/items/a", params={"filter": path}, headers=admin),
            client.request("DELETE", f"/api/items/{in_url(path)}", headers=json_too),
            client.post("/api/items", content=json.dumps({"name": path}), headers=json_too),
        ]
        assert {answer.status_code for answer in found} <= {400, 404, 405}, path


def test_a_caller_that_goes_away_is_no_error(app, tokens):
    async def half_a_body():
        sent = []
        messages = [
            {"type": "http.request", "body": b'{"na', "more_body": True},
            {"type": "http.disconnect"},
        ]

        async def receive():
            return messages.pop(0)

        async def send(message):
            sent.append(message)

        headers = [(b"host", f"localhost:{PORT}".encode()), (b"content-type", b"application/json")]
        headers.append((b"authorization", f"Bearer {tokens.worker}".encode()))
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/api/items",
            "raw_path": b"/api/items",
            "query_string": b"",
            "headers": headers,
            "http_version": "1.1",
            "scheme": "http",
            "root_path": "",
            "client": None,
            "server": None,
        }
        await app(scope, receive, send)
        return sent

    assert asyncio.run(half_a_body()) == []


def test_cookies_open_nothing_unless_the_app_says_whose_they_are(tokens):
    asked = []

    def role_of(cookies):
        asked.append(cookies)
        return "viewer" if cookies.get("pass") == "yes" else None

    app = make_app("pages", tokens=tokens, port=PORT, cookie_role=role_of)

    async def status(**headers):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport) as one:
            return (
                await one.get(f"http://localhost:{PORT}/openapi.json", headers=headers)
            ).status_code

    assert asyncio.run(status(cookie="pass=yes; other=1")) == 200
    assert asyncio.run(status(cookie="pass=no")) == 401
    assert asyncio.run(status(cookie="pass=yes", authorization="Bearer x")) == 401
    assert asked == [{"pass": "yes", "other": "1"}, {"pass": "no"}]


def test_a_refusal_names_no_place_of_this_machine(client, tokens, home, monkeypatch):
    said = errors.refuse("cannot read JSON", f"{home}/vault/x/meta.json", "Use GET /api/jobs")
    monkeypatch.setitem(RAISED, "path", errors.BadFile(said))
    said = client.get("/api/raise/path", headers=bearer(tokens.viewer)).json()["message"]
    assert said == "cannot read JSON; got 'vault/x/meta.json'. Use GET /api/jobs."
