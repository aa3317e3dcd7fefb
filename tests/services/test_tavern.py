"""The Tavern's door: codes, cookies, and the guard before every page, file and socket."""

import itertools
import json
import re
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest
from starlette.testclient import TestClient
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from levelcap.campaign.realm import realm
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.rights import check_rights
from levelcap.services.door.tokens import load_tokens
from levelcap.services.tavern import entry
from levelcap.services.tavern.app import build
from tests.services.matrix import bad_hosts, bad_origins, walk, walk_sockets
from tests.services.reach import try_paths
from tests.services.realms import ROOT, free_ports, until

SOCKET = "/live"


def test_a_code_is_good_once_and_for_ten_minutes(home):
    code = entry.make_code(now=1000.0)
    assert entry.enter(code, now=1000.0 + entry.CODE_S + 1) is None
    assert entry.enter(code, now=1001.0) is None  # a late try spends it, too
    code = entry.make_code(now=1000.0)
    session = entry.enter(code, now=1300.0)
    assert session and entry.enter(code, now=1301.0) is None
    assert entry.role_of(session, now=1302.0) == "admin"
    assert entry.role_of(session, now=1300.0 + entry.SESSION_S + 1) is None


@pytest.mark.parametrize("wrong", [None, "", "x", "../codes", "a" * 10_000, "\ud800", "\x00"])
def test_nothing_else_opens(home, wrong):
    entry.make_code()
    assert entry.role_of(wrong) is None
    assert wrong is None or entry.enter(wrong) is None


def test_secrets_are_stored_hashed_and_for_the_owner_alone(home):
    code = entry.make_code()
    session = entry.enter(entry.make_code())
    kept = home / "state" / "entry"
    assert kept.stat().st_mode & 0o077 == 0
    for path in kept.rglob("*"):
        assert code not in path.name and session not in path.name
        if path.is_file():
            text = path.read_text()
            assert code not in text and session not in text


def test_sweeping_removes_what_is_out_of_date(home):
    entry.make_code(now=0.0)
    fresh = entry.make_code()
    assert entry.sweep() == 1 and entry.enter(fresh)


def test_the_tavern_starts_without_torch(home):
    code = "import sys, levelcap.services.tavern.app; sys.exit('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=120)
    assert run.returncode == 0, run.stderr


def test_every_route_of_ours_is_guarded(home):
    port, tokens = 8888, load_tokens()
    with realm() as opened:
        app = build(opened, tokens, KeeperClient("http://127.0.0.1:9", tokens.admin), port)
        check_rights(app)
        assert walk(app, tokens, port) > 1000
        assert walk_sockets(app, tokens, port) > 20
        headers = {"authorization": f"Bearer {tokens.admin}", "content-type": "application/json"}
        with TestClient(app, base_url=f"http://localhost:{port}", headers=headers) as client:
            assert try_paths(app, client, stride=3) > 20


@contextmanager
def tavern():
    [port] = free_ports(1)
    process = subprocess.Popen(
        [sys.executable, "-m", "levelcap.services.tavern", "--port", str(port)],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: _answers(port), 60, "the tavern answers")
        yield port
    finally:
        process.terminate()
        assert process.wait(60) == 0


def _answers(port):
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def test_pages_files_and_sockets_ask_for_host_cookie_and_origin(home):
    with tavern() as port:
        base = f"http://127.0.0.1:{port}"
        answer = httpx.get(f"{base}/enter", params={"code": entry.make_code()})
        cookie = answer.headers["set-cookie"].split(";")[0]
        assert "HttpOnly" in answer.headers["set-cookie"]
        assert "SameSite=strict" in answer.headers["set-cookie"]
        page = httpx.get(base, headers={"cookie": cookie})
        assert page.status_code == 200
        _check_policy(page)
        files = re.findall(r'"(/static/[^"]+\.(?:js|css))"', page.text)
        assert len(files) == 3  # the theme, the page's script, the exhibition's
        _check_doors(base, port, cookie, ["/", "/quests", "/vault", *files])
        _check_sockets(port, cookie)


def _check_policy(page):
    """Files of our own and nothing else: no script or style stands in the page."""
    policy = page.headers["content-security-policy"]
    assert "script-src 'self';" in policy and "style-src 'self';" in policy
    assert "unsafe" not in policy and "http" not in policy
    assert re.findall(r"<script[^>]*>(?!</script>)", page.text) == []
    assert "<style" not in page.text and " style=" not in page.text and " onclick" not in page.text


def _check_doors(base, port, cookie, paths):
    wrong = cookie.split("=")[0] + "=wrong"
    with httpx.Client(base_url=base) as client:

        def status(path, method="GET", **headers):
            return client.request(method, path, headers=headers).status_code

        for path in paths:
            assert [status(path), status(path, cookie=wrong)] == [401, 401], path
            assert status(path, cookie=cookie) == 200, path
            for host in bad_hosts(port):
                assert status(path, cookie=cookie, host=host) == 421
            for origin in bad_origins(port):
                assert status(path, cookie=cookie, origin=origin) == 403
            for method in ("POST", "PUT", "DELETE"):
                form = {"content-type": "application/x-www-form-urlencoded"}
                assert status(path, method, cookie=cookie, **form) in (404, 405, 415)


def _check_sockets(port, cookie):
    own = f"http://127.0.0.1:{port}"
    cases = [
        *itertools.product([None, cookie.split("=")[0] + "=wrong"], [own], [401]),
        *itertools.product([cookie], bad_origins(port), [403]),
    ]
    for given, origin, status in cases:
        headers = {"Origin": origin} | ({} if given is None else {"Cookie": given})
        with pytest.raises(InvalidStatus) as refused:
            with connect(f"ws://127.0.0.1:{port}{SOCKET}", additional_headers=headers):
                pass
        assert refused.value.response.status_code == status, (given, origin)
    with connect(
        f"ws://127.0.0.1:{port}{SOCKET}", origin=own, additional_headers={"Cookie": cookie}
    ) as socket:
        assert json.loads(socket.recv(timeout=10))["hero"] == "kestrel"
