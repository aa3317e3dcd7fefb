"""A realm with Keeper, Tavern and Arena in processes of their own, and a browser to look at it."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Error, expect

from tests.services.realms import ROOT, are_free, free_ports, until

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
expect.set_options(timeout=20_000)  # as long as every other wait of these tests
OUT = Path(__file__).parent / "out"
PORTS = (8080, 8081, 8090, 8765, 8767, 8888)
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


LIVES = "window.__tavern?.live === true"


def free_offset():
    """A `port_offset` with which nobody is in the way: several of these run at once."""
    while True:
        offset = free_ports(1)[0] - min(PORTS)
        if are_free([port + offset for port in PORTS]):
            return offset


class Inn:
    """The processes of one realm."""

    def __init__(self, home, offset=None):
        self.home, self.offset = home, offset or free_offset()
        offset = self.offset
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("LEVELCAP_")},
            "LEVELCAP_HOME": str(home),
            "LEVELCAP_PORT_OFFSET": str(offset),
        }
        if cache := os.environ.get("LEVELCAP_KERNEL_CACHE"):
            self.env["LEVELCAP_KERNEL_CACHE"] = cache
        self.processes = {}

    @property
    def url(self):
        return f"http://127.0.0.1:{8888 + self.offset}"

    def prepare(self, *words, module="prepare", most_s=280):
        """Fills the realm: runs tests/browser/<module>.py with these words."""
        run = subprocess.run(
            [sys.executable, "-m", f"tests.browser.{module}", *words],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=most_s,
        )
        assert run.returncode == 0, run.stderr[-2000:]

    def start(self, name):
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-m", f"levelcap.services.{name}"],
            cwd=ROOT,
            env=self.env,
            stderr=subprocess.DEVNULL,
        )

    def wait(self, port, name):
        def answers():
            assert self.processes[name].poll() is None, f"{name} has ended"
            try:
                return httpx.get(f"http://127.0.0.1:{port + self.offset}/health", timeout=2)
            except httpx.HTTPError:
                return None

        until(answers, 60, f"{name} answers")

    def kill(self, name):
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes.pop(name).wait(10)

    def close(self):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def serving(home, module):
    """A realm filled by `module`, with Keeper, Oracle and Tavern, until it is left."""
    made = Inn(home)
    try:
        made.prepare(module=module)
        for name, port in (("keeper", 8767), ("oracle", 8765), ("tavern", 8888)):
            made.start(name)
            made.wait(port, name)
        yield made
    finally:
        made.close()


def launch(playwright):
    """Debian's Chromium, or a sentence."""
    if not CHROMIUM.exists():
        pytest.fail(f"{CHROMIUM} is missing: run `make setup`, or apt-get install chromium")
    return playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)


class Watched:
    """A page and everything about it that would be a fault."""

    def __init__(self, context, url):
        self.page, self.url = context.new_page(), url
        self.faults, self.hosts = [], set()
        self.page.set_default_timeout(20_000)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("request", lambda request: self.hosts.add(_host(request.url)))
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"console {message.type}: {message.text}")

    def goto(self, path):
        self.page.goto(self.url + path)
        self.page.wait_for_selector("main#content h1")
        self.until(LIVES)
        return self.page

    def until(self, expression, seconds=20):
        """Asks again and again; the browser's own way compiles text, which the pages forbid."""

        def holds():
            try:
                return self.page.evaluate(expression)
            except Error:  # between two pages
                return False

        until(holds, seconds, expression)


def mark(row):
    """Remember this element; `expect_same` tells it from one drawn in its place."""
    row.evaluate("row => { row.isSame = true }")


def expect_same(row):
    assert row.evaluate("row => row.isSame === true")


def says(page, words):
    """Among the notifications, of which others may come at any time, is this one."""
    expect(page.locator(".toast", has_text=words).first).to_be_visible()


def _host(url):
    return url.split("/")[2] if "://" in url and not url.startswith(("data:", "blob:")) else None
