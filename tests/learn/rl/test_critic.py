"""A critic that sees the team: it learns in the learner's worlds, and nobody plays with it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from levelcap.kit.errors import BadValue
from levelcap.learn.engine.state import load_newest
from levelcap.learn.engine.stops import Stops
from levelcap.learn.rl.config import for_world
from levelcap.learn.rl.run import Request, build, reinforce
from levelcap.play.load import load_checkpoint
from levelcap.play.probe import _decides, recorded
from levelcap.play.seats import Seats
from levelcap.trials.evaluate import held_out_loss
from levelcap.world import make
from levelcap.world.spec import TEAM

OPTIONS = ("strategist=lstm", "critic=team")
SMALL = {"lanes": 20, "unroll": 20, "minibatches": 2, "opponents": ("rookie",), "cousins": 0}


def siege(place=None, **changes):
    torch.set_num_threads(1)
    request = Request("siege", place, None, "dummy", family="hierarchy", options=OPTIONS)
    return request, replace(for_world("siege", "hierarchy"), **{**SMALL, **changes})


def test_the_learner_gets_the_team_and_the_value_alone_learns_from_it():
    task = build(*siege(value_warmup=1, kl_coef=0.0))
    assert "team" not in task._meta.views and task.actor.layout.names[-1] == "team"
    batch = task.gather(0)
    for group, places in zip(task.groups, task.actor._places, strict=True):
        shown = group.views["team"].reshape(-1, len(TEAM))[group.lanes]
        last = batch.inputs[:, -1].reshape(task.actor.lanes, -1)[places, -len(TEAM) :]
        np.testing.assert_array_equal(last, shown)
    assert np.abs(batch.inputs[..., -len(TEAM) :]).sum() > 0
    metrics = task.backward(batch, 0, 0)
    assert np.isfinite(list(metrics.values())).all()
    grad = task.net.critic[0].weight.grad
    assert float(grad[:, -len(TEAM) :].abs().sum()) > 0
    assert task.net.executor.head[0].weight.grad is None  # the value warms up


def test_a_snapshot_plays_without_the_view_and_owns_up_to_knowing_no_value(tmp_path):
    outcome = reinforce(*siege(tmp_path / "run", value_warmup=0), Stops(updates=4))
    policy = load_checkpoint(outcome.snapshot)
    assert "team" not in policy.views
    world = make("siege", 2, seed=1, views=policy.views)
    seats = Seats(world, [policy], np.zeros((2, 10), np.int64))
    views = world.reset()
    for _ in range(12):
        views, *_ = world.step(seats.act(views))
    assert np.isnan(seats.values).all() and np.isfinite(seats.log_probs).all()
    # Its loss is measured where the view is to be had; and an upload of it is no broken one.
    assert np.isfinite(held_out_loss(policy.net, policy.meta))
    assert _decides(outcome.snapshot, *recorded(policy.meta))["ok"]


def test_a_trained_policy_can_be_given_a_value_that_begins_anew(tmp_path):
    request, config = siege(tmp_path / "own", value_warmup=0)
    first = reinforce(replace(request, options=OPTIONS[:1]), config, Stops(updates=2))
    after = replace(request, start=first.snapshot, family="flat", options=OPTIONS[1:])
    task, plain = build(after, config), load_checkpoint(first.snapshot).net
    assert task._meta.shape["critic"] == "team" and plain.critic_views == ()
    for name, weight in plain.state_dict().items():
        if not name.startswith("critic."):
            assert torch.equal(weight, task.net.state_dict()[name]), name
    with pytest.raises(BadValue, match="keeps its parts"):
        build(replace(after, options=OPTIONS), config)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_reward_is_the_teams_as_far_as_asked(share, monkeypatch):
    group = build(*siege(team_reward=share, self_play=1.0)).groups[0]
    played = group.world.step
    earned = np.array([5.0, 0, 0, 0, 0, 0, 0, 0, 0, -10.0], np.float32)

    def step(actions):
        views, rewards, *rest = played(actions)
        rewards[:] = earned
        return views, rewards, *rest

    monkeypatch.setattr(group.world, "step", step)
    mean = np.repeat([1.0, -2.0], 5)
    wanted = np.broadcast_to((1 - share) * earned + share * mean, group.learned.shape)
    np.testing.assert_allclose(group.step()[0], wanted)


@pytest.mark.parametrize("kept", [0.0, 0.4])
def test_pseudo_rewards_fall_over_half_of_the_run_to_what_is_to_be_left(kept, monkeypatch):
    task = build(*siege(pseudo_reward=0.2, pseudo_final=kept))
    scales = []
    for group in task.groups:
        monkeypatch.setattr(group.world, "set_pseudo_reward_scale", scales.append)
    for done in (0.0, 0.25, 0.45, 0.5, 1.0):
        task.sync(0, done)
    wanted = [0.2, 0.1, max(0.02, 0.2 * kept), 0.2 * kept, 0.2 * kept]
    np.testing.assert_allclose(scales, np.repeat(wanted, len(task.groups)))


@pytest.mark.parametrize("replay", [0, 1])
def test_an_interrupted_run_goes_on_with_the_same_bits(tmp_path, replay):
    def run(name, steps):
        request, config = siege(tmp_path / name, value_warmup=2, replay=replay)
        config = replace(config, engine=replace(config.engine, checkpoint_s=0.001))
        reinforce(request, config, Stops(updates=10, steps=steps))
        return load_newest(tmp_path / name / "checkpoints")[0]

    whole = run("whole", 10**9)
    run("cut", 600)
    cut = run("cut", 10**9)
    assert set(whole.arrays) == set(cut.arrays)
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(array, cut.arrays[name], err_msg=name)
