"""/vault twice: as it is (NiceGUI) and as a template with fragments. Which is smaller and faster?

    python benchmarks/vault_pages.py [--quick]

A realm with 5,000 checkpoints is made as for `pages_speed.py`; one Tavern serves both pages. Of
each: lines (without blanks and comments), ms until the server has answered, milliseconds of its
processor a call, bytes of the answer, bytes a browser fetches cold, ms until its buttons work
(cold, and warm: median of five), and memory of the Tavern for four more open pages (a browser has
six connections to a host, and every open stream takes one). Last line: JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import psutil
from oracle_speed import CHROMIUM, FLAGS
from pages_speed import OFFSET, fill, start

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"nicegui": "/vault", "template": "/trial/vault"}
LIVE = {"nicegui": "tr[data-checkpoint] .acts button", "template": "html[data-live] [data-order]"}
OPEN = 4
TAVERN = "levelcap/services/tavern"
FILES = {
    "nicegui": (
        f"{TAVERN}/pages/vault.py",
        f"{TAVERN}/pages/comparison.py",
        f"{TAVERN}/static/acts.js",
        f"{TAVERN}/static/modal.js",
    ),
    "template": tuple(
        f"benchmarks/vault_template/{name}"
        for name in ("page.py", "vault.html", "ledger.html", "compare.html", "vault.js")
    ),
}


def serve() -> None:
    """A Tavern that has the trial's routes, too; they come before NiceGUI's, which takes all."""
    from vault_template.page import routes

    from levelcap.campaign.realm import open_realm
    from levelcap.services.clients.keeper import KeeperClient
    from levelcap.services.door.http import serve as serve_app
    from levelcap.services.door.tokens import load_tokens
    from levelcap.services.tavern import app as tavern
    from levelcap.services.tavern.pulse import Pulse

    realm, port = open_realm(), 8888 + OFFSET
    app = tavern.build(realm, load_tokens(), KeeperClient.local(), port)
    before = list(app.router.routes)
    pulse = Pulse(realm)
    app.include_router(routes(realm, KeeperClient.local(), pulse, tavern.static_version()))
    added = [route for route in app.router.routes if route not in before]
    app.router.routes[:] = added + before
    serve_app(app, host="127.0.0.1", port=port, name="tavern")


def lines_of(names: tuple[str, ...]) -> int:
    """Lines that hold something besides a comment."""
    texts = [(ROOT / name).read_text().splitlines() for name in names]
    return sum(bool(t.strip()) and not t.strip().startswith(("#", "//")) for x in texts for t in x)


def measure_server(client: httpx.Client, path: str, rounds: int, pid: int) -> dict[str, float]:
    """Milliseconds of an answer and of the processor, and its bytes."""
    client.get(path).raise_for_status()
    process, times, size = psutil.Process(pid), [], 0
    before = sum(process.cpu_times()[:2])
    for _ in range(rounds):
        began = time.perf_counter()
        answer = client.get(path)
        times.append(1000 * (time.perf_counter() - began))
        size = len(answer.content)
    used = sum(process.cpu_times()[:2]) - before
    return {
        "answer_ms": round(statistics.median(times), 1),
        "bytes": size,
        "cpu_ms": round(1000 * used / rounds, 1),
    }


def measure_browser(base: str, cookie: str, name: str, rounds: int, pid: int) -> dict[str, float]:
    """Milliseconds until buttons work, bytes fetched cold, memory of four more open pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        context = browser.new_context()
        key, _, value = cookie.partition("=")
        context.add_cookies([{"name": key, "value": value, "url": base}])
        fetched: list[int] = []
        page = context.new_page()
        page.on("requestfinished", lambda r: fetched.append(sum(_sizes(r))))
        times = []
        for _ in range(rounds + 1):
            began = time.perf_counter()
            page.goto(f"{base}{PAGES[name]}")
            page.wait_for_selector(LIVE[name])
            times.append(1000 * (time.perf_counter() - began))
            if len(times) == 1:
                cold = sum(fetched)
        before = psutil.Process(pid).memory_info().rss
        others = [context.new_page() for _ in range(OPEN)]
        for other in others:
            other.goto(f"{base}{PAGES[name]}")
        held = psutil.Process(pid).memory_info().rss - before
        browser.close()
    return {
        "cold_ms": round(times[0]),
        "warm_ms": round(statistics.median(times[1:])),
        "cold_bytes": cold,
        "mb_open_pages": round(held / 1e6, 1),
    }


def _sizes(request: Any) -> tuple[int, int]:
    sizes = request.sizes()
    return sizes["responseBodySize"], sizes["responseHeadersSize"]


def main() -> None:
    """Fill, start, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    with tempfile.TemporaryDirectory(prefix="levelcap-vault-") as home:
        os.environ |= {"LEVELCAP_HOME": home, "LEVELCAP_PORT_OFFSET": str(OFFSET)}
        print(json.dumps(run(given.quick)))


def run(quick: bool) -> dict[str, Any]:
    """Both pages, alternating."""
    from levelcap.services.tavern import entry

    fill(1000)
    base, found = f"http://127.0.0.1:{8888 + OFFSET}", {}
    keeper = start("keeper")
    tavern = subprocess.Popen([sys.executable, __file__, "--serve"])
    try:
        asyncio.run(_until(base))
        answer = httpx.get(entry.entry_url(entry.make_code()))
        cookie = answer.headers["set-cookie"].split(";")[0]
        with httpx.Client(base_url=base, headers={"cookie": cookie}, timeout=30) as client:
            for name, path in PAGES.items():
                rounds = 10 if quick else 40
                found[name] = {"lines": lines_of(FILES[name])}
                found[name] |= measure_server(client, path, rounds, tavern.pid)
        for name in PAGES if CHROMIUM.exists() else ():
            found[name] |= measure_browser(base, cookie, name, 3 if quick else 5, tavern.pid)
    finally:
        for process in (tavern, keeper):
            process.send_signal(signal.SIGTERM)
            process.wait(20)
    for name, row in found.items():
        print(f"{name:<10}" + "  ".join(f"{key} {value:,}" for key, value in row.items()))
    return found


async def _until(base: str) -> None:
    async with httpx.AsyncClient() as client:
        for _ in range(600):
            try:
                if (await client.get(f"{base}/health", timeout=1)).is_success:
                    return
            except httpx.HTTPError:
                await asyncio.sleep(0.1)
    raise SystemExit("the Tavern does not answer")


if __name__ == "__main__":
    main()
