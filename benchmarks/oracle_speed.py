"""How fast does the Oracle decide while a hero trains, and how smooth is the arena?

    python benchmarks/oracle_speed.py [--quick | --show]

A net of the size `slim` is put into the vault of a temporary realm and an Oracle, a Keeper and a
Tavern are started. A trainer (reinforcement in `duel`, nice 10) runs beside all of it. Then: `/act`
for one player over one connection, again and again; a browser, when there is one, watches a siege
and plays a duel with scripted keys; twenty sockets watch one match through the Tavern while its
processor time is counted. The same for the exhibition: what Oracle and Tavern take together with
one and with twenty who look, of a duel (flat net) and of a siege (five of a hierarchy), above what
they take with nobody there. `--show` measures the exhibition alone. The load of the machine is
printed beside the figures: what other programs take is missing here.

The last line is JSON: act_p50_ms, act_p99_ms, fps, photon_p95_ms (from a key to the picture that
shows it), cpu_20_clients (% of a core), show_<world>_<clients> (% of a core), load.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import psutil
import websockets

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
OFFSET, CLIENTS = 24_000, 20


def put_net(world: str = "duel", family: str = "flat", hero: str = "kestrel") -> str:
    """A slim net as champion of a hero; returns its id."""
    from levelcap.campaign.realm import realm
    from levelcap.campaign.story import campaigns
    from levelcap.kit.db import transaction
    from levelcap.kit.paths import folder
    from levelcap.nets.checkpoint import save_snapshot, weights_of
    from levelcap.nets.family import describe, new_net
    from levelcap.trials.verdict import Override
    from levelcap.vault.champion import promote
    from levelcap.vault.ledger import Facts, save
    from levelcap.vault.zones import load_zones
    from levelcap.world.spec import arena_spec

    meta = describe(family, arena_spec(world), "slim")
    place = folder("runs") / f"bench-{hero}" / "snapshots" / "step-000000000001"
    save_snapshot(place, weights_of(new_net(meta, 0)), meta, "benchmark")
    with realm() as opened:
        with transaction(opened.engine) as connection:
            campaigns.create(connection, hero, "bench")
            facts = Facts(step=1, hero=hero, world=world)
            entry = save(connection, place, facts, load_zones()["hot"])
        promote(opened.engine, entry.id, Override("the only one", "test"))
    return entry.id


def start(name: str) -> subprocess.Popen[bytes]:
    """A service in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", f"levelcap.services.{name}"], stderr=subprocess.DEVNULL
    )


def train(seconds: float) -> subprocess.Popen[bytes]:
    """A trainer beside everything, as the realm runs it: its whole session gives way."""
    from levelcap.services.process.lifeline import give_way

    out = os.path.join(os.environ["LEVELCAP_HOME"], "beside")
    command = [
        sys.executable,
        "-m",
        "levelcap",
        "reinforce",
        "--world",
        "duel",
        "--out",
        out,
        "--minutes",
        str(max(1.0, seconds / 60)),
    ]
    return subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: give_way(10),
    )


def wait_for(url: str) -> None:
    """Until a service answers."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/health", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise SystemExit(f"no answer from {url}")


def one_row() -> dict[str, Any]:
    """What one player sees at the start of a duel."""
    from levelcap.world import make
    from levelcap.world.spec import FLAT_VIEWS

    views = make("duel", 1, views=FLAT_VIEWS).reset()
    row = {name: views[name][0, 0].ravel().tolist() for name in (*FLAT_VIEWS, "mask")}
    return row | {"key": int(views["key"][0, 0])}


def measure_act(url: str, token: str, calls: int) -> list[float]:
    """Milliseconds of each call, sorted."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = json.dumps({"checkpoint": "champion", "world": "duel", "rows": [one_row()]})
    took = []
    with httpx.Client(base_url=url, headers=headers, trust_env=False) as client:
        for number in range(calls + 50):
            began = time.perf_counter()
            answer = client.post("/act", content=body)
            if number >= 50:  # the first ones bring code into memory
                took.append(1000 * (time.perf_counter() - began))
            answer.raise_for_status()
            time.sleep(0.005)  # a player decides and waits
    return sorted(took)


def measure_page(base: str, seconds: float) -> tuple[float, float] | None:
    """Mean frames a second of a siege, and the 95 % point from a key to its picture, in ms."""
    if not CHROMIUM.exists():
        return None
    from playwright.sync_api import sync_playwright

    from levelcap.services.tavern import entry

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.goto(entry.entry_url(entry.make_code()))
        page.wait_for_timeout(1500)
        page.goto(f"{base}/arena")
        page.wait_for_selector("#arena-watch")
        page.select_option("select[name=world]", "siege")
        page.select_option("select[name=blue]", "master")
        page.click("#arena-watch")
        page.wait_for_timeout(4000)
        before = page.evaluate("[window.__arena.frames, window.__arena.lastFrameAt]")
        page.wait_for_timeout(1000 * seconds)
        after = page.evaluate("[window.__arena.frames, window.__arena.lastFrameAt]")
        fps = 1000 * (after[0] - before[0]) / (after[1] - before[1])
        photons = _play(page)
        browser.close()
    return fps, photons[int(0.95 * (len(photons) - 1))]


def _play(page: Any) -> list[float]:
    page.click(".tab:has-text('Play')")
    page.select_option("select[name=world]", "duel")
    page.click("#arena-play")
    page.wait_for_timeout(2000)
    for number in range(40):
        page.keyboard.down("wasd"[number % 4])
        page.wait_for_timeout(60)
        page.keyboard.up("wasd"[number % 4])
        page.wait_for_timeout(40)
    return sorted(page.evaluate("window.__arena.inputToPhotonMs"))


async def measure_fan_out(base: str, token: str, pid: int, seconds: float) -> tuple[float, int]:
    """Processor time of the Tavern, % of a core, while twenty watch; messages they got in all."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=base, headers=headers, trust_env=False) as client:
        said = await client.post("/arena/api/matches", json={"world": "siege", "seats": ["master"]})
        match = said.json()["id"]
    got, end = [0], asyncio.Event()

    async def watcher() -> None:
        url = f"{base.replace('http', 'ws')}/arena/ws/{match}"
        async with websockets.connect(url, additional_headers=headers, proxy=None) as socket:
            while not end.is_set():
                await socket.recv()
                got[0] += 1

    watchers = [asyncio.create_task(watcher()) for _ in range(CLIENTS)]
    await asyncio.sleep(2)
    process, first = psutil.Process(pid), got[0]
    used, began = sum(process.cpu_times()[:2]), time.monotonic()
    await asyncio.sleep(seconds)
    share = 100 * (sum(process.cpu_times()[:2]) - used) / (time.monotonic() - began)
    count = got[0] - first
    end.set()
    await asyncio.gather(*watchers, return_exceptions=True)
    return share, count


async def measure_show(base: str, token: str, pids: list[int], seconds: float) -> dict[str, float]:
    """% of a core that Oracle and Tavern take for an exhibition, above what they take at rest."""
    headers = {"Authorization": f"Bearer {token}"}

    def used() -> float:
        return sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)

    async def share() -> float:
        before, began = used(), time.monotonic()
        await asyncio.sleep(seconds)
        return 100 * (used() - before) / (time.monotonic() - began)

    async def look(hero: str) -> None:
        async with httpx.AsyncClient(base_url=base, headers=headers, trust_env=False) as client:
            while True:  # as the page does: the next match when one has ended
                said = await client.post("/arena/api/exhibition", json={"hero": hero}, timeout=60)
                url = f"{base.replace('http', 'ws')}/arena/ws/{said.json()['id']}"
                async with websockets.connect(
                    url, additional_headers=headers, proxy=None
                ) as socket:
                    async for _ in socket:
                        pass

    rest, found = await share(), {}
    for hero, name in (("kestrel", "duel"), ("merlin", "siege")):
        for clients in (1, CLIENTS):
            looking = [asyncio.create_task(look(hero)) for _ in range(clients)]
            await asyncio.sleep(4)
            found[f"show_{name}_{clients}"] = await share() - rest
            for task in looking:
                task.cancel()
            await asyncio.gather(*looking, return_exceptions=True)
    return found


def run_show(seconds: float) -> dict[str, float | None]:
    """The exhibition alone, nothing trains."""
    from levelcap.services.door.tokens import load_tokens
    from levelcap.services.process.hosts import get_service_url

    put_net()
    put_net("siege", "hierarchy", "merlin")
    names = ("keeper", "oracle", "tavern")
    processes = [start(name) for name in names]
    try:
        for name in names:
            wait_for(get_service_url(name))
        time.sleep(8)
        pids = [process.pid for process in processes[1:]]
        base = get_service_url("tavern")
        found = asyncio.run(measure_show(base, load_tokens().admin, pids, seconds))
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(20)
    for name, value in found.items():
        _, world, clients = name.split("_")
        print(f"exhibition of a {world:<6} {value:6.1f} % of a core   {clients} looking")
    return {name: round(value, 2) for name, value in found.items()}


def run_all(quick: bool) -> dict[str, float | None]:
    """Everything; prints the table, returns the figures."""
    from levelcap.services.door.tokens import load_tokens
    from levelcap.services.process.hosts import get_service_url

    put_net()
    tokens = load_tokens()
    seconds = 5.0 if quick else 20.0
    processes = [start(name) for name in ("keeper", "oracle", "tavern")]
    try:
        for name in ("keeper", "oracle", "tavern"):
            wait_for(get_service_url(name))
        processes.append(train(60 if quick else 180))
        time.sleep(8)
        took = measure_act(get_service_url("oracle"), tokens.worker, 400 if quick else 3000)
        shown = measure_page(get_service_url("tavern"), seconds)
        base, pid = get_service_url("tavern"), processes[2].pid
        cpu, count = asyncio.run(measure_fan_out(base, tokens.admin, pid, seconds))
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(20)
    middle, high = took[len(took) // 2], took[int(0.99 * (len(took) - 1))]
    fps, photons = shown if shown else (None, None)
    load = os.getloadavg()[0]
    print(f"/act, one player        p50 {middle:6.2f} ms   p99 {high:6.2f} ms   {len(took)} calls")
    if fps is not None and photons is not None:
        print(f"siege on a canvas       {fps:6.1f} frames/s")
        print(f"key to picture          p95 {photons:6.1f} ms")
    print(f"Tavern, {CLIENTS} watchers     {cpu:6.1f} % of a core   {count} messages")
    print(f"load of the machine     {load:6.1f} on {os.cpu_count()} cores")
    figures = {
        "act_p50_ms": middle,
        "act_p99_ms": high,
        "fps": fps,
        "photon_p95_ms": photons,
        "cpu_20_clients": cpu,
        "load": load,
    }
    return {k: v if v is None else round(v, 2) for k, v in figures.items()}


def measure_in_new_realm(quick: bool, show: bool = False) -> dict[str, float | None]:
    """The same in a temporary realm; show: the exhibition alone."""
    found: dict[str, float | None] = {}
    for alone in (False, True)[show:]:
        with tempfile.TemporaryDirectory() as home:
            os.environ |= {"LEVELCAP_HOME": home, "LEVELCAP_PORT_OFFSET": str(OFFSET)}
            found |= run_show(5.0 if quick else 20.0) if alone else run_all(quick)
    return found | {"load": round(os.getloadavg()[0], 2)}


def main() -> None:
    """Measures, then prints the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a minute instead of several")
    parser.add_argument("--show", action="store_true", help="the exhibition alone")
    options = parser.parse_args()
    print(json.dumps(measure_in_new_realm(options.quick, options.show)))


if __name__ == "__main__":
    main()
