"""P4, P8, P16: whole trainers under kill -9, exact resume of each, and a disk that fills up."""

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from levelcap.campaign.realm import open_realm
from levelcap.campaign.story import campaigns
from levelcap.campaign.wheel import flywheel
from levelcap.kit.db import reading, transaction
from levelcap.kit.paths import folder
from levelcap.learn.engine.state import load_newest
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.play.record.games import record
from levelcap.vault.ledger import get_ledger
from levelcap.world.spec import arena_spec
from tests.campaign.wheel.test_flywheel import HERO
from tests.learn.rl.test_run import arrays, kill_at_random
from tests.services.keepers import keeper
from tests.services.realms import ROOT, until
from tests.trust import keeping

pytestmark = [pytest.mark.trust, pytest.mark.timeout(1500)]
TRAINER_KILLS = 60
RESUME_KILLS = 20


def tiny_hero():
    own = folder("config") / "heroes"
    own.mkdir(exist_ok=True)
    (own / "kestrel.yaml").write_text(HERO)


def arena():
    return subprocess.Popen(
        [sys.executable, "-m", "levelcap.services.arena"],
        cwd=ROOT,
        env={**os.environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def work_done(engine):
    """Grows when a job is taken, and while anything is trained or recorded."""
    files = [*folder("runs").glob("*/metrics.jsonl"), *folder("lake").glob("trajectories/*")]
    with reading(engine) as connection:
        taken = connection.execute("SELECT coalesce(sum(fence), 0) FROM jobs").scalar_one()
    return taken + sum(file.stat().st_size for file in files if file.exists())


def hurry(engine):
    """A job whose worker was killed waits longer every time; here nobody has that time."""
    with transaction(engine) as connection:
        connection.execute("UPDATE jobs SET ready_at = 0 WHERE status = 'queued'")


def violations():
    """Rows, folders and left-overs of every run of the realm."""
    realm = open_realm()
    try:
        keeping.restart(realm)
        found = []
        for place in folder("runs").glob("*/snapshots"):
            keeping.RUN = place.parent.name
            found += [p for p in keeping.violations(realm) if "folder without a row" not in p]
        rows = get_ledger(realm.engine).list(limit=1000)
        known = {row.id for row in rows}
        assert len(known) == len(rows)
        with reading(realm.engine) as connection:
            doubled = connection.execute(
                "SELECT path, count(*) FROM locations GROUP BY path HAVING count(*) > 1"
            ).all()
        return found + [f"two rows of one folder: {row}" for row in doubled], len(rows)
    finally:
        realm.close()


def test_the_whole_trainer_is_killed_and_nothing_is_bad(home, figures):
    tiny_hero()
    realm = open_realm()
    flywheel.begin(realm.store)
    often = {"engine.snapshot_s": "0.3", "engine.checkpoint_s": "0.3"}
    with transaction(realm.engine) as connection:
        campaign = campaigns.active(connection, "kestrel")
        campaigns.set_overrides(connection, campaign.id, {"knobs": often}, [])
    rng, found, kills, rows, at_work = random.Random(7), [], 0, 0, 0
    with keeper():
        while kills < TRAINER_KILLS:
            process = arena()
            before, deadline = work_done(realm.engine), time.monotonic() + 20
            while work_done(realm.engine) == before and time.monotonic() < deadline:
                hurry(realm.engine)
                time.sleep(0.2)  # until it does something: starting takes longer than working
            at_work += work_done(realm.engine) > before
            time.sleep(10 * rng.random() ** 2)  # often soon, now and then late enough to end a job
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            bad, count = violations()
            found += bad
            assert count >= rows, "rows are gone"
            rows = count
    realm.close()
    figure = f"{kills} kills of the whole trainer, {at_work} at work, {rows} checkpoints"
    figures.add(
        "P4",
        f"{figure}: {len(found)} bad",
        not found,
        trainer_kills=kills,
        bad_checkpoints=len(found),
    )
    assert not found, found[:5]
    assert rows > 5 and at_work > 0.8 * kills


def test_reinforcement_resumes_to_the_same_bits(tmp_path, figures):
    meta = describe("flat", arena_spec("duel"), "dummy")
    save_snapshot(tmp_path / "sup", weights_of(new_net(meta, 1)), meta, "test")
    kill_at_random(tmp_path, tmp_path / "sup", 0, 1200)
    shutil.move(tmp_path / "killed", tmp_path / "whole")
    made = kill_at_random(tmp_path, tmp_path / "sup", RESUME_KILLS, 1200)
    one, other = arrays(tmp_path / "whole"), arrays(tmp_path / "killed")
    same = set(one) == set(other) and all(np.array_equal(one[n], other[n]) for n in one)
    figures.add(
        "P8", f"reinforcement: {made} kills, every array identical", same, resume_kills=made
    )
    assert same and made >= RESUME_KILLS


def test_imitation_resumes_to_the_same_bits(tmp_path, figures):
    record(["master", "veteran"], "duel", 40, 0, tmp_path / "demos", keep=["master"])
    command = [
        sys.executable,
        "-m",
        "levelcap",
        "imitate",
        "--shards",
        str(tmp_path / "demos"),
        "--size",
        "dummy",
        "--seed",
        "3",
        "--games",
        "0",
        "--updates",
        "10000",
        "--set",
        "batch_size=64",
        "--set",
        "engine.checkpoint_s=0.2",
    ]
    rng = random.Random(8)

    def run(name: str, kills: int) -> tuple[int, dict[str, np.ndarray]]:
        made, place = 0, tmp_path / name
        while True:
            words = [*command, "--out", str(place)]
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if made < kills:
                before = _newest(place)
                until(
                    lambda p=process, b=before: p.poll() is not None or _newest(place) != b,
                    60,
                    "a checkpoint",
                )
                time.sleep(rng.random() * 0.3)
            if made < kills and process.poll() is None:
                process.kill()
                process.communicate()
                made += 1
                continue
            _, said = process.communicate()
            assert process.returncode == 0, said
            found = load_newest(place / "checkpoints")
            assert found is not None
            return made, found[0].arrays

    _, one = run("whole", 0)
    made, other = run("killed", RESUME_KILLS)
    same = set(one) == set(other) and all(np.array_equal(one[n], other[n]) for n in one)
    figures.add("P8", f"imitation: {made} kills, every array identical", same, resume_kills=made)
    assert same and made >= RESUME_KILLS // 2


def _newest(place: Path) -> str:
    there = sorted((place / "checkpoints").glob("checkpoint-*"))
    return there[-1].name if there else ""


def fill(disk):
    """To the last page, though others write between measuring the room and taking it."""
    with (disk / "more").open("wb") as file:
        while (left := shutil.disk_usage(disk).free) > 4096:
            try:
                os.posix_fallocate(file.fileno(), 0, left - 4096)
                return
            except OSError as full:
                assert full.errno == errno.ENOSPC


def test_a_full_disk_pauses_and_goes_on_by_itself(tmp_path, monkeypatch, figures):
    """A small disk of its own (a tmpfs; needs root), filled and emptied while a hero trains."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1700m", "none", str(disk)], check=True)
    monkeypatch.setenv("LEVELCAP_HOME", str(disk / "home"))
    process = None
    try:
        tiny_hero()
        with keeper() as (client, _):
            process = arena()

            def heard(kind, words):
                events = client.call("GET", "/api/battle_log", kind=kind)["events"]
                return [e for e in events if words in e["message"]]

            until(lambda: get_rows(client) >= 1, 60, "a checkpoint")
            filler = disk / "filler"
            with filler.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, 1_000_000_000)
            until(lambda: heard("training.paused", "disk is full"), 30, "training is held")
            fill(disk)
            time.sleep(6)
            assert process.poll() is None
            filler.unlink()
            (disk / "more").unlink()
            until(lambda: heard("training.resumed", "goes on"), 40, "training goes on")
            rows = get_rows(client)
            until(lambda: get_rows(client) > rows, 60, "another checkpoint")
            process.terminate()
            process.wait(60)  # an evaluation that has begun is finished first
        bad, count = violations()
    finally:
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()
        subprocess.run(["umount", "-l", str(disk)], check=True)
    figures.add(
        "P16", f"disk filled and emptied: paused, resumed, {count} rows, {len(bad)} bad", not bad
    )
    assert not bad, bad


def get_rows(client):
    return len(client.call("GET", "/api/ledger", limit=1000)["checkpoints"])
