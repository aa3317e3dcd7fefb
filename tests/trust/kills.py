"""Kills and pauses processes of a running queue, then asks what became of the accepted jobs."""

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, Self

from levelcap.jobs.schema import migrate
from levelcap.kit import db
from tests.trust import roles
from tests.trust.roles import Setup

Role = Callable[[Setup], None]
# The server has imported everything and opened nothing: a new process takes milliseconds.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.trust.roles"])

# A claim whose job the same worker neither finished nor gave back.
_UNFINISHED = (
    "SELECT DISTINCT worker FROM job_events c WHERE kind = 'claimed' AND NOT EXISTS"
    " (SELECT 1 FROM job_events e WHERE e.job_id = c.job_id AND e.fence = c.fence"
    " AND e.worker = c.worker AND e.kind IN ('completed', 'failed', 'requeued', 'released'))"
)
# A completion by a claim that had been ended before.
_STALE = (
    "SELECT count(*) FROM job_events c WHERE kind = 'completed' AND (EXISTS"
    " (SELECT 1 FROM job_events e WHERE e.job_id = c.job_id AND e.fence = c.fence"
    " AND e.kind IN ('expired', 'dead', 'cancelled') AND e.seq < c.seq) OR EXISTS"
    " (SELECT 1 FROM job_events e WHERE e.job_id = c.job_id AND e.kind = 'claimed'"
    " AND e.seq < c.seq AND e.fence > (SELECT max(b.fence) FROM job_events b WHERE"
    " b.job_id = c.job_id AND b.kind = 'claimed' AND b.worker = c.worker AND b.seq < c.seq)))"
)
_EXPIRED = "SELECT DISTINCT worker FROM job_events WHERE kind = 'expired'"
_OPEN = "SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')"
_RESULTS = (
    "SELECT idempotency_key, status, (SELECT count(*) FROM effects WHERE job_id = id) AS effects"
    " FROM jobs"
)


@dataclass(frozen=True)
class Outcome:
    """What became of the accepted jobs."""

    accepted: int
    lost: int
    """accepted, but not done once everything had time to be, or done without its effect"""
    doubled: int
    """more than one effect"""
    stale: int
    """completions by a worker that had lost the job"""

    @property
    def violations(self) -> int:
        return self.lost + self.doubled + self.stale


class Crowd:
    """Processes around one queue; killed ones are replaced under a name of their own."""

    def __init__(
        self,
        folder: Path,
        crew: dict[Role, int],
        *,
        mutant: str = "",
        lease_s: float = 1.0,
        work_s: tuple[float, float] = (0.0, 0.02),
        seed: int = 0,
        **told: Any,
    ) -> None:
        """Makes the queue; `told` are further fields of what each process is told."""
        folder.mkdir(parents=True, exist_ok=True)
        board = folder / "board"
        board.write_bytes(bytes(roles.BOARD_BYTES))
        self.board = roles.open_board(str(board))
        self.acks = str(folder / "acks")
        self.errors = folder / "errors"
        self.chance = random.Random(seed)
        self.engine = db.open_db(folder / "realm.db")
        migrate(self.engine)
        with db.transaction(self.engine) as connection:
            connection.execute(roles.EFFECTS_TABLE)
        self.setup = Setup(
            database=str(folder / "realm.db"),
            board=str(board),
            slot=0,
            name="",
            lease_s=lease_s,
            work_s=work_s,
            acks=self.acks,
            errors=str(self.errors),
            refused=str(folder / "refused"),
            mutant=mutant,
            **told,
        )
        self.roles = [role for role, count in crew.items() for _ in range(count)]
        self.lives = [0] * len(self.roles)
        self.processes: list[ForkServerProcess] = []

    def __enter__(self) -> Self:
        self.processes = [self._start(slot) for slot in range(len(self.roles))]
        return self

    def __exit__(self, *_: Any) -> None:
        for slot in range(len(self.processes)):
            self.end(slot)
        self.engine.dispose()
        self.board.close()

    def name(self, slot: int) -> str:
        """The name of the process that has this slot now."""
        return f"{self.roles[slot].__name__}-{slot}-{self.lives[slot]}"

    def _start(self, slot: int) -> ForkServerProcess:
        self.lives[slot] += 1
        self.board[slot] = self.board[slot + roles.BEGUN] = 0
        setup = replace(self.setup, slot=slot, name=self.name(slot))
        process = _CONTEXT.Process(target=self.roles[slot], args=(setup,), daemon=True)
        process.start()
        return process

    def end(self, slot: int) -> None:
        """Kills a process for good."""
        self.processes[slot].kill()
        self.processes[slot].join()

    def signal(self, slot: int, number: int) -> None:
        """Sends a signal; one that has died by itself is no error."""
        with suppress(ProcessLookupError):
            os.kill(self.processes[slot].pid, number)

    def kill(self, slot: int) -> tuple[str, bool]:
        """Kills and replaces a process; returns its name and whether a commit was open."""
        name = self.name(slot)
        self.end(slot)
        in_commit = self.board[slot] == 1
        self.processes[slot] = self._start(slot)
        return name, in_commit

    def await_begun(self, slots: list[int], limit_s: float = 20.0) -> int:
        """Returns one of these processes that has come as far as its work; waits for the first."""
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            if begun := [slot for slot in slots if self.board[slot + roles.BEGUN]]:
                return self.chance.choice(begun)
            self.replace_dead()
            time.sleep(0.002)
        raise AssertionError(f"no process began to work in {limit_s} s: {self.said()[-2000:]}")

    def said(self) -> str:
        """What the processes wrote on standard error."""
        return self.errors.read_text() if self.errors.exists() else ""

    def replace_dead(self) -> int:
        """Starts anew what died by itself; returns how many."""
        dead = [slot for slot, process in enumerate(self.processes) if not process.is_alive()]
        for slot in dead:
            self.processes[slot].join()
            self.processes[slot] = self._start(slot)
        return len(dead)

    def notes(self) -> list[str]:
        """The lines that processes wrote when they had finished."""
        return Path(self.acks).read_text().splitlines()

    def slots(self, *wanted: Role) -> list[int]:
        return [slot for slot, role in enumerate(self.roles) if role in wanted]

    def unfinished(self) -> set[str]:
        """Workers, by name, that were stopped in the middle of a job (from the event log)."""
        return {row[0] for row in self._ask(_UNFINISHED)}

    def expired(self) -> set[str]:
        """Workers, by name, from which a job was taken (from the event log)."""
        return {row[0] for row in self._ask(_EXPIRED)}

    def turned_away(self) -> set[str]:
        """Workers, by name, whose report was refused as stale."""
        path = Path(self.setup.refused)
        return set(path.read_text().split()) if path.exists() else set()

    def _ask(self, query: str) -> list[Any]:
        with db.reading(self.engine) as connection:
            return connection.execute(query).all()

    def settle(self, limit_s: float) -> Outcome:
        """Stops the submitters, lets the rest finish, and counts."""
        for slot in self.slots(roles.submit):
            self.end(slot)
        deadline = time.monotonic() + limit_s
        while self._ask(_OPEN)[0][0] and time.monotonic() < deadline:
            self.replace_dead_workers()
            time.sleep(0.05)
        return self.count()

    def replace_dead_workers(self) -> None:
        for slot in self.slots(roles.work):
            if not self.processes[slot].is_alive():
                self.processes[slot].join()
                self.processes[slot] = self._start(slot)

    def count(self) -> Outcome:
        found = {row.idempotency_key: row for row in self._ask(_RESULTS)}
        accepted = [f"n{number}" for number in roles.read_acks(self.acks)]
        whole = {key for key, row in found.items() if row.status == "done" and row.effects}
        doubled = sum(row.effects > 1 for row in found.values())
        lost = sum(key not in whole for key in accepted)
        # A job that was stored but not noted as accepted must not end half done, either.
        lost += sum(
            row.status == "done" and not row.effects
            for k, row in found.items()
            if k not in set(accepted)
        )
        return Outcome(len(accepted), lost, doubled, int(self._ask(_STALE)[0][0]))


def kill_at_random(crowd: Crowd, kills: int, pause_s: tuple[float, float]) -> float:
    """Kills processes one after the other, workers most; returns the share hit at work.

    At work means: a job was running (from the event log) or a write transaction was open.
    """
    workers = crowd.slots(roles.work)
    others = crowd.slots(roles.submit, roles.reap)
    struck = []
    for _ in range(kills):
        crowd.replace_dead()
        slots = others if crowd.chance.random() < 0.15 else workers
        slot = crowd.await_begun(slots)  # else mostly starting interpreters would be killed
        time.sleep(crowd.chance.uniform(*pause_s))
        struck.append(crowd.kill(slot))
    unfinished = crowd.unfinished()
    return sum(in_commit or name in unfinished for name, in_commit in struck) / len(struck)


def pause_some(crowd: Crowd, number: int, limit_s: float) -> tuple[int, int]:
    """Pauses workers, each until its lease has ended, and lets them go on.

    Returns:
        How many had their job taken while they were paused (from the event log), at least
        `number` unless `limit_s` is over; and how many of these reported it and were refused.
    """
    workers = crowd.slots(roles.work)
    deadline = time.monotonic() + limit_s
    taken: set[str] = set()
    while len(taken) < number and time.monotonic() < deadline:
        chosen = crowd.chance.sample(workers, len(workers) // 2)
        names = {crowd.name(slot) for slot in chosen}
        for slot in chosen:
            crowd.signal(slot, signal.SIGSTOP)
        time.sleep(crowd.setup.lease_s * 1.5)
        taken |= names & crowd.expired()
        for slot in chosen:
            crowd.signal(slot, signal.SIGCONT)
        time.sleep(crowd.setup.work_s[1] * 2)
        for slot in chosen:  # a new name, so that the next pause counts by itself
            crowd.kill(slot)
    return len(taken), len(taken & crowd.turned_away())
