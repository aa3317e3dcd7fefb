"""A Keeper in a process of its own, for tests that need a real server."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx

from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.tokens import load_tokens
from tests.services.realms import ROOT, free_ports, until


@contextmanager
def keeper(role="admin"):
    """Starts a Keeper on a free port; yields its client and its process."""
    [port] = free_ports(1)
    tokens = load_tokens()
    process = subprocess.Popen(
        [sys.executable, "-m", "levelcap.services.keeper", "--port", str(port)],
        cwd=ROOT,
        env={**os.environ},
        stderr=subprocess.DEVNULL,
    )
    client = KeeperClient(f"http://127.0.0.1:{port}", getattr(tokens, role))
    try:
        until(lambda: _answers(client), 60, "the keeper answers")
        yield client, process
    finally:
        client.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def _answers(client):
    try:
        return httpx.get(f"{client.url}/health", timeout=1).status_code == 200
    except httpx.HTTPError:
        return False
