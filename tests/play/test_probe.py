"""A checkpoint is a net only when it has worked: built, loaded, shown observations, asked once."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from levelcap.guild.alphabet import load_alphabet
from levelcap.kit.errors import LevelcapError
from levelcap.kit.files import read_json, write_json
from levelcap.kit.publish import MANIFEST, publish
from levelcap.nets.checkpoint import META, MODEL, save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.nets.meta import text_meta
from levelcap.nets.text.qwen3 import Qwen3Net
from levelcap.nets.text.shape import character_shape
from levelcap.play import probe
from levelcap.world.spec import arena_spec


def arena(place):
    meta = describe("flat", arena_spec("duel"), "dummy")
    save_snapshot(place, weights_of(new_net(meta)), meta, "test")
    return place


def text(place):
    alphabet = load_alphabet()
    meta = text_meta(character_shape("dummy", alphabet.version, "".join(alphabet.characters)), "d")
    torch.manual_seed(0)
    save_snapshot(place, weights_of(Qwen3Net(meta)), meta, "test")
    return place


def crafted(source, target, *, meta=None, weights=None):
    """The same checkpoint with another description or other tensors, and hashes that fit."""

    def write(place):
        said, tensors = read_json(source / META), load((source / MODEL).read_bytes())
        if meta is not None:
            meta(said)
        if weights is not None:
            weights(tensors)
        (place / MODEL).write_bytes(save(tensors))
        write_json(place / META, said)

    publish(target, write, made_by="somebody", parents=[])
    return target


def says(**values):
    return {"meta": lambda said: said.update(values)}


def holds(name, tensor):
    return {"weights": lambda tensors: tensors.update({name: tensor})}


ARENA = {
    "wrong shape": holds("policy.weight", torch.zeros(52, 9)),
    "wrong rank": holds("policy.bias", torch.zeros(52, 1)),
    "missing tensor": {"weights": lambda tensors: tensors.pop("value.bias")},
    "extra tensor": holds("policy.extra", torch.zeros(3)),
    "whole numbers": holds("value.bias", torch.zeros(1, dtype=torch.int64)),
    "not a number": holds("value.bias", torch.full((1,), float("nan"))),
    "finite weights, infinite results": holds("value.weight", torch.full((1, 8), 3e38)),
    "giant hidden": says(hidden=[1 << 40]),
    "endless hidden": says(hidden=[8] * 100_000),
    "negative hidden": says(hidden=[-8]),
    "hidden of text": says(hidden=["8"]),
    "giant together": says(hidden=[8192] * 8),
    "wrong heads": says(head_sizes=[11, 11, 11, 11, 2, 4, 3]),
    "heads in another order": says(aim_heads=[0, 1]),
    "wrong views": says(views=["features", "nothing"]),
    "no views": says(views=[], input_size=0),
    "a view twice": says(views=["features"] * 2),
    "other size": says(input_size=20),
    "another world": says(world="gym:os:path"),
    "another patch": says(patch="../../1.0"),
    "another version": says(world_version=9),
    "another architecture": says(architecture="pickle"),
    "metrics of text": says(metrics={"updates": "many"}),
    "metrics are a list": says(metrics=[1]),
}


@pytest.fixture
def unconfined(monkeypatch):
    """The probe in this process: its limits would stay with the tests."""
    monkeypatch.setattr(probe, "confine", lambda: None)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    place = tmp_path_factory.mktemp("good")
    return {"arena": arena(place / "arena"), "text": text(place / "text")}


def test_good_nets_pass(good, unconfined):
    assert probe.probe(good["arena"])["world"] == "duel"
    assert probe.probe(good["text"])["architecture"] == "qwen3"


@pytest.mark.parametrize("name", ARENA)
def test_crafted_nets_with_fitting_hashes_are_refused(name, good, unconfined, tmp_path):
    with pytest.raises(LevelcapError) as refused:
        probe.probe(crafted(good["arena"], tmp_path / "x", **ARENA[name]))
    assert "; got " in str(refused.value) and "\n" not in str(refused.value)


def shape(**values):
    return {"meta": lambda said: said["text"].update(values)}


TEXT = {
    "giant": shape(layers=64, hidden=8192, ffn=32768),
    "giant positions": shape(positions=1 << 40),
    "other layers": shape(layers=2),
    "other characters": {
        "meta": lambda said: said["text"].update(characters=said["text"]["characters"][::-1])
    },
    "a character twice": {
        "meta": lambda said: said["text"].update(characters="a" * len(said["text"]["characters"]))
    },
    "sizes of text": shape(hidden="16"),
    "no turning": shape(rope_theta=0.0),
    "no shape": {"meta": lambda said: said.update(text=None)},
    "infinite results": holds("model.norm.weight", torch.full((16,), 3e38)),
    "missing tensor": {"weights": lambda tensors: tensors.pop("model.norm.weight")},
}


@pytest.mark.parametrize("name", TEXT)
def test_crafted_text_nets_are_refused(name, good, unconfined, tmp_path):
    with pytest.raises(LevelcapError):
        probe.probe(crafted(good["text"], tmp_path / "x", **TEXT[name]))


def test_the_observations_are_of_play(good):
    meta = probe.described(good["arena"])
    world, rows = probe.recorded(replace(meta, views=("features", "objects")))
    assert rows["features"].shape == (64, 19) and rows["objects"].shape == (64, 16, 20)
    assert len(np.unique(rows["features"], axis=0)) > 32 and world.spec.name == "duel"


def run(*arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=180,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def test_the_process_answers_in_one_line_and_names_no_path(good, tmp_path):
    done = run("-m", "levelcap.play.probe", str(good["arena"]))
    assert json.loads(done.stdout)["ok"] is True
    bad = crafted(good["arena"], tmp_path / "x", **ARENA["missing tensor"])
    said = json.loads(run("-m", "levelcap.play.probe", str(bad)).stdout)
    assert said["ok"] is False and "value.bias" in said["problem"]
    (bad / MANIFEST).unlink()
    said = json.loads(run("-m", "levelcap.play.probe", str(bad)).stdout)
    assert said["ok"] is False and str(tmp_path) not in said["problem"]


def test_the_process_has_two_gigabytes_and_so_many_seconds():
    code = "import torch, levelcap.play.probe as p; p.confine(); torch.ones(1 << {})"
    assert "memory" in run("-c", code.format(30)).stderr
    assert run("-c", code.format(26)).returncode == 0
    code = "import levelcap.play.probe as p; p.SECONDS = 0.3; p.confine()\nwhile True: pass"
    assert run("-c", code).returncode == -14
