"""How fast games go into the lake and come out as training batches, and how much memory it takes.

    python benchmarks/lake_speed.py [--quick]

A step is one decision of one player. *record* plays veteran against veteran in `duel` into a
shard, from the first tick to the published folder; *write* stores the same steps without playing
them; *read* is steps a second in shuffled batches of 4,096 with views, masks and actions, from
opened shards (opening compares every byte and is shown apart). Each is repeated and the best
repeat counts; the median stands beside it. Memory: the most that a fresh process held while it
wrote and read a small and a large shard of the same games; growth is the difference. The last
line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from levelcap.lake.header import Header
from levelcap.lake.read import Shards, open_shards
from levelcap.lake.records import Episodes, Steps, join_episodes, join_steps
from levelcap.lake.write import ShardWriter, write_shard
from levelcap.play.record.games import _play, record
from levelcap.play.record.plan import make_plan

BATCH_SIZE = 4096
WINDOW_MB = 64  # for the memory figures: small enough that the small shard fills it too
FULL = ("features", "player", "context", "objects")
TARGETS = {"write_steps_per_s": 200_000, "read_steps_per_s": 1_000_000}
POLICIES, WORLD = ["veteran"], "duel"


def played(games: int, views: tuple[str, ...]) -> tuple[Header, Steps, Episodes]:
    """Steps of real games, in memory."""
    plan = make_plan(
        POLICIES,
        WORLD,
        games,
        1,
        names=None,
        keep=None,
        views=views,
        patch="1.0",
        champions=None,
        lazy=False,
    )
    gather, facts = _play(plan, 0, games)
    steps, episodes = zip(*gather.blocks(facts), strict=True)
    return plan.header, join_steps(steps), join_episodes(episodes)


def write_many(folder: Path, header: Header, steps: Steps, episodes: Episodes, want: int) -> int:
    """Write the same games again and again, each time with other match seeds."""

    def fill(writer: ShardWriter) -> None:
        for number in range(-(-want // len(steps))):
            shift = np.uint64(number * 1_000_003)
            writer.add(steps, replace(episodes, match_seed=episodes.match_seed + shift))

    return write_shard(folder, header, fill).num_steps


def timed_record(folder: Path, games: int, views: tuple[str, ...], lazy: bool) -> float:
    """Steps a second of a whole recording."""
    shutil.rmtree(folder, ignore_errors=True)
    summary = record(POLICIES, WORLD, games, 0, folder, views=views, lazy=lazy)
    return summary.steps_per_s


def timed_write(folder: Path, made: tuple[Header, Steps, Episodes], want: int) -> float:
    """Steps a second of writing alone, publishing included."""
    shutil.rmtree(folder, ignore_errors=True)
    began = time.perf_counter()
    steps = write_many(folder, *made, want)
    return steps / (time.perf_counter() - began)


def timed_read(shards: Shards, views: tuple[str, ...], want: int, window_mb: float = 256) -> float:
    """Steps a second in batches, from the first byte decoded."""
    began, done = time.perf_counter(), 0
    batches = shards.batches(BATCH_SIZE, seed=0, window_mb=window_mb)
    for batch in batches:
        batch.inputs(views)
        done += len(batch)
        if done >= want:
            break
    seconds = time.perf_counter() - began
    batches.close()
    return done / seconds


def peak_rss(kind: str, folder: Path, want: int) -> float:
    """Most memory in MB of a fresh process that writes or reads `want` steps."""
    run = subprocess.run(
        [sys.executable, __file__, "--memory", kind, str(folder), str(want)],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout.splitlines()[-1])


def memory_child(kind: str, folder: Path, want: int) -> None:
    """What `peak_rss` starts: prints the most memory it held, looking every 10 ms."""
    process, done, most = psutil.Process(), threading.Event(), [0]

    def look() -> None:
        while not done.wait(0.01):
            most[0] = max(most[0], process.memory_info().rss)

    header, steps, episodes = played(256, ("features",))
    watcher = threading.Thread(target=look)
    watcher.start()
    if kind == "write":
        write_many(folder, header, steps, episodes, want)
    else:
        timed_read(open_shards([folder]), ("features",), want, window_mb=WINDOW_MB)
    done.set()
    watcher.join()
    print(most[0] / 2**20)


class Sheet:
    """The table: a row a measurement, best and median of its repeats."""

    def __init__(self) -> None:
        self.best: dict[str, float] = {}
        self.table = Table(title="steps a second, two threads", title_justify="left")
        for name in ("what", "best", "median", "bytes a step"):
            self.table.add_column(name, justify="left" if name == "what" else "right")

    def add(
        self, key: str, what: str, measure: Callable[[], float], repeats: int, size: float = 0.0
    ) -> None:
        """Measure `repeats` times and note the best."""
        values = [measure() for _ in range(repeats)]
        self.best[key] = max(values)
        median = f"{statistics.median(values):,.0f}"
        shown = f"{size:.1f}" if size else ""
        self.table.add_row(what, f"{max(values):,.0f}", median, shown)


def bytes_a_step(folder: Path, shards: Shards) -> float:
    """Bytes on disk per step."""
    return sum(path.stat().st_size for path in folder.iterdir()) / shards.num_steps


def measure_speed(sheet: Sheet, place: Path, quick: bool) -> dict[str, float]:
    """All rows of the table; returns sizes and the time to open."""
    repeats = 3 if quick else 5
    extra: dict[str, float] = {}
    for name, views, games, want in (
        ("", ("features",), 2048 if quick else 8192, 600_000 if quick else 3_000_000),
        ("full_", FULL, 512 if quick else 1024, 150_000 if quick else 400_000),
    ):
        label = "all views" if name else "features"
        stored, lazy, plain = (place / f"{name}{k}" for k in ("stored", "lazy", "plain"))
        record(POLICIES, WORLD, 64, 0, place / f"{name}warm", views=views)  # compiled and paged in

        def add(
            key: str,
            what: str,
            measure: Callable[[], float],
            size: float = 0.0,
            name: str = name,
            label: str = label,
        ) -> None:
            sheet.add(f"{name}{key}_steps_per_s", f"{what}, {label}", measure, repeats, size)

        add("write", "record", partial(timed_record, stored, games, views, False))
        made = played(256 if name else 1024, views)
        add("write_only", "write", partial(timed_write, plain, made, want))
        began = time.perf_counter()
        shards = open_shards([plain])
        extra[f"{name}open_steps_per_s"] = shards.num_steps / (time.perf_counter() - began)
        size = extra[f"{name}bytes_per_step"] = bytes_a_step(plain, shards)
        add("read", "read", partial(timed_read, shards, views, want), size)
        add("lazy_write", "record lazily", partial(timed_record, lazy, games, views, True))
        shards = open_shards([lazy])
        size = extra[f"{name}lazy_bytes_per_step"] = bytes_a_step(lazy, shards)
        reading = partial(timed_read, shards, views, shards.num_steps)
        add("lazy_read", "read lazily", reading, size)
    return extra


def measure_memory(place: Path, quick: bool) -> dict[str, float]:
    """Peaks of writing and reading a small and a large shard."""
    small, large = (500_000, 2_000_000) if quick else (1_000_000, 20_000_000)
    peaks: dict[str, float] = {}
    for kind in ("write", "read"):
        for size, steps in (("small", small), ("large", large)):
            # Three epochs of the small shard, so that its windows too come and go.
            want = steps if kind == "write" or size == "large" else 3 * steps
            peaks[f"{kind}_{size}_rss_mb"] = peak_rss(kind, place / f"rss-{size}", want)
    growth = [peaks[f"{k}_large_rss_mb"] - peaks[f"{k}_small_rss_mb"] for k in ("write", "read")]
    return {
        **peaks,
        "rss_small_steps": small,
        "rss_large_steps": large,
        "rss_growth_mb": max(growth),
    }


def main() -> None:
    """Measure, print the table, end with one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer games, about a minute")
    parser.add_argument("--memory", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.memory:
        kind, folder, want = given.memory
        memory_child(kind, Path(folder), int(want))
        return
    console = Console(highlight=False)
    sheet = Sheet()
    with tempfile.TemporaryDirectory(prefix="lake-speed-") as place:
        extra = measure_speed(sheet, Path(place), given.quick)
        memory = measure_memory(Path(place), given.quick)
    console.print(sheet.table)
    for kind in ("write", "read"):
        low, high = (memory[f"{kind}_{size}_rss_mb"] for size in ("small", "large"))
        console.print(
            f"memory to {kind}: {low:.0f} MB for {memory['rss_small_steps']:,} steps, "
            f"{high:.0f} MB for {memory['rss_large_steps']:,}"
        )
    for key, target in TARGETS.items():
        reached = "reached" if sheet.best[key] >= target else "missed"
        console.print(f"target {key} {target:,}: {reached} ({sheet.best[key]:,.0f})")
    found = {**sheet.best, **extra, **memory}
    console.print(json.dumps({k: round(v, 1) for k, v in found.items()}), soft_wrap=True)


if __name__ == "__main__":
    main()
