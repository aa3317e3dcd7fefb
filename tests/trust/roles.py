"""The processes of the harness: a worker, a submitter, a reaper. All of them get killed.

Each runs the queue's own code; only what the jobs do is made up. Two bytes per process in a shared
file, the board, tell whoever kills that a write transaction is open, and that the process has come
as far as its work. What a process says on standard error goes into a file beside the database.
"""

import mmap
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from levelcap.jobs.job import Job, JobType, Refused, Stale
from levelcap.jobs.store import Store
from levelcap.jobs.worker import Context, Worker
from levelcap.kit import db, log, sqlite
from levelcap.kit.db import Connection, Database
from levelcap.kit.errors import DatabaseFault, StateError
from tests.trust import mutants

BOARD_BYTES = 256
BEAT_S = 4.0  # of the workers under load: more often than real ones, to have enough to count
BEGUN = 128  # offset of the bytes that say "has begun"
EFFECTS_TABLE = "CREATE TABLE effects (job_id TEXT NOT NULL, n INTEGER NOT NULL)"


class Number(BaseModel):
    """The payload of every job here."""

    model_config = ConfigDict(extra="forbid", strict=True)

    n: int


def make_type(name: str, tries: int, max_pending: int) -> JobType:
    """A type that any worker of the harness runs."""
    return JobType(name, Number, 120.0, tries, max_pending, 1000, "reject", ("trainer",))


TYPES = {
    "add": make_type("add", tries=1000, max_pending=100),
    "poison": make_type("poison", tries=3, max_pending=1000),
    "flood": make_type("flood", tries=3, max_pending=10_000),
    "puddle": make_type("puddle", tries=3, max_pending=5),
}


@dataclass(frozen=True)
class Setup:
    """What a process is told when it starts."""

    database: str
    board: str
    slot: int
    name: str
    lease_s: float
    work_s: tuple[float, float]
    acks: str = ""
    errors: str = ""
    refused: str = ""
    mutant: str = ""
    type: str = "add"
    """what `flood` submits"""
    number: int = 0
    """how often"""


def write_effect(connection: Connection, job: Job, result: dict[str, Any]) -> None:
    """What completing a job does: one row, and nothing keeps it from being written twice."""
    row = {"id": job.id, "n": result["n"]}
    connection.execute("INSERT INTO effects VALUES (:id, :n)", row)


def open_store(setup: Setup) -> Store:
    """Opens the queue as this process will use it."""
    log.configure(level="error", console=False)
    os.dup2(os.open(setup.errors, os.O_CREAT | os.O_APPEND | os.O_WRONLY), 2)
    engine = db.open_db(Path(setup.database))
    watch(engine, setup)
    make = mutants.STORES[setup.mutant]
    effects = {"add": write_effect}
    return make(
        engine, TYPES, effects=effects, lease_s=setup.lease_s, back_off=lambda attempts: 0.02
    )


def watch(engine: Database, setup: Setup) -> None:
    """Marks on the board when a write transaction begins and when it is over."""

    take_lock, lend, board = sqlite.Driver.take_lock, engine.lend, open_board(setup.board)

    def begin(driver: sqlite.Driver, path: Path) -> None:
        take_lock(driver, path)
        board[setup.slot] = 1

    @contextmanager
    def lent(use: db.Use) -> Iterator[sqlite.Driver]:
        try:
            with lend(use) as driver:
                yield driver
        finally:
            if use is not db.Use.READ:
                board[setup.slot] = 0

    sqlite.Driver.take_lock = begin  # type: ignore[method-assign]
    engine.lend = lent  # type: ignore[method-assign]


def open_board(path: str) -> mmap.mmap:
    """The bytes that all processes share."""
    file = os.open(path, os.O_RDWR)
    try:
        return mmap.mmap(file, BOARD_BYTES)
    finally:
        os.close(file)


def work(setup: Setup) -> None:
    """A worker that runs until it is killed or told to stop."""
    handlers = {"add": _adder(setup), "poison": _die}
    store = open_store(setup)
    store.complete = _noting_refusals(store.complete, setup)  # type: ignore[method-assign]
    worker = Worker(
        store,
        setup.name,
        "local_gpu_1",
        ["trainer"],
        handlers,
        idle_s=0.01,
        heartbeat_s=setup.lease_s / 4,
    )
    worker.run()


def _noting_refusals(complete: Callable[..., Job], setup: Setup) -> Callable[..., Job]:
    def complete_or_note(*arguments: Any) -> Job:
        try:
            return complete(*arguments)
        except Stale:
            append(setup.refused, setup.name)
            raise

    return complete_or_note


def _adder(setup: Setup) -> Callable[..., dict[str, Any]]:
    chance, board = random.Random(setup.name), open_board(setup.board)

    def add(job: Job, context: Context) -> dict[str, Any]:
        board[setup.slot + BEGUN] = 1
        time.sleep(chance.uniform(*setup.work_s))
        return {"n": job.payload["n"]}

    return add


def _die(job: Job, context: Context) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def submit(setup: Setup) -> None:
    """A client that submits number after number and notes which were accepted.

    Killed and started again, it goes on after the last number it noted: one that was stored but
    not noted is submitted again under the same key.
    """
    store, board = open_store(setup), open_board(setup.board)
    acks = os.open(setup.acks, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    number = len(read_acks(setup.acks))
    while True:
        board[setup.slot + BEGUN] = 1
        note = f"{number}\n".encode()
        if setup.mutant == "noted_first":
            os.write(acks, note)
        try:
            store.submit("add", {"n": number}, idempotency_key=f"n{number}")
        except Refused:
            time.sleep(0.01)
            continue
        if setup.mutant != "noted_first":
            os.write(acks, note)
        number += 1


def read_acks(acks: str) -> set[int]:
    """The numbers whose submission was accepted."""
    path = Path(acks)
    return {int(line) for line in path.read_text().split()} if path.exists() else set()


def reap(setup: Setup) -> None:
    """A process that ends leases, as a server does now and then."""
    store, board = open_store(setup), open_board(setup.board)
    while True:
        board[setup.slot + BEGUN] = 1
        store.reap()
        time.sleep(0.02)


def flood(setup: Setup) -> None:
    """A client that submits as fast as it can and notes how many were accepted and refused.

    It also notes the most jobs of its type it ever saw waiting.
    """
    store = open_store(setup)
    accepted = refused = peak = 0
    for number in range(setup.number):
        try:
            store.submit(setup.type, {"n": number})
            accepted += 1
        except Refused as error:
            refused += 1
            peak = max(peak, error.pending)
    append(setup.acks, f"{accepted} {refused} {peak}")


def toil(setup: Setup) -> None:
    """A real worker that notes how long each answer took: asks every half second when idle."""
    store, chance = open_store(setup), random.Random(setup.name)
    notes: list[str] = []
    for kind in ("claim", "heartbeat", "renew", "complete"):
        setattr(store, kind, _noting_time(notes, kind, getattr(store, kind)))

    def handle(job: Job, context: Context) -> dict[str, Any]:
        time.sleep(chance.uniform(*setup.work_s))
        return dict(job.payload)

    end = time.monotonic() + setup.number
    time.sleep(chance.uniform(0, BEAT_S))  # workers do not start in step
    names = (setup.name, "local_gpu_1", ["trainer"])
    worker = Worker(store, *names, {"add": handle}, idle_s=0.5, heartbeat_s=BEAT_S)
    worker.run(until=lambda: time.monotonic() > end)
    append(setup.acks, "\n".join(notes))


def _noting_time(notes: list[str], kind: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        began, answer = time.monotonic(), "error"
        try:
            found = call(*arguments, **named)
            answer = "empty" if found is None else "got"
            return found
        except Stale:  # the worker's own thread renews a job that was reported meanwhile
            raise
        except (StateError, DatabaseFault) as error:
            notes.append(f"error {type(error).__name__}: {error}".splitlines()[0])
            raise
        finally:
            notes.append(f"{kind} {time.monotonic() - began} {began} {answer}")

    return timed


def feed(setup: Setup) -> None:
    """A client that submits forty jobs a second, or fewer when the queue is full."""
    store, number, notes = open_store(setup), 0, []
    submit_timed = _noting_time(notes, "submit", store.submit)
    end = time.monotonic() + setup.number
    while time.monotonic() < end:
        if store.stats()["types"]["add"].get("queued", 0) < TYPES["add"].max_pending:
            submit_timed("add", {"n": number})
            number += 1
        time.sleep(0.025)
    append(setup.acks, "\n".join(notes))


def look(setup: Setup) -> None:
    """What an open page asks, again and again."""
    store, notes = open_store(setup), []
    asks = [_noting_time(notes, "look", ask) for ask in (store.stats, store.list, store.workers)]
    end = time.monotonic() + setup.number
    while time.monotonic() < end:
        for ask in asks:
            ask()
        time.sleep(0.2)
    append(setup.acks, "\n".join(notes))


def append(path: str, words: str) -> None:
    """Adds whole lines to a file that several processes write."""
    file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.write(file, f"{words}\n".encode())
    os.close(file)
