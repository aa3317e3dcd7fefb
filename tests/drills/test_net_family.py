"""Drill: a new net family is one file and one name. It remembers what a flat net cannot.

The recurrent net is trained by imitation and by reinforcement, killed and continued, through the
code that trains the flat one.
"""

import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from levelcap.learn.engine.state import load_newest
from levelcap.learn.engine.stops import Stops
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.run import Request as ImitationRequest
from levelcap.learn.imitation.run import imitate
from levelcap.learn.rl.config import for_world
from levelcap.learn.rl.run import Request, reinforce
from levelcap.nets import family
from levelcap.nets.family import describe, new_net
from levelcap.nets.net import Inputs, ViewLayout
from levelcap.play.load import load_checkpoint
from levelcap.play.record.games import record
from levelcap.play.returns import play_episodes
from levelcap.world.doors.outside import spec_of
from tests.drills import gru_family
from tests.drills.cue_game import Knower

WORLD = "gym:tests.drills.cue_game:drill/Cue-v0"
ROOT = Path(__file__).parents[2]
FEW = ImitationConfig(batch_size=1024, minibatches=4, segment=32, burn_in=0)
FEW = replace(FEW, engine=replace(FEW.engine, lr=5e-3, warmup_updates=10))


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(family.FAMILIES, "gru", gru_family.FAMILY)
    monkeypatch.setattr(family, "WORLD_FAMILIES", (*family.WORLD_FAMILIES, "gru"))


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    place = tmp_path_factory.mktemp("lake") / "demos"
    record([Knower()], WORLD, 400, 0, place)
    return place


def learned(folder, shard, kind):
    request = ImitationRequest(WORLD, (shard,), folder, (), "slim", family=kind)
    return imitate(request, FEW, Stops(updates=160)).outcome.snapshot


def test_imitation_remembers_the_cue_and_a_flat_net_cannot(tmp_path, shard):
    gru = load_checkpoint(learned(tmp_path / "gru", shard, "gru"), greedy=True)
    flat = load_checkpoint(learned(tmp_path / "flat", shard, "flat"), greedy=True)
    assert play_episodes(gru, WORLD, 128, 5).mean > 0.9
    assert abs(play_episodes(flat, WORLD, 128, 5).mean) < 0.4  # chance is 0


def test_reinforcement_learns_to_remember(tmp_path, shard):
    start = learned(tmp_path / "sup", shard, "gru")
    config = replace(for_world(WORLD), lanes=64, unroll=32, minibatches=2, kl_coef=0.01)
    config = replace(config, standardise=False, engine=replace(config.engine, lr=2e-3))
    outcome = reinforce(Request(WORLD, tmp_path / "rl", start), config, Stops(updates=40))
    policy = load_checkpoint(outcome.snapshot)
    assert play_episodes(policy, WORLD, 128, 6).mean > 0.9
    assert outcome.metrics["kl"] < 0.5  # pi_sup's own memory is kept beside


SCRIPT = """
    import sys
    from pathlib import Path
    from levelcap.learn.engine.stops import Stops
    from levelcap.learn.rl.config import for_world
    from levelcap.learn.rl.run import Request, reinforce
    from levelcap.nets import family
    from tests.drills import cue_game, gru_family
    from dataclasses import replace
    family.FAMILIES["gru"] = gru_family.FAMILY
    family.WORLD_FAMILIES = (*family.WORLD_FAMILIES, "gru")
    config = replace(for_world("gym:x"), lanes=16, unroll=24, minibatches=2, kl_coef=0.0)
    config = replace(config, engine=replace(config.engine, checkpoint_s=0.001))
    request = Request("duel", Path(sys.argv[1]), size="dummy", family="gru", views=("features",))
    config = replace(config, opponents=("rookie",), self_play=0.5, standardise=False)
    reinforce(request, config, Stops(updates=int(sys.argv[2])))
"""


def run_script(place, updates):
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(place), str(updates)]
    return subprocess.Popen(command, cwd=ROOT)


def test_a_killed_run_goes_on_with_the_same_bits(tmp_path):
    assert run_script(tmp_path / "whole", 60).wait(120) == 0
    process = run_script(tmp_path / "cut", 60)
    checkpoints = tmp_path / "cut" / "checkpoints"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(list(checkpoints.glob("checkpoint-*"))) < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    assert run_script(tmp_path / "cut", 60).wait(120) == 0
    whole, cut = (load_newest(tmp_path / name / "checkpoints")[0] for name in ("whole", "cut"))
    for name, array in whole.arrays.items():
        if name.startswith(("net/", "ema/", "task/")):
            np.testing.assert_array_equal(array, cut.arrays[name], err_msg=name)
    assert any(name.startswith("task/batch/state0") for name in whole.arrays)


def test_one_long_unroll_is_many_short_ones():
    spec = spec_of(WORLD)
    meta = describe("gru", spec, "dummy")
    net, layout = new_net(meta, 0), ViewLayout.of(spec, meta.views)
    inputs, reset = torch.randn(12, 5, layout.size), torch.rand(12, 5) < 0.2
    whole = net.unroll(Inputs(inputs, layout), net.initial_state(5), reset)
    state, values = net.initial_state(5), []
    for t in range(12):
        one = net.unroll(Inputs(inputs[t : t + 1], layout), state, reset[t : t + 1])
        state = one.state
        values.append(one.values[0])
    torch.testing.assert_close(whole.values, torch.stack(values))
    torch.testing.assert_close(whole.state["hidden"], state["hidden"])
