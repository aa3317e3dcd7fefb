"""A tiny hero goes the whole path: smaller, measured beside the original, continued after kills."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from levelcap.export.compress.class_room import ClassRoom, observations
from levelcap.export.compress.distil import DistilConfig, divergence
from levelcap.export.compress.figures import Figures
from levelcap.export.compress.path import Compression, Effort
from levelcap.export.compress.reshape import reshape, reshaped_meta
from levelcap.export.compress.search import chosen_of, front, shapes_around
from levelcap.export.policy import load_bundle
from levelcap.kit.errors import BadValue
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.nets.checkpoint import load_snapshot, save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.play.load import NetPolicy
from levelcap.trials.gate import check_decision
from levelcap.trials.verdict import verdict_from_json
from levelcap.world.spec import arena_spec

TINY = Effort(
    minutes=0.05,
    test_minutes=0.002,
    candidates=3,
    games=2,
    unit=2,
    matches=2,
    attack_games=2,
    lessons=DistilConfig(seats=16, decisions=2, minibatches=1),
)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A flat net of 16 x 16 that has opinions."""
    meta = describe("flat", arena_spec("duel"), "slim")
    meta = reshaped_meta(meta, (16, 16), "0" * 64)
    weights = weights_of(new_net(meta, 5))
    loud = {n: w * 40 if n == "policy.weight" else w for n, w in weights.items()}
    folder = tmp_path_factory.mktemp("hero") / "step-1"
    save_snapshot(folder, loud, meta, "test")
    return folder


@pytest.fixture(scope="module")
def teacher(checkpoint):
    net, meta, digest = load_snapshot(checkpoint)
    policy = NetPolicy(net, meta, digest)
    policy.fit(spec_of_world(meta.world, meta.patch))
    return policy


@pytest.fixture(scope="module")
def done(checkpoint, tmp_path_factory):
    out = tmp_path_factory.mktemp("compressed")
    found = Compression(checkpoint, out, TINY, lambda what: None).run()
    return out, found


def test_every_step_is_published_with_its_figures(done):
    out, found = done
    steps = {row["step"]: row for row in found["steps"]}
    assert list(steps) == ["original", "distil", "int8", "prune", "search"]
    assert json.loads((out / "compress.json").read_text()) == found
    for name in ("distil", "int8", "prune", "search"):
        row = steps[name]
        assert row["test"]["preset"] == "no-regression" and row["games"] >= 2
        assert row["bytes"] == (out / "bundles" / name / "policy.onnx").stat().st_size
        assert load_bundle(out / "bundles" / name).hero.bundle.source
        assert {"own", "original", "empty"} == set(row["ms"]["1"]) == set(row["ms"]["64"])
        net, meta, _ = load_snapshot(out / row["snapshot"])
        assert sum(p.numel() for p in net.parameters()) == row["parameters"]
    assert steps["distil"]["bytes"] < steps["original"]["bytes"]
    assert steps["int8"]["bytes"] < steps["distil"]["bytes"]
    assert len(found["candidates"]) == 3 and found["front"]
    assert (out / "front.png").read_bytes()[:4] == b"\x89PNG"
    assert isinstance(found["int8_is_quicker"], bool)
