"""P13: days of work by 200 workers while the wall clock jumps by ten years, in simulated time."""

import datetime as real
import heapq
import itertools
import random
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from levelcap.jobs import history, rows
from levelcap.jobs.job import Stale
from levelcap.jobs.schema import migrate
from levelcap.jobs.store import Store
from levelcap.kit import db, sqlite
from levelcap.kit.clock import Clock
from levelcap.kit.errors import UnknownName
from tests.trust import roles

pytestmark = [pytest.mark.trust, pytest.mark.timeout(600)]

DAYS = 5
WORKERS = 200
LEASE_S = 3600.0  # stretched with the heartbeat, so that days fit into two minutes
BEAT_S = 1200.0
JUMP_S = 10 * 366 * 86_400.0
TYPES = {
    "add": replace(roles.make_type("add", tries=50, max_pending=100_000), timeout_s=30 * 86_400.0)
}


class World:
    """Simulated time: seconds since boot, a boot id, and a wall clock that cannot be trusted."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.booted = 0.0
        self.boots = 1
        self.shift_s = 0.0

    def since_boot(self) -> float:
        return self.seconds - self.booted

    def wall(self) -> float:
        return 1.8e9 + self.seconds + self.shift_s

    def boot_clock(self) -> Clock:
        return Clock(f"boot-{self.boots}", self.since_boot)

    def wall_clock(self) -> Clock:
        """What leases must not use."""
        return Clock("wall", self.wall)


def use_wall(monkeypatch, world):
    """Every wall time of the queue comes from the simulated wall clock."""

    class Simulated(real.datetime):
        @classmethod
        def now(cls, tz=None):
            return real.datetime.fromtimestamp(world.wall(), tz)

    monkeypatch.setattr(rows, "datetime", Simulated)
    monkeypatch.setattr(history, "datetime", Simulated)


class Simulation:
    """Workers that claim, renew, finish, fall silent and come back, and a server that reboots."""

    def __init__(self, engine, world, make_clock, workers, seed=0):
        self.engine, self.world, self.make_clock = engine, world, make_clock
        self.workers = workers
        self.chance = random.Random(seed)
        self.agenda: list = []
        self.order = itertools.count()
        self.store = self.open()
        self.robbed = 0  # jobs taken from a worker that renewed in time
        self.submitted = 0
        self.claims = 0
        self.jumps = 0

    def open(self):
        effects = {"add": roles.write_effect}
        return Store(self.engine, TYPES, self.make_clock(), effects, lease_s=LEASE_S)

    def at(self, seconds, call, *arguments):
        heapq.heappush(self.agenda, (seconds, next(self.order), call, arguments))

    def run(self, end_s):
        while self.agenda and self.agenda[0][0] <= end_s:
            self.world.seconds, _, call, arguments = heapq.heappop(self.agenda)
            call(*arguments)

    def submit(self):
        for _ in range(self.chance.randrange(self.workers // 5, 2 * self.workers // 5)):
            self.store.submit("add", {"n": self.submitted}, idempotency_key=f"n{self.submitted}")
            self.submitted += 1

    def jump(self):
        self.jumps += 1
        self.world.shift_s = self.chance.choice([-JUMP_S, 0.0, JUMP_S])
        self.store.purge(30, keep=0, limit=50_000)  # what is open must survive any date

    def reboot(self):
        self.world.boots += 1
        self.world.booted = self.world.seconds
        self.store = self.open()

    def ask(self, worker):
        now = self.world.seconds
        try:
            job = self.store.claim(worker)
        except UnknownName:  # purged after a long silence; a worker then registers again
            self.store.register(worker, "local_gpu_1", ["trainer"])
            job = self.store.claim(worker)
        if job is None:
            self.at(now + self.chance.uniform(1200, 3600), self.ask, worker)
            return
        self.claims += 1
        if self.chance.random() < 0.05:  # falls silent; comes back much later under its name
            self.at(now + self.chance.uniform(2, 6) * LEASE_S, self.wake, worker, job)
        else:
            end = now + self.chance.uniform(0.5, 12) * BEAT_S
            self.at(min(now + BEAT_S, end), self.beat, worker, job, end, self.world.boots)

    def wake(self, worker, job):
        with suppress(Stale, UnknownName):  # taken by another, who has finished it
            self.store.complete(job.id, worker, job.fence, {"n": job.payload["n"]})
        self.ask(worker)

    def beat(self, worker, job, end, boots):
        now = self.world.seconds
        try:
            if now >= end:
                self.store.complete(job.id, worker, job.fence, {"n": job.payload["n"]})
                self.ask(worker)
                return
            self.store.renew(job.id, worker, job.fence)
            self.at(min(now + BEAT_S, end), self.beat, worker, job, end, self.world.boots)
        except (Stale, UnknownName):
            self.robbed += boots == self.world.boots  # a reboot in between ends every lease
            self.ask(worker)


def hurried(driver):
    driver.execute("PRAGMA synchronous = OFF")
    return driver


def simulate(tmp_path, monkeypatch, days, workers, clock):
    world = World()
    use_wall(monkeypatch, world)
    engine = db.open_db(tmp_path / "realm.db")
    # Power cuts are no part of this: without waiting for the disk a day takes seconds.
    opened = engine._open
    monkeypatch.setattr(engine, "_open", lambda use: hurried(opened(use)))
    monkeypatch.setattr(sqlite.Driver, "sync_log", lambda driver, path: None)
    migrate(engine)
    with db.transaction(engine) as connection:
        connection.execute(roles.EFFECTS_TABLE)
    simulation = Simulation(engine, world, getattr(world, clock), workers)
    for number in range(workers):
        simulation.store.register(f"w{number}", "local_gpu_1", ["trainer"])
        simulation.at(number * 3.0, simulation.ask, f"w{number}")
    end_s = days * 86_400.0
    for hour in range(int(days * 24)):
        simulation.at(hour * 3600.0, simulation.submit)
        simulation.at(hour * 3600.0 + 1800.0, simulation.jump)
    for day in range(int(days)):
        simulation.at(day * 86_400.0 + 40_000.0, simulation.reboot)
    simulation.run(end_s)
    simulation.run(end_s + 86_400.0)  # what was submitted last gets its time
    with db.reading(engine) as connection:
        effects = connection.execute("SELECT n, count(*) FROM effects GROUP BY n").all()
        still_open = connection.execute(
            "SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')"
        ).scalar()
    engine.dispose()
    lost = simulation.submitted - len(effects)
    doubled = sum(count > 1 for _, count in effects)
    return simulation, lost + still_open, doubled


def test_days_with_a_jumping_clock_rob_lose_and_double_nothing(tmp_path, monkeypatch, figures):
    began = time.monotonic()
    simulation, lost, doubled = simulate(tmp_path, monkeypatch, DAYS, WORKERS, "boot_clock")
    took = time.monotonic() - began
    figure = (
        f"{DAYS} simulated days, {WORKERS} workers, {simulation.claims:,} claims,"
        f" {simulation.jumps} jumps of ±10 years in {took:.0f} s: {simulation.robbed} robbed,"
        f" {lost} lost, {doubled} doubled"
    )
    kept = (simulation.robbed, lost, doubled) == (0, 0, 0) and took <= 120
    figures.add("P13", figure, kept, simulated_days=DAYS, simulated_s=round(took, 1))
    assert (simulation.robbed, lost, doubled) == (0, 0, 0)
    assert took <= 120


def test_leases_on_the_wall_clock_are_seen_to_break(tmp_path, monkeypatch, figures):
    (tmp_path / "right").mkdir()
    simulation, lost, _ = simulate(tmp_path / "right", monkeypatch, 1, 50, "boot_clock")
    assert (simulation.robbed, lost) == (0, 0)
    simulation, lost, _ = simulate(tmp_path, monkeypatch, 1, 50, "wall_clock")
    figure = f"wall clock for leases: {simulation.robbed} robbed, {lost} lost seen in one day"
    caught = simulation.robbed + lost > 0
    figures.add("P13 mutation", figure, caught, mutants_caught=int(caught))
    assert simulation.robbed + lost > 0
