"""Connections that idle, trickle or do not read end after the patience; the others go on."""

import socket
import subprocess
import sys
import time

import httpx
import pytest
from websockets.sync.client import connect

from levelcap.services.door.tokens import load_tokens
from tests.services.realms import SLACK, free_ports, until
from tests.services.test_serving import SERVICE, answers

SHORT_S = 1.0
AT_ONCE_S = 4 * SLACK * SHORT_S
# The real figure is 10 s: the same code with less of it.
IMPATIENT = f"""
import levelcap.services.door.body as body, levelcap.services.door.patience as patience
assert (patience.PATIENCE_S, body.READ_TIMEOUT_S) == (10.0, 10.0)
patience.PATIENCE_S = body.READ_TIMEOUT_S = {SHORT_S}
""" + SERVICE.replace(
    "serve(app,",
    """
from starlette.responses import StreamingResponse

@app.get("/endless")
@right("viewer")
async def endless():
    async def pieces():
        while True:
            yield b"x" * 65536
    return StreamingResponse(pieces())

serve(app,""",
)


@pytest.fixture
def port(home):
    (number,) = free_ports(1)
    process = subprocess.Popen([sys.executable, "-c", IMPATIENT, "--port", str(number)])
    try:
        until(lambda: answers(number), 30, "the service answers")
        yield number
    finally:
        process.kill()
        process.wait()


def ended_after(port, first=b"", again=b""):
    """Seconds until the service ends a connection that sends `again` from time to time."""
    with socket.create_connection(("127.0.0.1", port)) as caller:
        caller.sendall(first)
        caller.settimeout(0.2)
        begun = time.monotonic()
        while time.monotonic() - begun < 10 * SLACK * SHORT_S:
            try:
                if not caller.recv(65536):
                    break
            except TimeoutError:
                if again:
                    caller.sendall(again)
            except ConnectionError:
                break
        return time.monotonic() - begun


def head(port, method, path, *more):
    token = load_tokens().worker
    who = (f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {token}")
    return "\r\n".join((f"{method} {path} HTTP/1.1", *who, *more, "", "")).encode()


def test_who_says_nothing_or_too_little_is_sent_away(port):
    assert SHORT_S / 2 < ended_after(port) < AT_ONCE_S
    assert ended_after(port, b"GET / HTTP/1.1\r\n", b"X-A: b\r\n") < AT_ONCE_S  # a slow head
    for path, kind in (("/items", "application/json"), ("/files", "application/octet-stream")):
        method = "PUT" if path == "/files" else "POST"
        asked = head(port, method, path, f"Content-Type: {kind}", "Content-Length: 1000000")
        assert ended_after(port, asked, b" ") < AT_ONCE_S  # a slow body


def test_who_does_not_read_is_sent_away(port):
    with socket.create_connection(("127.0.0.1", port)) as caller:
        caller.sendall(head(port, "GET", "/endless"))
        time.sleep(3 * SHORT_S)
        with pytest.raises((ConnectionError, EOFError)):
            for _ in range(10_000):
                if not caller.recv(1 << 20):
                    raise EOFError


def test_who_speaks_is_heard_out(port):
    headers = {"authorization": f"Bearer {load_tokens().worker}"}
    url = f"127.0.0.1:{port}"
    with connect(f"ws://{url}/live", additional_headers=headers) as watcher:
        assert watcher.recv() == "hello"
        with httpx.stream("GET", f"http://{url}/endless", headers=headers) as answer:
            begun, seen = time.monotonic(), 0
            for piece in answer.iter_raw():
                seen += len(piece)
                if time.monotonic() - begun > 2 * SHORT_S:
                    break
        watcher.send("still here")  # longer than the patience, and nobody has hung up
    assert seen > 1 << 20
