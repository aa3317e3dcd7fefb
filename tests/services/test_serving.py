"""A guarded app in a real process, over real connections."""

import os
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from levelcap.kit.errors import StateError
from levelcap.services.door.listen import bind
from levelcap.services.door.tokens import load_tokens
from levelcap.services.process.health import ask_health
from tests.services.realms import SLACK, free_ports, until

SERVICE = """
from fastapi import Request, WebSocket
from levelcap.services.process import lifeline
from levelcap.services.door.http import make_app, serve
from levelcap.services.door.rights import right
from levelcap.services.door.tokens import load_tokens

launch = lifeline.start("sample")
app = make_app("sample", tokens=load_tokens(), port=launch.port)

@app.post("/items")
@right("worker")
def add(item: dict[str, int]):
    return item

@app.put("/files")
@right("worker", body_cap=2 << 20, content_type="application/octet-stream")
async def upload(request: Request):
    return sum([len(chunk) async for chunk in request.stream()])

@app.websocket("/live")
@right("viewer")
async def live(socket: WebSocket):
    await socket.accept()
    await socket.send_text("hello")
    await socket.receive_text()

serve(app, host=launch.host, port=launch.port, name="sample")
"""
PIECE = b" " * 65536


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Port and tokens of a running service; it is ended with SIGTERM and must obey."""
    home = tmp_path_factory.mktemp("served")
    before = os.environ.get("LEVELCAP_HOME")
    os.environ["LEVELCAP_HOME"] = str(home)
    try:
        tokens, (port,) = load_tokens(), free_ports(1)
        command = [sys.executable, "-c", SERVICE, "--port", str(port)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    finally:
        os.environ.pop("LEVELCAP_HOME")
        if before is not None:
            os.environ["LEVELCAP_HOME"] = before
    try:
        until(lambda: answers(port), 30, "the service answers")
        yield port, tokens
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def answers(port):
    try:
        return ask_health("sample", port)
    except StateError:
        return None


def send(served, method, path, content, kind="application/json"):
    port, tokens = served
    headers = {"authorization": f"Bearer {tokens.worker}", "content-type": kind}
    url = f"http://127.0.0.1:{port}{path}"
    return httpx.request(method, url, content=content, headers=headers, timeout=20).status_code


def test_a_refused_body_still_gets_its_answer(served):
    sizes = (1 << 20, (1 << 20) + 1, 30 << 20)
    assert [send(served, "POST", "/items", b" " * n) for n in sizes] == [400, 413, 413]
    pieces = ([PIECE] * n for n in (16, 17, 200))  # no length is declared
    assert [send(served, "POST", "/items", iter(some)) for some in pieces] == [400, 413, 413]
    stream = "application/octet-stream"
    pieces = ([PIECE] * n for n in (32, 33, 200))
    assert [send(served, "PUT", "/files", iter(p), stream) for p in pieces] == [200, 413, 413]


def test_one_connection_goes_on_after_a_refusal(served):
    port, tokens = served
    headers = {"authorization": f"Bearer {tokens.worker}", "content-type": "application/json"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:
        bodies = (b"{", b'{"a": 1}', b'{"a": NaN}', b'{"a": 2}')
        found = [client.post("/items", content=body).status_code for body in bodies]
    assert found == [400, 200, 400, 200]


def test_sockets_are_refused_before_the_handshake(served):
    port, tokens = served
    good = {"authorization": f"Bearer {tokens.viewer}"}

    def status(**headers):
        try:
            with connect(
                f"ws://127.0.0.1:{port}/live", additional_headers=headers, proxy=None
            ) as s:
                return s.recv()
        except InvalidStatus as refused:
            return refused.response.status_code

    assert status(**good) == "hello"
    assert status() == status(authorization="Bearer wrong") == 401
    assert status(**good, origin="null") == status(**good, origin="http://evil.example") == 403


@pytest.mark.parametrize(
    "request_line, status",
    [
        (b"GET /health HTTP/1.0\r\n\r\n", b"421"),
        (b"GET http://evil/health HTTP/1.1\r\nHost: evil\r\n\r\n", b"421"),
        (b"GET /health HTTP/1.1\r\nHost: localhost:PORT\r\nHost: evil\r\n\r\n", b"421"),
        (b"GET /health HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", b"200"),
        (b"GET /%ff%00 HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", b"401"),
        (b"OPTIONS * HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", b"401"),
        (b"GET /\xff HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x00\xee\r\n\r\n", b"400"),
    ],
)
def test_odd_requests_are_answered_without_a_500(served, request_line, status):
    port, _ = served
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        raw.sendall(request_line.replace(b"PORT", str(port).encode()))
        assert raw.recv(64).split()[1] == status


def test_an_open_socket_does_not_keep_a_service_from_stopping(home):
    tokens, (port,) = load_tokens(), free_ports(1)
    command = [sys.executable, "-c", SERVICE, "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        until(lambda: answers(port), 30, "the service answers")
        headers = {"authorization": f"Bearer {tokens.viewer}"}
        with connect(f"ws://127.0.0.1:{port}/live", additional_headers=headers, proxy=None) as live:
            assert live.recv() == "hello"
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
            print(f"stopped in {time.monotonic() - began:.1f} s")
            assert time.monotonic() - began < 3 * SLACK


def test_a_taken_port_is_named_with_its_owner():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StateError, match=rf"port {port} .*got '.*\(pid {os.getpid()}\)'"):
            bind("127.0.0.1", port, "keeper")


def test_a_stranger_on_the_port_is_no_health(served):
    port, _ = served
    with pytest.raises(StateError, match="somebody else answers on the port of keeper"):
        ask_health("keeper", port)
