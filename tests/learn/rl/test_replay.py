"""Replay: what is drawn, what is kept and for how long, and that stored steps count as they did."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from levelcap.kit.errors import BadValue
from levelcap.kit.files import read_jsonl
from levelcap.kit.seeds import chain
from levelcap.learn.engine.state import load_newest
from levelcap.learn.engine.stops import Stops
from levelcap.learn.rl.batch import Truncation
from levelcap.learn.rl.config import RlConfig, for_world
from levelcap.learn.rl.replay import Drawn, Replay
from levelcap.learn.rl.run import Request, build, reinforce
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.world.spec import arena_spec
from tests.learn.rl.test_actor import small_task

SMALL = {"lanes": 16, "unroll": 24, "minibatches": 2, "cousins": 0, "value_warmup": 0}
OPTIONS = {"flat": {}, "hierarchy": {"strategist": "lstm"}}


def task_of(family, **changes):
    torch.set_num_threads(1)  # as a run does: two that wait for each other are many times slower
    config = replace(for_world("duel"), **{**SMALL, "opponents": ("rookie",), **changes})
    options = tuple(f"{name}={value}" for name, value in OPTIONS[family].items())
    return build(Request("duel", None, size="dummy", family=family, options=options), config)


def learn(task, batches):
    """The loop's order: a batch is learned from while the next one is gathered. Yields updates."""
    update, batch = 0, task.gather(0)
    for _ in range(batches):
        ahead = task.gather(update)
        for minibatch in range(task.minibatches):
            task.net.zero_grad(set_to_none=True)
            yield update, task.backward(batch, minibatch, update)
            update += 1
        batch = ahead


def test_the_updates_number_alone_says_what_is_drawn():
    task = small_task()
    batches = [task.gather(index) for index in range(2)]
    replay = Replay(2, seed=5)
    for batch in batches:
        replay.keep(batch)
    # Two batches of two minibatches: a fourth of the draws each.
    for update in (0, 7, 123_456):
        place = chain(5, update) % 4
        found, minibatch = replay.draw(update)
        assert found is batches[place // 2] and minibatch == place % 2
    counts = np.zeros((2, 2))
    for update in range(400):
        found, minibatch = replay.draw(update)
        counts[0 if found is batches[0] else 1, minibatch] += 1
    assert counts.min() > 70


def test_age_and_reuse_are_counted():
    replay = Replay(1, seed=0)
    replay.keep(small_task().gather(0))
    assert replay.report(100) == {}
    replay.drawn += [Drawn(4, 30, 1.0), Drawn(10, 20, 0.5)]
    found = replay.report(100)
    size = found.pop("replay_mb")
    assert (found["replay_age"], found["replay_age_max"]) == (7.0, 10.0)
    assert (found["replay_rho"], found["replay_reuse"]) == (0.75, 0.5)
    assert size == pytest.approx(replay.batches[0].nbytes / 1e6) and size > 0.1


def test_a_bounded_number_of_batches_is_kept_and_stays_as_it_was():
    task = small_task(replay=2, replay_updates=3, value_warmup=0)
    assert task.minibatches == 2  # nothing to replay yet
    inputs, ages, seen = {}, [], []
    for update, metrics in learn(task, 5):
        for batch in task.replay.batches:
            kept = inputs.setdefault((id(batch), batch.version), batch.inputs.copy())
            np.testing.assert_array_equal(batch.inputs, kept)  # while the actor fills others
        ages.append((update, metrics["lag"]))
        seen.append([batch.version for batch in task.replay.batches])
    # Updates a batch: 2, then 2 + 3. Batch k is played with the weights after batch k - 2.
    assert len(ages) == 2 + 4 * 5
    assert [versions for before, versions in pairwise([[], *seen]) if before != versions] == [
        *([0], [0, 0], [0, 2], [2, 7], [7, 12]),
    ]
    # The last batch: its own two updates, then three of one of the two before.
    assert [lag for _, lag in ages[-5:-3]] == [17 - 12, 18 - 12]
    drawn = [
        (one.age, update) for one, (update, _) in zip(task.replay.drawn, ages[-3:], strict=True)
    ]
    assert all(update - age in (2, 7) for age, update in drawn) and len(drawn) == 3
    shown = task.summary()
    assert shown["replay_age_max"] == max(age for age, _ in drawn)
    # All lanes take part in a duel: three of two minibatches on top of the own two.
    assert shown["reuse"] == pytest.approx(1 + 3 / 2)


@pytest.mark.parametrize(
    ("family", "more"),
    [
        ("flat", {}),
        ("flat", {"teacher": "rookie"}),
        ("hierarchy", {}),
        ("hierarchy", {"clip": 0.2}),
    ],
)
def test_with_the_same_weights_a_step_counts_as_it_did_the_first_time(family, more):
    """Stored log-probabilities, state and anchors: on-policy numbers, to the last bit."""
    task = task_of(family, replay=1, replay_updates=3, burn_in=0, **more)
    seen = []
    for _, metrics in learn(task, 2):
        grads = [p.grad.clone() for p in task.net.parameters() if p.grad is not None]
        seen.append(({name: metrics[name] for name in metrics if name != "lag"}, grads))
    assert len(seen) == 2 + 2 + 3
    for update in (4, 5, 6):  # what is kept is the first batch
        (logged, grads), (then, before) = seen[update], seen[chain(task.replay.seed, update) % 2]
        assert logged == then and logged["rho"] == pytest.approx(1.0, abs=1e-4)
        for one, other in zip(grads, before, strict=True):
            assert torch.equal(one, other)


def test_burn_in_warms_the_memory_up_with_the_weights_as_they_are():
    task = task_of("hierarchy", replay=1, burn_in=16)
    task.gather(0)
    batch = task.gather(0)
    batch.truncations += [Truncation(1, t, 3, batch.inputs[1, t, 3], {}) for t in (15, 20)]
    batch.truncations.append(Truncation(0, 20, 3, batch.inputs[0, 20, 3], {}))
    with torch.no_grad():
        late, place = task.learner.burn_in(batch, 1)
        found = task.learner.log_prob(late, place, task.learner.unroll(late, place))
    assert late.rewards.shape == (1, 8, batch.rewards.shape[2]) and late.inputs.shape[1] == 9
    assert [(cut.minibatch, cut.t, cut.lane) for cut in late.truncations] == [(0, 4, 3)]
    # Nothing has changed: what acted and what learns agree after the burn-in.
    np.testing.assert_allclose(found, batch.log_probs[1, 16:].reshape(-1), atol=2e-5)
    with torch.no_grad():
        for parameter in task.net.parameters():
            parameter += 0.05 * torch.randn(parameter.shape)
        whole = task.learner.unroll(batch, 1)
        late, place = task.learner.burn_in(batch, 1)
        part = task.learner.unroll(late, place)
    torch.testing.assert_close(part.logits, whole.logits[16:])
    torch.testing.assert_close(part.values, whole.values[16:])


def run(place, start, family, updates, steps=10**9, **changes):
    config = replace(for_world("duel"), **{**SMALL, "opponents": ("rookie",), **changes})
    config = replace(config, engine=replace(config.engine, checkpoint_s=0.001))
    stops = Stops(updates=updates, steps=steps)
    reinforce(Request("duel", place, start, "dummy", family=family), config, stops)
    return load_newest(place / "checkpoints")[0]


@pytest.fixture(params=["flat", "hierarchy"])
def start(request, tmp_path):
    """A family, and a snapshot of it to start from: with it comes pi_sup and the KL."""
    meta = describe(request.param, arena_spec("duel"), "dummy", options=OPTIONS[request.param])
    save_snapshot(tmp_path / "sup", weights_of(new_net(meta, 3)), meta, "test")
    return request.param, tmp_path / "sup"


def test_an_interrupted_run_goes_on_with_the_same_bits(start, tmp_path):
    family, snapshot = start
    replayed = {"replay": 3, "replay_updates": 2, "kl_coef": 0.1, "clip": 0.2}
    whole = run(tmp_path / "whole", snapshot, family, 26, **replayed)
    for steps in (100, 500, 1500):  # after the first batch, the second, the fourth
        run(tmp_path / "cut", snapshot, family, 26, steps, **replayed)
    cut = run(tmp_path / "cut", snapshot, family, 26, **replayed)
    assert "task/replay2/log_probs" in whole.arrays and "task/replay3/mask" not in whole.arrays
    assert set(whole.arrays) == set(cut.arrays)
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(array, cut.arrays[name], err_msg=name)
    rows = [dict(row) for row in read_jsonl(tmp_path / "whole" / "metrics.jsonl").records]
    assert "replay_age" not in rows[0] and rows[-1]["replay_age_max"] > rows[-1]["lag_min"]
    # Two more of two minibatches; of 24 decisions 16 only warm a memory up.
    assert rows[-1]["reuse"] == pytest.approx(1 + (1 if family == "flat" else 1 / 3))


def test_keeping_batches_changes_no_bit_until_one_is_learned_from(start, tmp_path):
    family, snapshot = start
    off = run(tmp_path / "off", snapshot, family, 8)
    kept = run(tmp_path / "kept", snapshot, family, 8, replay=2, replay_updates=0)
    on = run(tmp_path / "on", snapshot, family, 8, replay=2)
    names = [name for name in off.arrays if name.startswith(("net/", "ema/", "optimizer/"))]
    for name in names:
        np.testing.assert_array_equal(off.arrays[name], kept.arrays[name], err_msg=name)
    assert any(not np.array_equal(off.arrays[name], on.arrays[name]) for name in names)
    assert not any(name.startswith("task/replay") for name in off.arrays)


def test_what_leaves_nothing_to_learn_is_refused():
    with pytest.raises(BadValue, match="burn_in leaves nothing to learn; got 24"):
        task_of("hierarchy", replay=1, burn_in=24)
    task_of("flat", replay=1, burn_in=24)  # it has no memory to warm up
    with pytest.raises(BadValue, match="replay"):
        RlConfig(replay=-1)
