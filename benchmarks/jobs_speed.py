"""How fast the job queue is, beside huey and litequeue on SQLite, in the same run.

    python benchmarks/jobs_speed.py [--quick]

A submitter puts jobs in one by one; then 1, 8 and 64 processes take and finish them with no pause
(the queue is all they do). A cycle is one job taken and finished: two commits with us, with huey
and with litequeue. `take` is the time of one claim. Everybody has asked the empty queue once
before the clock starts. Peers run in `.venv-peers` (`make
bench-peers`); without it their rows are missing. Durability is that of the row: FULL means that
every commit waits for the disk, and so do all of ours. Ours counts limits, checks payloads, writes
an event per step and can give a job of a killed worker to another; huey forgets such a job,
litequeue keeps it locked.

The last row is 64 workers that ask twice a second each, as idle workers do. The last line is JSON:
`ratio` is ours by the best peer's cycles a second at FULL durability with 8 workers, `ratio_1` and
`ratio_64` with 1 and 64; `ours_claims_per_s` and `best_peer_per_s` are the two with 8 workers;
`p99_ms` is our claim with 64 workers without pause, `p99_paced_ms` with pauses.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table

from benchmarks.peers.queue_race import race
from levelcap.jobs.job import Job, JobType
from levelcap.jobs.schema import migrate
from levelcap.jobs.store import Store
from levelcap.kit.db import open_db

ROOT = Path(__file__).resolve().parents[1]
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
WORKERS = (1, 8, 64)
HEADLINE = 8
DURABILITY = {
    "levelcap": "WAL, synchronous FULL",
    "huey": "WAL, synchronous FULL",
    "litequeue-full": "WAL, synchronous FULL",
    "litequeue": "WAL, synchronous NORMAL",
}


class Number(BaseModel):
    """The payload."""

    model_config = ConfigDict(extra="forbid", strict=True)

    n: int


TYPES = {"add": JobType("add", Number, 600.0, 3, 1_000_000, 1000, "reject", ("trainer",))}


class Ours:
    """The queue of levelcap, in the form the race knows."""

    def __init__(self, path: Path, name: str) -> None:
        engine = open_db(path)
        migrate(engine)
        self.store = Store(engine, TYPES)
        self.name = name
        self.store.register(name, "local_gpu_1", ["trainer"])

    def put(self, number: int) -> None:
        self.store.submit("add", {"n": number})

    def take(self) -> Job | None:
        return self.store.claim(self.name)

    def finish(self, job: Job) -> None:
        self.store.complete(job.id, self.name, job.fence, {"n": job.payload["n"]})


def race_ours(workers: int, jobs: int, pause_s: float = 0.0) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".jobs-speed-") as folder:
        return race(Ours, Path(folder), workers, jobs, pause_s)


def race_peer(peer: str, workers: int, jobs: int) -> dict[str, Any] | None:
    """One row of a peer, or None where it cannot run."""
    command = [str(PEERS_PYTHON), "-m", "benchmarks.peers.queues", peer]
    command += ["--workers", str(workers), "--jobs", str(jobs), "--folder", str(Path.cwd())]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    if run.returncode:
        print(f"{peer} with {workers} workers: {run.stderr.strip().splitlines()[-1]}")
        return None
    return json.loads(run.stdout.splitlines()[-1])


def middle(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of every figure over the repeats."""
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


def measure(jobs: int, repeats: int) -> dict[tuple[str, int], dict[str, Any]]:
    """All rows; the repeats of one number of workers alternate between the queues."""
    there = PEERS_PYTHON.exists()
    if not there:
        print("no .venv-peers: run `make bench-peers` for the rows of the others")
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for workers in WORKERS:
        for _ in range(repeats):
            for name in DURABILITY:
                row = None
                if name == "levelcap":
                    row = race_ours(workers, jobs)
                elif there:
                    row = race_peer(name, workers, jobs)
                if row is not None:
                    found.setdefault((name, workers), []).append(row)
    return {key: middle(rows) for key, rows in found.items()}


def show(rows: dict[tuple[str, int], dict[str, Any]], paced: dict[str, Any]) -> None:
    table = Table(
        "queue",
        "synchronous",
        "workers",
        "submits/s",
        "cycles/s",
        "take p50 ms",
        "take p99 ms",
        "finish p99 ms",
        "locked errors",
    )
    for (name, workers), row in rows.items():
        table.add_row(
            name,
            DURABILITY[name].split("synchronous ")[1],
            str(workers),
            *(f"{v:,g}" for v in row.values()),
        )
    paced_row = [f"{v:,g}" for v in paced.values()]
    table.add_row("levelcap", "FULL", "64, paced", *paced_row)
    Console(width=130).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the job queue beside others.")
    parser.add_argument("--quick", action="store_true", help="fewer jobs, one repeat")
    quick = parser.parse_args().quick
    rows = measure(jobs=1000 if quick else 4000, repeats=1 if quick else 3)
    paced = race_ours(64, 64 * (10 if quick else 60), pause_s=0.5)
    show(rows, paced)
    durable = [n for n, kept in DURABILITY.items() if "FULL" in kept and n != "levelcap"]
    best = max(
        ((rows[n, HEADLINE]["cycles_per_s"], n) for n in durable if (n, HEADLINE) in rows),
        default=(None, None),
    )
    ours = rows["levelcap", HEADLINE]

    def ratio(workers: int) -> float | None:
        peers = [rows[n, workers]["cycles_per_s"] for n in durable if (n, workers) in rows]
        return round(rows["levelcap", workers]["cycles_per_s"] / max(peers), 2) if peers else None

    print(
        json.dumps(
            {
                "ratio": ratio(HEADLINE),
                "ratio_1": ratio(1),
                "ratio_64": ratio(64),
                "ours_claims_per_s": ours["cycles_per_s"],
                "ours_submits_per_s": ours["submits_per_s"],
                "best_peer_per_s": best[0],
                "best_peer": best[1],
                "p99_ms": rows["levelcap", 64]["p99_ms"],
                "p99_paced_ms": paced["p99_ms"],
                "by_workers": {f"{n} {w}": row["cycles_per_s"] for (n, w), row in rows.items()},
                "durability": DURABILITY,
                "python": sys.version.split()[0],
            }
        )
    )


if __name__ == "__main__":
    main()
