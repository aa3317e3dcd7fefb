"""Starting and watching realms of stubs, with real processes."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil

from levelcap.kit.paths import folder
from levelcap.services.process.standing import read_leader, read_standings

ROOT = Path(__file__).resolve().parents[2]
# Promises in seconds hold on a machine that has a core to spare; else they are only roughly held.
# With several workers (`make test`) others run beside every test, whatever the load was before.
BUSY = "PYTEST_XDIST_WORKER" in os.environ or os.getloadavg()[0] > (os.cpu_count() or 1)
SLACK = 4.0 if BUSY else 1.0
PORTS = range(10_000, 32_000)  # below those that the system gives to whoever calls somebody


def are_free(ports):
    """Whether nobody has any of these ports now."""
    try:
        for port in ports:
            socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def free_ports(count):
    """Ports that nobody has now, and that no caller is given before they are used."""
    found = set()
    while len(found) < count:
        port = random.SystemRandom().choice(PORTS)
        found |= {port} if are_free([port]) else set()
    return list(found)


def until(condition, seconds, what):
    """Waits for a condition and returns its value; fails with a sentence."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return found


def processes_of(home):
    """Every living process that was started for the realm at `home`."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and process.pid != os.getpid():
                if process.environ().get("LEVELCAP_HOME") == str(home):
                    found.append(process)
    return found


def until_nobody_is_left(home, seconds):
    """Waits for the end of every process of the realm at `home`; fails naming those left."""
    deadline = time.monotonic() + seconds
    while left := processes_of(home):
        assert time.monotonic() < deadline, f"not gone within {seconds} s: {describe(left)}"
        time.sleep(0.02)


def describe(processes):
    said = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            said.append(f"{process.name()} {process.status()} {' '.join(process.cmdline())[-80:]}")
    return said


def tell(port, word):
    """Sends a stub its order."""
    with contextlib.suppress(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/{word}", timeout=1).close()


class Realm:
    """A Weaver in a process of its own; `stubs` maps a name to (port or 0, behaviour)."""

    def __init__(self, home, **stubs):
        self.home = home
        table = {str(port): {"name": n, "start": "ok", **how} for n, (port, how) in stubs.items()}
        (folder("state") / "stubs.json").write_text(json.dumps(table))
        self.rows = [[name, port or None] for name, (port, _) in stubs.items()]

    def start(self, **pace):
        self.weaver = subprocess.Popen(
            [sys.executable, "-m", "tests.services.stub_realm", json.dumps(self.rows)]
            + [json.dumps(pace)],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        return self

    def ready(self, seconds=60):
        def is_ready():
            assert self.weaver.poll() is None, self.weaver.stderr.read()
            leader = read_leader()
            return leader is not None and leader.pid == self.weaver.pid and leader.ready

        until(is_ready, seconds, "the realm is ready")
        return self

    def until_state(self, name, state, seconds=60):
        return until(
            lambda: (row := read_standings().get(name)) and row.state == state and row,
            seconds,
            f"{name} is {state}",
        )

    def stop(self):
        self.weaver.send_signal(signal.SIGTERM)
        self.weaver.wait(60)

    def close(self):
        if self.weaver.poll() is None:
            self.weaver.kill()
        self.weaver.wait()
        self.weaver.stderr.close()
        for process in processes_of(self.home):
            with contextlib.suppress(psutil.Error):
                process.kill()
