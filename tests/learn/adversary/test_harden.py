"""Training under attack: only the learner is attacked, harder when it copes, and runs resume."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from levelcap.kit.errors import BadValue
from levelcap.learn.adversary import world as module
from levelcap.learn.adversary.harden import attack, harden
from levelcap.learn.adversary.world import CLEAN, ENOUGH, START, STEP, TOP, TRAINED, AttackedWorld
from levelcap.learn.engine.state import load_newest
from levelcap.learn.engine.stops import Stops
from levelcap.learn.maths import heads
from levelcap.learn.rl.config import for_world
from levelcap.learn.rl.run import Request, build
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.nets.net import Inputs
from levelcap.trials.robust import recovered
from levelcap.world import make
from levelcap.world.spec import arena_spec

MATCHES = 40
META = describe("flat", arena_spec("duel"), "dummy")


def attacked_world():
    """Seat 0 of every match is the learner's; `features` are spoiled, `context` is not."""
    inner = make("duel", MATCHES, seed=4, views=("features", "context"))
    learned = np.zeros((MATCHES, 2), bool)
    learned[:, 0] = True
    return AttackedWorld(inner, learned, ("features",)), inner


def moves(t):
    return np.random.default_rng(t).integers(0, 11, (MATCHES, 2, 7)) % [11, 11, 11, 11, 2, 1, 1]


def test_only_the_learners_senses_are_attacked():
    world, inner = attacked_world()
    views, spoiled = world.reset(), set()
    for t in range(20):
        truth = inner.observe()
        assert (views["features"][:, 1] == truth["features"][:, 1]).all()
        assert (views["context"] == truth["context"]).all()
        differ = (views["features"][:, 0] != truth["features"][:, 0]).any(1)
        assert not differ[world.own["attack"] == CLEAN].any()
        spoiled |= set(world.own["attack"][differ].tolist())
        views = world.step(moves(t))[0]
    assert spoiled == set(range(CLEAN)) and (world.own["attack"] == CLEAN).any()


def test_a_snapshot_goes_on_bit_by_bit():
    world, _ = attacked_world()
    world.reset()
    for t in range(150):  # matches have ended, levels counted
        shown = world.step(moves(t))[0]["features"].copy()
    saved = world.snapshot()
    ahead = [world.step(moves(t))[0]["features"].copy() for t in range(150, 170)]
    other, _ = attacked_world()
    other.reset()
    assert saved.shape == other.snapshot().shape
    assert (other.restore(saved)["features"] == shown).all()
    again = [other.step(moves(t))[0]["features"].copy() for t in range(150, 170)]
    assert (np.array(ahead) == np.array(again)).all()


@pytest.mark.parametrize(("wins", "rises"), [(True, True), (False, False)])
def test_an_attack_gets_stronger_when_it_is_coped_with(wins, rises):
    world, _ = attacked_world()
    world.reset()
    for number in (CLEAN, 0):
        world.own["attack"][:] = number
        for _ in range(ENOUGH):
            world._count(3, 0 if wins or number == CLEAN else 1)  # the learner is team 0
    wanted = START + STEP if rises else START
    assert world.levels == {"noise": wanted, "dropped": START, "late": START}
    assert world.own["played"][0] == 0  # a level is judged by matches of its own
    world.own["levels"][:] = TOP
    world._draw(np.arange(MATCHES))
    late = world.own["strength"][world.own["attack"] == TRAINED.index("late")]
    assert set(late.tolist()) == {3.0}


def test_a_hardening_run_in_pieces_is_the_unbroken_run(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ENOUGH", 2)
    meta = describe("flat", arena_spec("duel"), "dummy")
    save_snapshot(tmp_path / "hero", weights_of(new_net(meta, 1)), meta, "test")
    small = {"lanes": 24, "unroll": 8, "minibatches": 4, "value_warmup": 4}
    config = replace(for_world("duel"), **small)
    config = replace(config, engine=replace(config.engine, checkpoint_s=1e-9))
    for name, cuts in (("whole", (10**9,)), ("cut", (600, 10**9))):
        for steps in cuts:
            request = Request("duel", tmp_path / name, tmp_path / "hero")
            outcome, levels = harden(request, config, Stops(updates=32, steps=steps))
        assert outcome.progress.update == 32 and set(levels) == set(TRAINED)
    one, other = (load_newest(tmp_path / n / "checkpoints")[0].arrays for n in ("whole", "cut"))
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)
    with pytest.raises(BadValue, match="only a hero can be hardened"):
        harden(Request("duel", tmp_path / "x"), config, Stops(updates=1))


def test_pi_sup_sees_what_is_there_and_the_learner_what_it_is_shown(tmp_path):
    save_snapshot(tmp_path / "hero", weights_of(new_net(META, 1)), META, "test")
    small = {"lanes": 80, "unroll": 8, "minibatches": 4}
    request = Request("duel", tmp_path / "run", tmp_path / "hero")
    worlds = []
    task = build(
        request,
        replace(for_world("duel"), self_play=0.0, **small),
        lambda groups, meta: worlds.extend(attack(groups, meta.views)),
    )
    batch = task.gather(0)
    lanes = len(task.groups[0].lanes)
    assert batch.clear is not None and worlds[0].own["attack"].shape == (lanes,)
    assert (batch.clear != batch.inputs).any() and (batch.clear == batch.inputs).any()
    # The last look: what is there now, and what was shown of it.
    truth = worlds[0].observe()
    packed = np.concatenate([truth[n].reshape(lanes, 2, -1) for n in META.views], -1)
    order = np.arange(lanes).reshape(-1, 4).T.reshape(-1)  # lane i sits in minibatch i % 4
    clear = batch.clear[:, -1].reshape(lanes, -1)
    learned = packed.reshape(lanes * 2, -1)[task.groups[0].lanes]
    np.testing.assert_array_equal(clear, learned[order])
    # What pi_sup would do is asked of the clear view.
    mask = torch.from_numpy(batch.mask[0])
    with torch.inference_mode():
        looks = Inputs(torch.from_numpy(batch.clear[0, :-1]), task.actor.layout)
        out = task.actor.reference.unroll(looks, {}, torch.from_numpy(batch.reset[0, :-1]))
    want = torch.cat(heads.split_log_softmax(out.logits, mask, META.head_sizes), -1)
    task.actor.add_reference(batch, 0)
    allowed = batch.mask[0] > 0
    np.testing.assert_allclose(batch.reference[0][allowed], want.numpy()[allowed], atol=1e-5)


def test_what_is_won_back_is_a_share_of_what_the_attack_cost():
    def report(clean, hit, counts=True):
        return {"clean": [clean], "attacks": {"late": {"win_rate": [hit], "counts": counts}}}

    assert recovered(report(0.8, 0.4), report(0.78, 0.6))["late"] == pytest.approx(0.5)
    assert recovered(report(0.8, 0.7, False), report(0.8, 0.8))["late"] is None
