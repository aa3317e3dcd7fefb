"""A teacher at the learner's elbow: what it says, what is learned of it, what is kept of it."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from levelcap.kit.errors import BadValue, UnknownName
from levelcap.learn.engine.state import load_newest
from levelcap.learn.engine.stops import Stops
from levelcap.learn.rl.batch import TOLD
from levelcap.learn.rl.config import taught_by
from levelcap.learn.rl.general import MODE_SMOOTHING, MODE_WEIGHT
from levelcap.learn.rl.match_group import MatchGroup
from levelcap.learn.rl.opponents import bot_pool
from levelcap.learn.rl.run import Request, build, reinforce
from levelcap.play.seats import Seats
from levelcap.world import make
from levelcap.world.players.bots import Bot
from levelcap.world.players.scripted import scripted

SMALL = {"lanes": 16, "unroll": 12, "minibatches": 2, "cousins": 0, "opponents": ("rookie",)}


def taught(world="duel", family="flat", teacher="master", out=None, **changes):
    config = replace(taught_by(teacher, world, family), **{**SMALL, **changes})
    options = ("strategist=lstm",) if family == "hierarchy" else ()
    return Request(world, out, size="dummy", family=family, options=options), config


@pytest.mark.parametrize("world", ["duel", "siege"])
def test_who_does_as_told_plays_the_teachers_match(world):
    """The learner's seats played by what the teacher says = the teacher in those seats."""
    learned = np.zeros((3, 2 if world == "duel" else 10), np.bool_)
    learned[:, : learned.shape[1] // 2] = True
    pool = bot_pool(["rookie"], "even", 0.1)
    group = MatchGroup(make(world, 3, seed=5, views=Bot.views), learned, pool, scripted("master"))
    group.start()
    alone = make(world, 3, seed=5, views=Bot.views)
    seats = Seats(alone, [scripted("master"), scripted("rookie")], np.where(learned, 0, 1))
    views = alone.reset()
    for _ in range(30):
        told = group.advise()
        group.actions[group.lanes] = told[:, :-TOLD]
        group.step()
        views, *_, info = alone.step(seats.act(views))
        np.testing.assert_array_equal(told[:, -1], seats.intents.reshape(-1)[group.lanes])
        assert not info["ended"].any()  # opponents are drawn anew then
    one, other = group.world.snapshot(), alone.snapshot()
    for name in one.dtype.names:  # by field: what lies between them is anything
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_the_loss_is_the_cross_entropy_of_what_was_told():
    task = build(*taught("siege", "hierarchy", lanes=20, self_play=0.0))
    task.gather(0)
    batch = task.gather(0)
    out = task.learner.unroll(batch, 0)
    alive = torch.from_numpy(batch.alive[0]).float()
    found, logged = task.learner._teaching(batch, 0, out, alive)
    told, mask = (
        batch.taught[0].reshape(-1, 7 + TOLD),
        batch.mask[0].reshape(-1, out.logits.shape[-1]),
    )
    logits = out.logits.flatten(0, 1)
    total, first = torch.zeros(len(told)), 0
    aims = (told[:, 4] != 0) | (told[:, 5] != 0)  # fire or an ability
    for head, size in enumerate(task._meta.head_sizes):
        bins = slice(first, first + size)
        allowed = torch.from_numpy(mask[:, bins]) != 0
        one = functional.cross_entropy(
            logits[:, bins].masked_fill(~allowed, -1e9),
            torch.from_numpy(told[:, head]).long(),
            reduction="none",
        )
        total = total + one * torch.from_numpy(aims if head in (2, 3) else np.ones_like(aims))
        first += size
    flat_alive = alive.flatten()
    expected = (total * flat_alive).sum() / flat_alive.sum()
    assert logged["taught_loss"] == pytest.approx(float(expected.detach()), rel=1e-5)
    found = found.detach()
    looked = (out.choice_due & (alive > 0)).flatten()
    mode = functional.cross_entropy(
        out.choice_logits.flatten(0, 1)[looked],
        torch.from_numpy(told[:, -1])[looked].long(),
        label_smoothing=MODE_SMOOTHING,
    )
    torch.testing.assert_close(found, (expected + MODE_WEIGHT * mode).detach())


def test_results_move_the_value_and_not_the_policy():
    task = build(*taught(self_play=0.5))
    batch = task.gather(0)
    grads = []
    for paid in (0.0, 100.0):
        batch.rewards[:] = paid
        task.net.zero_grad()
        task.learner.backward(batch, 0)
        grads.append((task.net.policy.weight.grad.clone(), task.net.value.weight.grad.clone()))
    assert torch.equal(grads[0][0], grads[1][0]) and float(grads[0][0].abs().sum()) > 0
    assert not torch.allclose(grads[0][1], grads[1][1])


@pytest.mark.parametrize("coef", [1.0, 0.0])
def test_it_learns_to_do_as_told(tmp_path, coef):
    request, config = taught(lanes=64, unroll=32, out=tmp_path / "run", teacher_coef=coef)
    config = replace(config, engine=replace(config.engine, lr=0.01))
    reinforce(replace(request, size="slim"), config, Stops(updates=60))
    rows = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    losses = [json.loads(row)["taught_loss"] for row in rows]
    fell = np.mean(losses[-5:]) / losses[0]
    # From even odds; what is left is the teacher's own chance. Switched off, nothing is learned.
    assert fell < 0.95 if coef else fell > 0.97


@pytest.mark.parametrize("family", ["flat", "hierarchy"])
def test_an_interrupted_lesson_goes_on_with_the_same_bits(tmp_path, family):
    def run(name, updates):
        request, config = taught(family=family, out=tmp_path / name)
        config = replace(config, engine=replace(config.engine, checkpoint_s=0.001))
        reinforce(request, config, Stops(updates=updates))
        return load_newest(tmp_path / name / "checkpoints")[0]

    whole = run("whole", 12)
    run("cut", 4)
    cut = run("cut", 12)
    assert "task/batch/taught" in whole.arrays and "task/room0/teacher" in whole.arrays
    for name, array in whole.arrays.items():
        if name.startswith(("net/", "ema/", "task/")):
            np.testing.assert_array_equal(array, cut.arrays[name], err_msg=name)


def test_a_refused_teacher_leaves_no_run_behind(tmp_path):
    request, config = taught(out=tmp_path / "run", teacher="mastr")
    with pytest.raises(UnknownName):
        reinforce(request, config, Stops(updates=1))
    # The corrected command begins in the same folder.
    reinforce(request, replace(config, teacher="master"), Stops(updates=1))


def test_nobody_sealed_teaches():
    with pytest.raises(BadValue, match="sealed"):
        build(*taught(teacher="master~1000001"))
    with pytest.raises(UnknownName, match="Did you mean 'master'"):
        build(*taught(teacher="mastr"))
