"""How fast are the Tavern's pages when the realm is full, and what do twenty watchers cost?

    python benchmarks/pages_speed.py [--quick] [--pages] [--minutes N]

A realm with 5,000 checkpoints, 50,000 jobs and a million metric points (a hundred thousand with
--quick) is made in a temporary folder, a Keeper and a Tavern are started on it, and a quest counts
as running whose metrics grow by five rows a second, as those of a small net do. Then: every page is
asked for again and again; a browser, when there is one, loads it cold and warm; twenty clients
watch the hero's page (a WebSocket, and its live part every second) while the Tavern's processor
time is counted; with --minutes they go on for so long, and the slope of the Tavern's memory is
measured. Last comes, unless --pages is given, what `oracle_speed.py` measures, in its own realm.

The last line is JSON: max_page_ms (largest 95 % point of a page), cpu_20_clients (% of a core),
fps of a siege on the canvas, act_p99_ms of one player, rss_mb_per_min (null without --minutes), and
the table's figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

import httpx
import psutil
import websockets
from oracle_speed import CHROMIUM, FLAGS, measure_in_new_realm

PAGES = ("/", "/quests", "/league", "/tests", "/guild", "/jobs", "/vault", "/settings", "/report")
CHECKPOINTS, JOBS, RUNS, CLIENTS = 5000, 50_000, 100, 20
OFFSET = 23_000
SAMPLE_S = 10.0


def fill(points: int) -> str:
    """Writes the realm; returns the run that counts as running."""

    from levelcap.campaign.realm import realm
    from levelcap.campaign.story import campaigns, curves
    from levelcap.campaign.wheel import flywheel
    from levelcap.kit.db import reading, transaction

    with realm() as opened:
        flywheel.begin(opened.store)
        with reading(opened.engine) as connection:
            campaign = campaigns.list_all(connection)[0].id
        with transaction(opened.engine) as connection:
            for table, rows in _rows(campaign).items():
                names = list(rows[0])
                slots = ", ".join(f":{name}" for name in names)
                query = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({slots})"
                connection.execute_many(query, rows)
        _write_metrics(points)
        curves.roll_up(opened.engine)
    return f"reinforce-{RUNS - 1:06d}"


def _moment(age_s: float) -> str:
    from datetime import UTC, datetime, timedelta

    return (datetime.now(UTC) - timedelta(seconds=age_s)).isoformat(timespec="milliseconds")


def _rows(campaign: str) -> dict[str, list[dict[str, Any]]]:
    from levelcap.kit.clock import system_clock

    rng, boot = random.Random(0), system_clock().boot_id
    assets, ledger, jobs, events, quests, runs = [], [], [], [], [], []
    for n in range(CHECKPOINTS):
        name, age = f"checkpoint-{n:012x}", (CHECKPOINTS - n) * 100
        assets.append(
            {
                "id": name,
                "kind": "checkpoint",
                "name": name,
                "size_bytes": 15_000,
                "sha256": f"{n:064x}",
                "parents": "[]",
                "status": "present",
                "created": _moment(age),
                "created_by": "benchmark",
            }
        )
        elo = 900 + n / 5 + rng.gauss(0, 30)
        ledger.append(
            {
                "id": name,
                "step": n * 20,
                "timestamp": _moment(age),
                "canonical_name": f"checkpoint-{n * 20}-20260101-0000",
                "role": "decision",
                "hero": "kestrel",
                "campaign": campaign,
                "run": f"reinforce-{n % RUNS:06d}",
                "world": "duel",
                "train_loss": rng.random(),
                "elo": elo,
                "elo_low": elo - 30,
                "elo_high": elo + 30,
                "accuracy": rng.random(),
                "size_bytes": 15_000,
                "has_optimizer": 0,
                "parents": "[]",
                "sha256": f"{n:064x}",
                "created_by": "benchmark",
                "ledger_version": 1,
                "seq": n + 1,
                "cost_core_seconds": n * 2.0,
                "total_examples_trained": n * 100_000,
            }
        )
    for n in range(JOBS):
        running = n == JOBS - 1
        kind = "reinforce" if running else ("eval" if n % 2 else "reinforce")
        jobs.append(
            {
                "id": f"job-{n:016x}",
                "type": kind,
                "payload": "{}",
                "rank": 2,
                "status": "running" if running else "done",
                "attempts": 1,
                "max_attempts": 50,
                "created": _moment((JOBS - n) * 10),
                "result": None if running else "{}",
                "boot": boot,
                "ready_at": 0.0,
                "lease_at": 1e12 if running else None,
                "deadline_at": 1e12 if running else None,
                "worker": "arena",
                "progress": 0.4,
            }
        )
        events.append(
            {
                "time": _moment((JOBS - n) * 10),
                "kind": "training.completed",
                "channel": "training",
                "severity": "success",
                "data": "{}",
                "message": f"reinforce done: {n:,} steps",
            }
        )
    for n in range(2000):
        running = n == 1999
        quests.append(
            {
                "id": f"quest-{n:012x}",
                "campaign": campaign,
                "kind": "reinforce",
                "title": f"Round {n}",
                "recipe": "{}",
                "priority": "normal",
                "source": "scheduler",
                "status": "running" if running else "done",
                "job": f"job-{JOBS - 2000 + n:016x}",
                "run": f"reinforce-{n % RUNS:06d}" if not running else f"reinforce-{RUNS - 1:06d}",
                "created": _moment((2000 - n) * 60),
                "seq": n + 1,
            }
        )
    for n in range(RUNS):
        runs.append(
            {
                "id": f"reinforce-{n:06d}",
                "campaign": campaign,
                "kind": "reinforce",
                "world": "duel",
                "seed": 0,
                "command": "levelcap reinforce --world duel",
                "started": _moment((RUNS - n) * 3000),
                "core_seconds": 600.0,
                "cost_per_elo": rng.random() * 10,
                "gain": 60.0,
                "gain_low": 10.0,
                "gain_high": 110.0,
            }
        )
    return {
        "assets": assets,
        "ledger": ledger,
        "jobs": jobs,
        "events": events,
        "runs": runs,
        "quests": quests,
    }


def _write_metrics(points: int) -> None:
    from levelcap.campaign.story.runs import run_folder

    each = points // RUNS
    rng = random.Random(1)
    for n in range(RUNS):
        place = run_folder(f"reinforce-{n:06d}")
        place.mkdir(parents=True)
        lines = (json.dumps(_metric(step, rng)) for step in range(each))
        (place / "metrics.jsonl").write_text("\n".join(lines) + "\n")


def _metric(step: int, rng: random.Random) -> dict[str, float]:
    return {
        "step": step,
        "time": 0.0,
        "value_loss": 1 / (1 + step) + 0.01 * rng.random(),
        "steps_per_s": 90_000 + rng.gauss(0, 900),
        "seconds": step / 5,
    }


class Trainer(threading.Thread):
    """Grows the metrics of the running run by five rows a second."""

    def __init__(self, run: str) -> None:
        super().__init__(daemon=True)
        from levelcap.campaign.story.runs import run_folder

        self.path, self.ended = run_folder(run) / "metrics.jsonl", threading.Event()

    def run(self) -> None:
        """Until told to end."""
        rng, step = random.Random(2), 1_000_000
        while not self.ended.wait(0.2):
            step += 8
            with self.path.open("a") as file:
                file.write(json.dumps(_metric(step, rng)) + "\n")


def measure_pages(base: str, cookie: str, rounds: int) -> dict[str, tuple[float, float]]:
    """Page -> median and 95 % point of its answer, ms; one call before the clock starts."""
    found = {}
    with httpx.Client(base_url=base, headers={"cookie": cookie}, timeout=30) as client:
        for page in PAGES:
            client.get(page).raise_for_status()
            times = []
            for _ in range(rounds):
                began = time.perf_counter()
                client.get(page).raise_for_status()
                times.append(1000 * (time.perf_counter() - began))
            times.sort()
            found[page] = (statistics.median(times), times[int(0.95 * (len(times) - 1))])
    return found


def measure_loads(base: str, url: str) -> tuple[float, float] | None:
    """Seconds until the hero's page lives in a browser, cold and warm; None without a browser."""
    if not CHROMIUM.exists():
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        page = browser.new_page()
        took = []
        for address in (url, base, base):
            began = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("main#content .hero-name")
            took.append(time.perf_counter() - began)
        browser.close()
    return took[0], took[2]


async def watch(base: str, cookie: str, seconds: float, pid: int) -> tuple[float, int, list[float]]:
    """Twenty clients; % of a core of the Tavern, messages they received, MB every ten seconds.

    A client whose socket is closed comes back, as a browser does; how often is printed.
    """
    ready, ended, received = asyncio.Semaphore(0), asyncio.Event(), [0, 0]
    tasks = [
        asyncio.create_task(_client(base, cookie, ready, ended, received)) for _ in range(CLIENTS)
    ]
    for _ in range(CLIENTS):
        await asyncio.wait_for(ready.acquire(), 60)
    await asyncio.sleep(2)
    process, received[:] = psutil.Process(pid), (0, 0)
    before, began = process.cpu_times(), time.perf_counter()
    sizes = []
    while (left := seconds - (time.perf_counter() - began)) > 0:
        sizes.append(process.memory_info().rss / 1e6)
        await asyncio.sleep(min(left, SAMPLE_S))
    after, took = process.cpu_times(), time.perf_counter() - began
    ended.set()
    await asyncio.gather(*tasks)
    print(f"{received[1]} of their sockets were closed on the way")
    used = (after.user - before.user) + (after.system - before.system)
    return 100 * used / took, received[0], sizes


def slope_per_min(sizes: list[float]) -> float:
    """MB a minute, by least squares over all but the first fifth, in which caches fill."""
    kept = sizes[len(sizes) // 5 :]
    found = statistics.linear_regression([n * SAMPLE_S / 60 for n in range(len(kept))], kept)
    return found.slope


async def _client(
    base: str, cookie: str, ready: asyncio.Semaphore, ended: asyncio.Event, received: list[int]
) -> None:
    while not ended.is_set():
        try:
            await _visit(base, cookie, ready, ended, received)
        except websockets.ConnectionClosed:
            received[1] += 1


async def _visit(
    base: str, cookie: str, ready: asyncio.Semaphore, ended: asyncio.Event, received: list[int]
) -> None:
    """One page until it is left or its socket is closed; a beat makes it fetch what is live."""
    headers = {"cookie": cookie, "accept": "text/html"}
    async with httpx.AsyncClient(base_url=base, headers=headers, timeout=60) as client:
        (await client.get("/")).raise_for_status()
        url = f"{base.replace('http', 'ws')}/live"
        async with websockets.connect(url, additional_headers={"Cookie": cookie}) as socket:
            await socket.recv()
            ready.release()
            while not ended.is_set():
                try:
                    await asyncio.wait_for(socket.recv(), 0.5)
                except TimeoutError:
                    continue
                received[0] += 1
                (await client.get("/", params={"part": "battle"})).raise_for_status()


def start(name: str) -> subprocess.Popen[bytes]:
    """A service, once it answers."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"levelcap.services.{name}"], stderr=subprocess.DEVNULL
    )
    port = {"keeper": 8767, "tavern": 8888}[name] + OFFSET
    for _ in range(600):
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health", timeout=1).is_success:
                return process
        except httpx.HTTPError:
            time.sleep(0.1)
    raise SystemExit(f"{name} does not answer")


def main() -> None:
    """Fill, start, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--pages", action="store_true", help="without what oracle_speed.py measures"
    )
    parser.add_argument("--minutes", type=float, default=0.0, help="how long the clients watch")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="levelcap-pages-") as home:
        os.environ |= {"LEVELCAP_HOME": home, "LEVELCAP_PORT_OFFSET": str(OFFSET)}
        figures = run_all(given.quick, given.minutes)
    if not given.pages:
        arena = measure_in_new_realm(given.quick)
        figures |= {"fps": arena["fps"], "act_p99_ms": arena["act_p99_ms"]}
    print(json.dumps(figures))


def run_all(quick: bool, minutes: float) -> dict[str, float | None]:
    """Everything about the pages, in the realm of the environment."""
    from levelcap.services.tavern import entry

    points, began = 100_000 if quick else 1_000_000, time.perf_counter()
    run = fill(points)
    print(
        f"{CHECKPOINTS:,} checkpoints, {JOBS:,} jobs, {points:,} metric points "
        f"({time.perf_counter() - began:.0f} s)"
    )
    processes = [start("keeper"), start("tavern")]
    trainer = Trainer(run)
    trainer.start()
    try:
        base = f"http://127.0.0.1:{8888 + OFFSET}"
        answer = httpx.get(entry.entry_url(entry.make_code()))
        cookie = answer.headers["set-cookie"].split(";")[0]
        pages = measure_pages(base, cookie, 10 if quick else 40)
        for page, (median, high) in pages.items():
            print(f"{page:<12}{median:7.0f} ms median {high:7.0f} ms 95 %")
        loads = measure_loads(base, entry.entry_url(entry.make_code()))
        if loads:
            print(f"in a browser: cold {loads[0]:.2f} s, warm {loads[1]:.2f} s")
        seconds = 60 * minutes or (10 if quick else 30)
        cpu, received, sizes = asyncio.run(watch(base, cookie, seconds, processes[1].pid))
        print(f"{CLIENTS} clients watching: {cpu:.1f} % of a core, {received} messages")
        memory = psutil.Process(processes[1].pid).memory_info().rss / 1e6
        slope = slope_per_min(sizes) if minutes and len(sizes) > 10 else None
        if slope is not None:
            print(f"memory: {sizes[0]:.0f} MB to {memory:.0f} MB, {slope:+.2f} MB a minute")
    finally:
        trainer.ended.set()
        for process in reversed(processes):
            process.send_signal(signal.SIGTERM)
            process.wait(20)
    return {
        "max_page_ms": round(max(high for _, high in pages.values()), 1),
        "cpu_20_clients": round(cpu, 2),
        "rss_mb_per_min": slope and round(slope, 3),
        "cold_load_s": loads and round(loads[0], 2),
        "warm_load_s": loads and round(loads[1], 2),
        "tavern_mb": round(memory, 1),
        "load_average": os.getloadavg()[0],
    }


if __name__ == "__main__":
    main()
