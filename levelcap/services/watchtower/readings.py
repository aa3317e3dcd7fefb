"""What the Watchtower reads: the database through snapshots, files, and nothing it could change."""

import math
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from levelcap.campaign.wheel.control import halt_of, running_folders, wish
from levelcap.campaign.wheel.schedule import used_bytes
from levelcap.jobs.history import count_all, newest_claim
from levelcap.jobs.roster import show_all
from levelcap.kit.clock import Clock, system_clock
from levelcap.kit.config import load_settings
from levelcap.kit.db import Connection, Database, reading
from levelcap.kit.errors import LevelcapError
from levelcap.kit.files import parse_json
from levelcap.kit.paths import get_base_dir
from levelcap.services.process.processes import is_alive
from levelcap.services.process.standing import Standing, read_leader, read_standings
from levelcap.services.watchtower.alarms import SPIKE_ROWS
from levelcap.vault.lookup import newest_elo

TAIL_BYTES = 256 << 10
DISK_EVERY_S = 60.0
LOSSES = ("loss", "value_loss")  # the first one a row has


@dataclass(frozen=True)
class Service:
    """One service, as the Weaver says and the system shows."""

    name: str
    state: str
    up: bool
    restarts: int
    reason: str
    memory_bytes: int  # of its process and everything below it


@dataclass(frozen=True)
class Training:
    """The newest rows of one run's metrics.jsonl."""

    run: str
    losses: Sequence[float] = ()
    bad_rows: int = 0
    clean_rows: int = 0
    steps_per_s: float = 0.0
    steps: float = 0.0
    updates: float = 0.0


@dataclass(frozen=True)
class Jobs:
    """The queue."""

    types: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    queued: int = 0
    oldest_queued_s: float = 0.0
    idle_workers: int = 0
    live_workers: int = 0
    claims: int = 0  # number of the newest claim; it changes when somebody claims
    may_train: bool = True
    halt: str | None = None  # why scheduled work stands still, and the way out
    elo: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Disk:
    """Bytes."""

    used: int
    free: int
    cap: int


@dataclass(frozen=True)
class Reading:
    """One look at the realm; `jobs` is None when the database could not be read."""

    now_s: float  # monotonic
    leader: bool
    services: Mapping[str, Service]
    jobs: Jobs | None
    training: Sequence[Training]
    disk: Disk


class Reader:
    """Takes readings; keeps the slow ones for a while."""

    def __init__(self, engine: Database | None, clock: Clock | None = None) -> None:
        self.engine, self.clock = engine, clock or system_clock()
        self._disk: tuple[float, Disk] | None = None

    def read(self) -> Reading:
        """Looks at everything once."""
        jobs, folders = self._database()
        services = {row.name: read_service(row) for row in read_standings().values()}
        training = [read_training(place) for place in folders]
        now_s = time.monotonic()
        leader = read_leader() is not None
        return Reading(now_s, leader, services, jobs, training, self._read_disk(now_s))

    def _database(self) -> tuple[Jobs | None, list[Path]]:
        if self.engine is None:
            return None, []
        try:
            with reading(self.engine) as connection:
                return read_jobs(connection, self.clock), running_folders(connection)
        except LevelcapError:
            return None, []

    def _read_disk(self, now_s: float) -> Disk:
        if self._disk is None or now_s - self._disk[0] >= DISK_EVERY_S:
            base = get_base_dir()
            cap = int(load_settings().disk_cap_gb * 1e9)
            self._disk = now_s, Disk(used_bytes(base), shutil.disk_usage(base).free, cap)
        return self._disk[1]


def read_service(row: Standing) -> Service:
    """A service of the Weaver's list and the memory of its processes."""
    alive = row.pid is not None and is_alive(row.pid, row.birth or "")
    memory = memory_bytes(row.pid) if alive and row.pid else 0
    up = alive and row.state == "up"
    return Service(row.name, row.state, up, row.restarts, row.reason, memory)


def memory_bytes(pid: int) -> int:
    """Resident memory of a process and its descendants; 0 when it is gone."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.Error:
        return 0
    total = 0
    for member in family:
        try:
            total += member.memory_info().rss
        except psutil.Error:
            continue
    return total


def read_jobs(connection: Connection, clock: Clock) -> Jobs:
    """The queue, its workers, and the newest Elo of every hero."""
    counts = count_all(connection, (), clock)
    workers = [worker for worker in show_all(connection, clock) if worker["alive"]]
    halt = halt_of(connection)
    return Jobs(
        types=counts["types"],
        queued=counts["status"]["queued"],
        oldest_queued_s=counts["oldest_queued_s"] or 0.0,
        idle_workers=sum(not worker["jobs"] for worker in workers),
        live_workers=len(workers),
        claims=newest_claim(connection),
        may_train=wish(connection).may_train,
        halt=None if halt is None else f"{halt.reason}. {halt.remedy}",
        elo=newest_elo(connection),
    )


def read_training(place: Path) -> Training:
    """The newest rows of a run; a run without rows yet has none."""
    rows = tail(place / "metrics.jsonl")[-SPIKE_ROWS:]
    bad = [number for number, row in enumerate(rows) if row.get("non_finite")]
    last = rows[-1] if rows else {}
    # The lessons of a new level are harder: its losses are compared with each other only.
    same = [row for row in rows if row.get("level") == last.get("level")]
    losses = [loss for row in same if (loss := _loss(row)) is not None]
    return Training(
        run=place.name,
        losses=losses,
        bad_rows=len(bad),
        clean_rows=len(rows) - 1 - bad[-1] if bad else len(rows),
        **{name: float(last.get(name) or 0.0) for name in ("steps_per_s", "steps", "updates")},
    )


def _loss(row: dict[str, Any]) -> float | None:
    for name in LOSSES:
        value = row.get(name)
        if isinstance(value, int | float) and math.isfinite(value):
            return float(value)
    return None


def tail(path: Path, limit: int = TAIL_BYTES) -> list[dict[str, Any]]:
    """The whole rows in the last part of a JSONL file; what cannot be read is left out."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - limit))
            lines = file.read().split(b"\n")
    except OSError:
        return []
    found = []
    # The first may be cut by the limit and the last is torn or empty; both fail to parse.
    for line in lines:
        try:
            row = parse_json(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            found.append(row)
    return found
