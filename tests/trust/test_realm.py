"""The whole realm, started as a person starts it: every process is killed in turn, then all."""

import json
import os
import signal
import subprocess
import sys

import psutil
import pytest

from levelcap.campaign.realm import open_realm
from levelcap.kit.db import reading
from levelcap.kit.paths import folder
from levelcap.services.process.ports import SERVICES
from levelcap.services.process.standing import read_leader, read_standings
from tests.browser.inn import free_offset
from tests.services.realms import ROOT, processes_of, until
from tests.trust.test_trainers import tiny_hero, violations

pytestmark = [pytest.mark.trust, pytest.mark.timeout(900)]
NAMES = [row.name for row in SERVICES]


def up():
    """`levelcap up` in a process of its own, ready."""
    words = folder("state") / "up.err"
    with words.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "levelcap", "up"],
            cwd=ROOT,
            env={**os.environ},
            stdout=subprocess.DEVNULL,
            stderr=file,
            start_new_session=True,
        )
    until(lambda: process.poll() is not None or all_up(), 180, "all services are up")
    assert process.poll() is None, words.read_text()
    return process


def all_up():
    leader = read_leader()
    rows = read_standings() if leader else {}
    return all(name in rows and rows[name].state == "up" for name in NAMES)


def facts():
    """Updates of all runs (from their metrics), checkpoints, finished quests."""
    updates = 0
    for file in folder("runs").glob("*/metrics.jsonl"):
        for line in file.read_bytes().splitlines():
            updates = max(updates, json.loads(line)["updates"] if line.endswith(b"}") else 0)
    realm = open_realm()
    with reading(realm.engine) as connection:
        rows = connection.execute("SELECT count(*) FROM ledger").scalar_one()
        done = connection.execute("SELECT count(*) FROM quests WHERE status = 'done'").scalar_one()
        bad = connection.execute(
            "SELECT count(*) FROM jobs WHERE status IN ('dead', 'failed')"
        ).scalar_one()
        tried = connection.execute(
            "SELECT count(*) FROM jobs WHERE attempts > 0 AND status = 'queued'"
            " OR attempts > 1 AND status = 'running'"
        ).scalar_one()
    realm.close()
    return {"updates": updates, "rows": rows, "done": done, "bad": bad, "tried": tried}


def goes_on(before, what):
    """New work is done, and what the kill broke off has ended too.

    An evaluation has two tries: one that is hit twice is a poisonous job's case (P3), not lost.
    """
    until(lambda: facts()["done"] > before["done"] and facts()["rows"] >= before["rows"], 180, what)
    until(lambda: not facts()["tried"], 180, f"{what}: what was broken off is carried out")


def test_every_process_in_turn_then_all_at_once(home, monkeypatch, figures):
    monkeypatch.setenv("LEVELCAP_PORT_OFFSET", str(free_offset()))
    tiny_hero()
    kills = 0
    try:
        process = up()
        until(lambda: facts()["done"] >= 3, 300, "the wheel turns")
        for name in NAMES:
            before, pid = facts(), read_standings()[name].pid
            os.kill(pid, signal.SIGKILL)
            kills += 1
            until(
                lambda n=name, p=pid: read_standings()[n].pid != p and all_up(),
                150,
                f"{name} is started again",
            )
            goes_on(before, f"work goes on after {name} was killed")
        before = facts()
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        until(lambda: not processes_of(home), 15, "nothing outlives the Weaver")
        process = up()
        goes_on(before, "work goes on after the Weaver was killed")
        before = facts()
        for victim in processes_of(home):
            victim.kill()
            kills += 1
        process.wait()
        process = up()
        goes_on(before, "work goes on after everything was killed")
        after = facts()
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
        until(lambda: not processes_of(home), 10, "nothing is left after Ctrl-C")
    finally:
        for left in processes_of(home):
            left.kill()
        psutil.wait_procs(processes_of(home), 5)
    bad, rows = violations()
    lost = before["rows"] - rows if rows < before["rows"] else 0
    kept = not bad and not lost
    figures.add(
        "P1-P4",
        f"{kills} kills of whole services, {rows} checkpoints, "
        f"{after['done']} quests: {len(bad)} bad, {after['bad']} dead",
        kept,
        service_kills=kills,
    )
    assert not bad and not lost and after["bad"] == 0, (bad[:5], after)
