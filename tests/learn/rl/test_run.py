"""Reinforcement end to end: it learns, and a run that was killed ends with the same bits."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from levelcap.kit.errors import BadFile, Corrupt
from levelcap.kit.files import read_jsonl
from levelcap.learn.engine.state import checkpoints, load_newest
from levelcap.learn.engine.stops import Stops
from levelcap.learn.rl.config import for_world
from levelcap.learn.rl.run import Request, reinforce
from levelcap.nets.checkpoint import load_snapshot, save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.play.load import load_checkpoint
from levelcap.play.returns import play_episodes
from levelcap.world.doors.outside import spec_of
from levelcap.world.spec import arena_spec
from tests.services.realms import SLACK

SMALL = {"lanes": 24, "unroll": 8, "minibatches": 4, "value_warmup": 4, "past_every_steps": 400}
# The user's command, made small: overlap on, a batch waiting, past selves joining.
COMMAND = (
    "reinforce --world duel --size dummy --seed 3 --games 0 --set lanes=24 --set unroll=8 "
    "--set minibatches=4 --set value_warmup=4 --set past_every_steps=2000 "
    "--set engine.checkpoint_s=0.2"
)


def config(**more):
    found = replace(for_world("duel"), **{**SMALL, **more})
    return replace(found, engine=replace(found.engine, checkpoint_s=1e-9))


@pytest.fixture
def start(tmp_path):
    meta = describe("flat", arena_spec("duel"), "dummy")
    save_snapshot(tmp_path / "sup", weights_of(new_net(meta, 1)), meta, "test")
    return tmp_path / "sup"


def arrays(run):
    found = load_newest(run / "checkpoints")
    assert found is not None
    return found[0].arrays


CLIPPED = {"clip": 0.2, "epochs": 2, "minibatches": 2, "entropy_coef": 0.01, "entropy_final": 0.1}


@pytest.mark.parametrize("more", [{}, CLIPPED], ids=["", "clip"])
def test_a_run_in_pieces_is_the_unbroken_run_to_the_last_bit(tmp_path, start, more):
    found = config(**more)
    whole = reinforce(Request("duel", tmp_path / "whole", start), found, Stops(updates=40))
    for steps in (600, 1300, 10**9):
        stops = Stops(updates=40, steps=steps)
        cut = reinforce(Request("duel", tmp_path / "cut", start), found, stops)
    assert cut.progress.update == whole.progress.update == 40
    one, other = arrays(tmp_path / "whole"), arrays(tmp_path / "cut")
    assert any(name.startswith("task/past-") for name in one)
    assert set(one) == set(other)
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


def kill_at_random(tmp_path, start, kills, updates, seed=0):
    """Run the command with kill -9 at random moments until it ends; (kills made, weights)."""
    rng = random.Random(seed)
    made = 0
    command = [sys.executable, "-m", "levelcap", *COMMAND.split(), "--from", str(start)]
    command += ["--updates", str(updates), "--out", str(tmp_path / "killed")]
    while True:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if made < kills:
            _wait_for_progress(tmp_path / "killed", process, rng)
        if made < kills and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            made += 1
            continue
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors.decode()[-2000:]
        return made


def _wait_for_progress(run, process, rng):
    """Let it get somewhere new, then a random moment more."""
    before = (
        len(read_jsonl(run / "metrics.jsonl").records) if (run / "metrics.jsonl").exists() else 0
    )
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        path = run / "metrics.jsonl"
        if path.exists() and len(read_jsonl(path).records) > before:
            break
        time.sleep(0.02)
    time.sleep(rng.uniform(0, 0.6))


@pytest.mark.parametrize(
    "kills", [pytest.param(2, id="2"), pytest.param(20, id="20", marks=pytest.mark.slow)]
)
def test_kill_9_and_the_same_command_again_give_the_same_weights(tmp_path, start, kills):
    updates = 300 * kills
    command = [sys.executable, "-m", "levelcap", *COMMAND.split(), "--from", str(start)]
    command += ["--updates", str(updates), "--out", str(tmp_path / "whole")]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    assert kill_at_random(tmp_path, start, kills, updates) == kills
    one, other = arrays(tmp_path / "whole"), arrays(tmp_path / "killed")
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


def test_ctrl_c_stops_within_a_second_and_leaves_a_valid_checkpoint(tmp_path, start):
    command = [sys.executable, "-m", "levelcap", *COMMAND.split(), "--from", str(start)]
    command += ["--minutes", "10", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while not (tmp_path / "run" / "metrics.jsonl").exists():
        assert process.poll() is None, process.communicate()[0].decode()
        time.sleep(0.05)
    time.sleep(1.0)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    while not any(
        "stopped" in str(row) for row in read_jsonl(tmp_path / "run" / "events.jsonl").records
    ):
        assert time.monotonic() - began < SLACK
        time.sleep(0.01)
    output = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 0 and "interrupted" in output
    place = sorted((tmp_path / "run" / "snapshots").iterdir())[-1]
    assert load_snapshot(place)[1].steps > 0
    assert checkpoints(tmp_path / "run" / "checkpoints")


def test_a_nan_in_a_batch_never_reaches_a_checkpoint(tmp_path, start, monkeypatch):
    from levelcap.learn.rl import task as module

    gather = module.RlTask.gather

    def poisoned(self, version):
        batch = gather(self, version)
        if 8 <= version <= 12:
            batch.rewards[:, 2] = np.nan
        return batch

    monkeypatch.setattr(module.RlTask, "gather", poisoned)
    outcome = reinforce(Request("duel", tmp_path / "run", start), config(), Stops(updates=40))
    assert outcome.progress.skipped > 0 and outcome.progress.update >= 40
    for name, array in arrays(tmp_path / "run").items():
        if name.startswith(("net/", "ema/", "optimizer/")):
            assert np.isfinite(array).all(), name
    for place in outcome.snapshot.parent.iterdir():
        load_snapshot(place)


def test_a_damaged_checkpoint_is_passed_over_and_two_are_an_error(tmp_path, start):
    request = Request("duel", tmp_path / "run", start)
    reinforce(request, config(), Stops(updates=24))
    newest = checkpoints(tmp_path / "run" / "checkpoints")
    assert len(newest) == 2
    flip(newest[1] / "tensors.safetensors")
    assert reinforce(request, config(), Stops(updates=32)).progress.update == 32
    for place in checkpoints(tmp_path / "run" / "checkpoints"):
        flip(place / "tensors.safetensors")
    with pytest.raises(Corrupt, match="sha256"):
        reinforce(request, config(), Stops(updates=40))


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_checkpoint_of_another_world_is_refused(tmp_path):
    meta = replace(describe("flat", arena_spec("duel"), "dummy"), world_version=0)
    save_snapshot(tmp_path / "old", weights_of(new_net(meta, 1)), meta, "test")
    with pytest.raises(BadFile, match="world version"):
        reinforce(Request("duel", tmp_path / "run", tmp_path / "old"), config(), Stops(updates=4))


def test_it_learns_an_outside_game_in_seconds(tmp_path):
    world = "gym:CartPole-v1"
    untrained = describe("flat", spec_of(world))
    save_snapshot(tmp_path / "new", weights_of(new_net(untrained, 0)), untrained, "test")
    before = play_episodes(load_checkpoint(tmp_path / "new"), world, 50)
    outcome = reinforce(
        Request(world, tmp_path / "run", size="slim"), for_world(world), Stops(updates=500)
    )
    after = play_episodes(load_checkpoint(outcome.snapshot), world, 50)
    assert after.ci_low > 2 * before.ci_high
