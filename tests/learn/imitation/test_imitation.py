"""Imitation: the loss of the plain functions, accuracy that rises, resume, and refusals."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from levelcap.kit.errors import BadValue, Conflict
from levelcap.learn.engine.state import load_newest
from levelcap.learn.engine.stops import Stops
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.rows import RowCloner, Rows
from levelcap.learn.imitation.run import Request, imitate
from levelcap.learn.maths import heads, losses
from levelcap.nets.family import describe, new_net
from levelcap.nets.net import ViewLayout
from levelcap.play.record.games import record
from levelcap.world.spec import arena_spec

META = describe("flat", arena_spec("duel"), "dummy")
LAYOUT = ViewLayout.of(arena_spec("duel"), META.views)
FEW = ImitationConfig(batch_size=256, minibatches=4, validation=0.2)


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    place = tmp_path_factory.mktemp("lake") / "demos"
    record(["veteran", "rookie"], "duel", 40, 0, place)
    return place


def some_rows(count=64):
    rng = np.random.default_rng(0)
    bins = sum(META.head_sizes)
    mask = (rng.random((count, bins)) < 0.8).astype(np.uint8)
    actions, first = np.zeros((count, len(META.head_sizes)), np.int16), 0
    for head, size in enumerate(META.head_sizes):
        actions[:, head] = rng.integers(0, size, count)
        mask[np.arange(count), first + actions[:, head]] = 1
        first += size
    return Rows(
        inputs=rng.normal(size=(count, META.input_size)).astype(np.float32),
        mask=mask,
        actions=actions,
        targets=rng.normal(size=count).astype(np.float32),
        alive=rng.random(count) < 0.8,
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_gradients_are_those_of_the_plain_loss(smoothing):
    net, rows = new_net(META, 0), some_rows()
    config = ImitationConfig(smoothing=smoothing, value_coef=0.5)
    RowCloner(net, META, LAYOUT, config).backward(rows)
    fused = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    logits, values = net(torch.tensor(rows.inputs))
    mask, actions = torch.tensor(rows.mask), torch.tensor(rows.actions)
    parts = heads.split_log_softmax(logits, mask, META.head_sizes)
    used = heads.used_heads(actions, META.aim_heads, META.aim_users)
    masks = list(mask.split(list(META.head_sizes), -1))
    alive = torch.tensor(rows.alive).float()
    loss = losses.smoothed_cross_entropy(parts, masks, actions, used, alive, smoothing)
    everywhere = torch.ones(len(rows.targets))
    loss = loss + 0.5 * losses.value_loss(values, torch.tensor(rows.targets), everywhere)
    loss.backward()
    for mine, parameter in zip(fused, net.parameters(), strict=True):
        torch.testing.assert_close(mine, parameter.grad, rtol=1e-3, atol=1e-6)


def test_it_imitates_better_than_chance_and_tells_each_head(tmp_path, shard):
    request = Request("duel", (shard,), tmp_path / "run", ("veteran",), "slim")
    done = imitate(request, FEW, Stops(updates=200))
    assert set(done.validation) == {"loss"} | {f"accuracy_{name}" for name in META.head_names}
    assert done.validation["accuracy_fire"] > 0.8
    assert done.validation["accuracy_move_x"] > 3 / 11
    assert done.outcome.snapshot.is_dir()


def test_a_run_in_pieces_is_the_unbroken_run(tmp_path, shard):
    whole = imitate(Request("duel", (shard,), tmp_path / "a", (), "dummy"), FEW, Stops(updates=40))
    request = Request("duel", (shard,), tmp_path / "b", (), "dummy")
    for steps in (3_000, 7_000, 10**9):
        cut = imitate(request, FEW, Stops(updates=40, steps=steps))
    assert whole.outcome.progress.update == cut.outcome.progress.update == 40
    one, other = (load_newest(tmp_path / name / "checkpoints") for name in "ab")
    assert one is not None and other is not None
    for name, array in one[0].arrays.items():
        np.testing.assert_array_equal(array, other[0].arrays[name], err_msg=name)


def test_the_value_learns_the_outcome(tmp_path, shard):
    config = replace(FEW, value_coef=1.0)
    request = Request("duel", (shard,), tmp_path / "run", ("rookie",), "slim")
    done = imitate(request, config, Stops(updates=150))
    assert done.outcome.metrics["value_loss"] < 0.2  # rookie loses: V near -1 beats V = 0


def test_shards_of_another_world_or_player_or_view_are_refused(tmp_path, shard):
    for request, problem in (
        (Request("lms", (shard,), tmp_path / "x"), "lms"),
        (Request("duel", (shard,), tmp_path / "x", ("master",)), "master"),
    ):
        with pytest.raises((BadValue, Conflict, ValueError), match=problem):
            imitate(request, FEW, Stops(updates=4))
    record(["idle", "rookie"], "duel", 4, 0, tmp_path / "thin", views=["features"])
    with pytest.raises(BadValue, match="objects"):
        imitate(Request("duel", (tmp_path / "thin",), tmp_path / "x"), FEW, Stops(updates=4))
    assert not (tmp_path / "x" / "config.json").exists()


def test_a_run_on_other_data_is_another_run(tmp_path, shard):
    imitate(Request("duel", (shard,), tmp_path / "run", (), "dummy"), FEW, Stops(updates=4))
    record(["idle", "rookie"], "duel", 20, 1, tmp_path / "other")
    with pytest.raises(Conflict, match="shards"):
        other = Request("duel", (tmp_path / "other",), tmp_path / "run", (), "dummy")
        imitate(other, FEW, Stops(updates=8))


def test_sealed_opponents_cannot_be_learned_from(tmp_path):
    record(["rookie~1000001", "rookie"], "duel", 20, 0, tmp_path / "demos")
    request = Request("duel", (tmp_path / "demos",), tmp_path / "run", (), "dummy")
    with pytest.raises(BadValue, match="sealed"):
        imitate(request, FEW, Stops(updates=4))
    imitate(replace(request, policies=("rookie",)), FEW, Stops(updates=4))
