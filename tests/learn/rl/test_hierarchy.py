"""Reinforcement of a hierarchy: the same learner, with a sampled mode and memory of three rates."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from levelcap.learn.engine.state import load_newest
from levelcap.learn.engine.stops import Stops
from levelcap.learn.rl.config import for_world
from levelcap.learn.rl.run import Request, build, reinforce
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.play.load import load_checkpoint
from levelcap.play.matchup import play_games
from levelcap.world.spec import arena_spec

OPTIONS = ("strategist=lstm",)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A snapshot to start from: with it comes pi_sup and the KL."""
    meta = describe("hierarchy", arena_spec("duel"), "dummy", options={"strategist": "lstm"})
    place = tmp_path_factory.mktemp("sup") / "snapshot"
    save_snapshot(place, weights_of(new_net(meta, 3)), meta, "test")
    return place


def _config(**changes):
    config = replace(for_world("duel"), lanes=16, unroll=24, minibatches=2, value_warmup=0)
    config = replace(config, opponents=("rookie",), cousins=0, self_play=0.5, **changes)
    return replace(config, engine=replace(config.engine, checkpoint_s=0.001))


def test_what_was_drawn_when_acting_has_the_same_probability_when_learning(start, tmp_path):
    request = Request("duel", tmp_path / "run", start, "dummy", family="hierarchy")
    task = build(request, _config(kl_coef=0.1))
    task.gather(0)
    batch = task.gather(0)  # the second: states and clocks are not fresh any more
    assert batch.choices is not None and len(np.unique(batch.choices)) > 1
    for minibatch in range(2):
        with torch.no_grad():
            out = task.learner.unroll(batch, minibatch)
        found = task.learner.log_prob(batch, minibatch, out).reshape(24, -1)
        np.testing.assert_allclose(found, batch.log_probs[minibatch], atol=2e-5)
        assert torch.equal(out.choices, torch.from_numpy(batch.choices[minibatch]))
        task.actor.add_reference(batch, minibatch)
    # pi_sup is the same net still: no distance, neither in the heads nor in the mode.
    metrics = task.learner.backward(batch, 0)
    assert abs(metrics["kl"]) < 1e-5
    assert metrics["rho"] == pytest.approx(1.0, abs=1e-4)
    assert float(task.net.mode_head[-1].weight.grad.abs().sum()) > 0


def test_an_interrupted_run_goes_on_with_the_same_bits(start, tmp_path):
    def run(name: str, updates: int) -> Path:
        request = Request("duel", tmp_path / name, start, "dummy", family="hierarchy")
        reinforce(request, _config(kl_coef=0.1), Stops(updates=updates))
        return tmp_path / name / "checkpoints"

    whole = load_newest(run("whole", 12))[0]
    run("cut", 4)
    run("cut", 8)
    cut = load_newest(run("cut", 12))[0]
    for name, array in whole.arrays.items():
        if name.startswith(("net/", "ema/", "task/")):
            np.testing.assert_array_equal(array, cut.arrays[name], err_msg=name)
    assert "task/batch/choices" in whole.arrays
    assert any(name.startswith("task/batch/state0/plan.") for name in whole.arrays)


def test_a_trained_hierarchy_plays_from_its_snapshot(tmp_path):
    request = Request("siege", tmp_path / "run", None, "dummy", family="hierarchy", options=OPTIONS)
    config = replace(for_world("siege"), lanes=20, unroll=12, opponents=("rookie",), cousins=0)
    outcome = reinforce(request, config, Stops(updates=2))
    policy = load_checkpoint(outcome.snapshot)
    result = play_games(policy, load_checkpoint(outcome.snapshot, greedy=True), "siege", 2, 1)
    assert result.wins + result.draws + result.losses == 2
