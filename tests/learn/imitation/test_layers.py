"""Cloning of a hierarchy: labels worked by hand, every layer learns, the minute before counts."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from levelcap.coach.rules import label_shard
from levelcap.kit.errors import BadValue, Conflict
from levelcap.lake.shard import Shard
from levelcap.learn.engine.stops import Stops
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.layers import LayeredCloner, _ahead, _mode_report, balanced, evened
from levelcap.learn.imitation.run import Request, _open, imitate
from levelcap.nets.family import describe, new_net
from levelcap.nets.hierarchy.shape import VIEWS
from levelcap.nets.net import ViewLayout
from levelcap.play.record.games import record
from levelcap.world.spec import INTENTS, arena_spec

SPEC = arena_spec("duel")
FEW = ImitationConfig(batch_size=400, minibatches=2, history=20, gamma=0.99)


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    place = tmp_path_factory.mktemp("lake") / "demos"
    record(["master", "veteran"], "duel", 24, 0, place, keep=["master"], views=VIEWS)
    return place


def _cloner(shard, **options):
    meta = describe("hierarchy", SPEC, "dummy", options={"strategist": "lstm", **options})
    cloner = LayeredCloner(new_net(meta, 1), meta, ViewLayout.of(SPEC, meta.views), FEW)
    shards = _open(Request("duel", (shard,), shard))
    return cloner, cloner.prepare(next(cloner.stream(shards, 0, 0)))


def test_the_next_second_is_a_mean_of_what_is_left_of_it():
    rows = np.arange(12, dtype=np.float32).reshape(12, 1, 1)
    found = _ahead(rows)[:, 0, 0]
    assert found[0] == np.mean(range(10)) and found[1] == np.mean(range(1, 11))
    assert found[10] == 10.5 and found[11] == 11.0


def test_accuracy_of_modes_is_balanced_over_those_that_occur():
    modes = np.zeros((5, 5))
    modes[0, 0], modes[0, 1] = 90, 10
    modes[2, 2], modes[2, 0] = 1, 3
    report = _mode_report(modes)
    assert report["mode_FIGHT"] == 0.9 and report["mode_FLEE"] == 0.25
    assert report["mode_balanced"] == pytest.approx((0.9 + 0.25) / 2)
    assert report["mode_majority"] == pytest.approx(100 / 104)
    assert "mode_LOOT" not in report


def test_stretches_begin_where_the_strategist_looks(shard):
    cloner, stretch = _cloner(shard)
    assert stretch.burn_in % 10 == 0 and (len(stretch.inputs) - stretch.burn_in) % 10 == 0
    assert stretch.history.shape[0] == 20
    assert set(stretch.intents.unique().tolist()) <= {-1, *range(len(INTENTS))}
    assert (stretch.targets_at >= 0).any()
    assert cloner.steps(stretch) > 0


def test_a_critic_of_the_team_is_not_trained_where_nobody_recorded_the_team(shard):
    cloner, stretch = _cloner(shard, critic="team")
    logged = cloner.backward(stretch)
    assert "value_loss" not in logged and np.isfinite(list(logged.values())).all()
    assert all(p.grad is None for p in cloner.net.critic.parameters())
    assert float(cloner.net.executor.head[0].weight.grad.abs().sum()) > 0


def test_every_layer_gets_a_gradient_and_so_does_the_minute_before(shard):
    cloner, stretch = _cloner(shard)
    stretch.history.requires_grad_(True)
    logged = cloner.backward(stretch)
    for name in ("mode_loss", "target_loss", "loss", "value_loss", "mode_accuracy"):
        assert np.isfinite(logged[name]), name
    for layer in ("strategist", "tactician", "executor", "mode_goal", "goal_head", "confidence"):
        grads = [p.grad for p in getattr(cloner.net, layer).parameters() if p.grad is not None]
        assert sum(float(g.abs().sum()) for g in grads) > 0, layer
    assert float(stretch.history.grad.abs().sum()) > 0
    # Only what happened in the same match: rows before it began count for nothing.
    assert torch.equal(
        stretch.history.grad[~stretch.history_valid],
        torch.zeros_like(stretch.history.grad[~stretch.history_valid]),
    )


def test_a_run_reports_its_layers(shard, tmp_path):
    request = Request(
        "duel",
        (shard,),
        tmp_path / "run",
        ("master",),
        "dummy",
        family="hierarchy",
        options=("strategist=lstm", "mouse=on"),
    )
    config = ImitationConfig(batch_size=400, minibatches=2, history=20, validation=0.2)
    done = imitate(request, config, Stops(updates=24))
    assert done.outcome.progress.update == 24
    modes = ("mode_balanced", "mode_majority", "target_accuracy", "aim_error", "confidence")
    for name in (*modes, "click_accuracy", "hotkey_accuracy", "cursor_point_error", "mouse_lost"):
        assert 0 <= done.validation[name] <= 1.5


def test_a_coachs_labels_are_what_the_strategist_learns(shard, tmp_path):
    label_shard(Shard(shard), tmp_path / "labels")
    common = {"family": "hierarchy", "options": ("strategist=lstm",)}
    request = Request("duel", (shard,), tmp_path / "run", ("master",), "dummy", **common)
    taught = replace(request, labels=(tmp_path / "labels",))
    done = imitate(taught, replace(FEW, validation=0.2), Stops(updates=4))
    assert "mode_balanced" in done.validation
    with pytest.raises(Conflict, match="labels"):
        imitate(request, replace(FEW, validation=0.2), Stops(updates=6))
    flat = Request("duel", (shard,), tmp_path / "flat", labels=(tmp_path / "labels",))
    with pytest.raises(BadValue, match=r"lack views|learns from no labels"):
        imitate(flat, FEW, Stops(updates=1))


def test_evenness_weighs_an_intent_by_how_seldom_it_is():
    intents = torch.tensor([3] * 8 + [2] * 2)
    assert evened(intents, 0.0).tolist() == [1.0] * 5
    assert evened(intents, 1.0)[[2, 3]].tolist() == [5.0, 1.25]
    root = evened(intents, 0.5)
    assert float(root[2] / root[3]) == pytest.approx(2.0)
    # Who learned with all of it is taken at its word: EXPLORE. Else FLEE, .4, is above its share.
    logits = np.log(np.tile([0.0, 0.0, 0.4, 0.6, 0.0], (10, 1)) + 1e-9)
    logits[:8, 3] = 5.0
    assert balanced(intents.numpy(), logits, 0.0, 1.0) == 0.5
    assert balanced(intents.numpy(), logits, 0.0, 0.0) == 1.0


def test_the_even_accuracy_weighs_every_intent_alike_and_takes_smoothing_away():
    # Eight looks of EXPLORE and two of FLEE; the net's probabilities, smoothed by .1 over 5 modes.
    intents = np.array([3] * 8 + [2] * 2)
    p = np.zeros((10, 5))
    p[:8, 3], p[:8, 2] = 0.9, 0.1  # sure of EXPLORE
    p[8:, 3], p[8:, 2] = 0.6, 0.4  # EXPLORE is likelier, but twice as much for FLEE as its share
    logits = np.log(0.9 * p + 0.02)
    assert balanced(intents, logits, 0.1) == 1.0
    assert (logits.argmax(1) == intents).mean() == 0.8  # as it decides, FLEE is never said
    # Evidence for FLEE that stays below its share, .2: half of the intents are recognised.
    p[8:, 3], p[8:, 2] = 0.9, 0.1
    assert balanced(intents, np.log(0.9 * p + 0.02), 0.1) == 0.5
