"""The loop on a task of four numbers: it learns, stops, pauses, resumes, and keeps NaN out."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from levelcap.kit.errors import Busy, Conflict, StateError
from levelcap.kit.files import read_jsonl
from levelcap.learn.engine.config import EngineConfig
from levelcap.learn.engine.folder import RunFolder
from levelcap.learn.engine.loop import train
from levelcap.learn.engine.state import State, checkpoints, load_newest
from levelcap.learn.engine.stops import Budget, Stops
from levelcap.learn.engine.task import Hooks
from levelcap.nets.checkpoint import load_snapshot
from levelcap.nets.family import describe, new_net
from levelcap.nets.flat import FlatNet
from levelcap.world.spec import arena_spec
from tests.services.realms import SLACK, until

META = describe("flat", arena_spec("duel"), "dummy")
CONFIG = EngineConfig(lr=0.01, warmup_updates=2, checkpoint_s=0.05, snapshot_s=0.05)


class Bowl:
    """Pulls every weight towards .5; noise comes from the batch's number alone."""

    minibatches, helper = 2, None

    def __init__(self, bad_updates=(), slow_s=0.0):
        self.net = new_net(META, 0)
        self.bad, self.slow_s, self.next = bad_updates, slow_s, 0
        self.gathered_by = set()
        self.versions = []

    def gather(self, version):
        self.gathered_by.add(threading.current_thread().name)
        self.versions.append(version)
        rng = np.random.default_rng(self.next)
        self.next += 1
        return rng.normal(size=2).astype(np.float32)

    def backward(self, batch, part, update):
        time.sleep(self.slow_s)
        loss = sum(
            ((p - 0.5 - 0.01 * float(batch[part])) ** 2).mean() for p in self.net.parameters()
        )
        if update in self.bad:
            loss = loss * float("nan")
        loss.backward()
        return {"loss": float(loss.detach())}

    def sync(self, steps, done):
        pass

    def steps(self, batch):
        return 10

    def is_warm(self, update):
        return True

    def meta(self, steps, metrics):
        return replace(META, steps=steps, metrics=metrics)

    def published(self, weights):
        return weights

    def summary(self):
        return {}

    def state(self, batch):
        return State({"batch": batch}, {"next": self.next})

    def restore(self, state):
        self.next = state.values["next"]
        return state.arrays["batch"]


def go(path, task, stops, config=CONFIG, **hooks):
    with RunFolder(path) as folder:
        folder.claim({"what": "bowl"})
        return train(task, config, stops, folder, Hooks(**hooks))


def weights(path):
    net, _, _ = load_snapshot(path)
    return torch.cat([p.detach().reshape(-1) for p in net.parameters()])


def events(path):
    file = path / "events.jsonl"
    return [row["event"] for row in read_jsonl(file).records] if file.exists() else []


def test_it_learns_and_leaves_a_checkpoint_and_a_snapshot(tmp_path):
    task = Bowl()
    outcome = go(tmp_path / "run", task, Stops(updates=300))
    assert outcome.reason == "300 updates" and outcome.progress.steps == 1500
    rows = read_jsonl(tmp_path / "run" / "metrics.jsonl").records
    assert rows[-1]["loss"] < 0.05 * rows[0]["loss"]
    assert len(checkpoints(tmp_path / "run" / "checkpoints")) <= 2
    assert (weights(outcome.snapshot) - 0.5).abs().mean() < 0.02
    # Gathering ran beside learning, always one batch ahead.
    assert any(name.startswith("gather") for name in task.gathered_by)
    assert task.versions[:4] == [0, 0, 2, 4]


def test_a_run_cut_into_pieces_is_the_unbroken_run(tmp_path):
    whole = go(tmp_path / "whole", Bowl(), Stops(updates=60))
    for updates in (10, 26, 60):
        with RunFolder(tmp_path / "cut") as folder:
            folder.claim({"what": "bowl"})
            # The length of the run is the same; only the end differs.
            cut = train(Bowl(), CONFIG, Stops(updates=60, steps=updates * 5), folder)
    assert cut.progress.update == 60
    one, other = (load_newest(tmp_path / name / "checkpoints") for name in ("whole", "cut"))
    assert one is not None and other is not None
    for name, array in one[0].arrays.items():
        np.testing.assert_array_equal(array, other[0].arrays[name], err_msg=name)
    assert torch.equal(weights(whole.snapshot), weights(cut.snapshot))


def test_a_longer_end_continues_the_run(tmp_path):
    go(tmp_path / "run", Bowl(), Stops(updates=20))
    outcome = go(tmp_path / "run", Bowl(), Stops(updates=30))
    assert outcome.progress.update == 30 and "resumed" in events(tmp_path / "run")


@pytest.mark.parametrize("bad", [(5,), (4, 5, 6)])
def test_a_nan_update_is_skipped_and_counted(tmp_path, bad):
    outcome = go(tmp_path / "run", Bowl(bad), Stops(updates=40))
    assert outcome.progress.skipped == len(bad) and outcome.progress.rolled_back == 0
    assert torch.isfinite(weights(outcome.snapshot)).all()


def test_without_the_guard_nan_would_reach_the_weights(tmp_path, monkeypatch):
    monkeypatch.setattr("levelcap.learn.engine.guard.Guard.passes", lambda *_: True)
    with pytest.raises(StateError, match="finite"):
        go(tmp_path / "run", Bowl((5,)), Stops(updates=40))
    found = load_newest(tmp_path / "run" / "checkpoints")
    assert found is None or all(
        np.isfinite(a).all() for n, a in found[0].arrays.items() if n.startswith("net/")
    )


def test_five_bad_updates_in_a_row_take_the_last_checkpoint_back(tmp_path):
    class Once(Bowl):
        def backward(self, batch, part, update):
            values = super().backward(batch, part, update)
            if update == 19:  # the trouble passes
                self.bad = ()
            return values

    config = replace(CONFIG, checkpoint_s=1e-9)
    outcome = go(tmp_path / "run", Once(tuple(range(13, 20))), Stops(updates=40), config)
    assert outcome.progress.rolled_back == 1 and "rolled back" in events(tmp_path / "run")
    assert outcome.progress.update == 40 and torch.isfinite(weights(outcome.snapshot)).all()


def test_trouble_that_stays_ends_the_run_with_a_reason(tmp_path):
    config = replace(CONFIG, checkpoint_s=1e-9)
    with pytest.raises(StateError, match="not finite"):
        go(tmp_path / "run", Bowl(tuple(range(9, 10_000))), Stops(updates=200), config)


def test_pause_and_stop_files_are_honoured(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "pause").touch()
    box = {}
    thread = threading.Thread(
        daemon=True, target=lambda: box.update(out=go(run, Bowl(slow_s=0.01), Stops(updates=10**6)))
    )
    thread.start()
    until(lambda: "paused" in events(run), 30, "it is paused")
    (run / "pause").unlink()
    until((run / "metrics.jsonl").exists, 30, "it goes on")
    began = time.monotonic()
    (run / "stop").touch()
    thread.join(30)
    assert time.monotonic() - began < SLACK
    assert box["out"].reason == "stop file" and box["out"].progress.update > 0
    assert not (run / "stop").exists()


def test_minutes_steps_and_elo_end_a_run(tmp_path):
    began = time.monotonic()
    timed = go(tmp_path / "a", Bowl(slow_s=0.005), Stops(minutes=0.5 / 60))
    assert timed.reason.endswith("minutes") and time.monotonic() - began < 2 * SLACK
    assert go(tmp_path / "b", Bowl(), Stops(steps=100)).progress.steps == 100
    judged = go(
        tmp_path / "c", Bowl(), Stops(updates=10**6, goal=1200), evaluate=lambda w, m: 1234.0
    )
    assert judged.reason == "goal reached: 1234"


def test_minutes_become_updates_once_the_speed_is_known():
    budget = Budget(Stops(minutes=1), measure_s=10)
    budget.observe(100, 0, 5.0, warm=False)
    budget.observe(110, 0, 6.0, warm=True)
    budget.observe(150, 0, 10.0, warm=True)
    assert budget.total is None
    budget.observe(210, 0, 16.0, warm=True)  # 10 updates a second, 44 s left
    assert budget.total == 650


def test_two_processes_cannot_train_in_one_run(tmp_path):
    with RunFolder(tmp_path / "run"), pytest.raises(Busy, match="another --out"):
        RunFolder(tmp_path / "run").__enter__()


def test_another_configuration_is_refused_by_name(tmp_path):
    with RunFolder(tmp_path / "run") as folder:
        assert not folder.claim({"config": {"lr": 0.1, "names": ("a", "b")}})
        assert folder.claim({"config": {"lr": 0.1, "names": ("a", "b")}})
        with pytest.raises(Conflict, match=r"config\.lr = 0\.1.*0\.2"):
            folder.claim({"config": {"lr": 0.2, "names": ("a", "b")}})


def test_every_snapshot_is_told(tmp_path):
    told = []
    outcome = go(tmp_path / "run", Bowl(), Stops(updates=50), on_publish=told.append)
    assert told[-1] == outcome.snapshot and len(set(told)) == len(told)
    assert isinstance(load_snapshot(told[-1])[0], FlatNet)
