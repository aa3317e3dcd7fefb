"""A tiny hero goes the whole path: smaller, measured beside the original, continued after kills."""

import pytest
import torch

from levelcap.export.compress.class_room import ClassRoom, observations
from levelcap.export.compress.compressed import read_compressed
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
from levelcap.nets.net import count_parameters
from levelcap.play.load import load_checkpoint
from levelcap.world.spec import arena_spec

CUTS = ("pairs", "candidate")  # after a step's first games, before a net of the search
TINY = Effort(
    minutes=0.02,
    test_minutes=0.002,
    candidates=2,
    games=2,
    unit=2,
    matches=2,
    attack_games=2,
    lessons=DistilConfig(seats=16, decisions=2, minibatches=1),
)


def hero(folder, hidden):
    """A flat net that has opinions, saved."""
    meta = reshaped_meta(describe("flat", arena_spec("duel"), "slim"), hidden, "0" * 64)
    weights = weights_of(new_net(meta, 5))
    weights["policy.weight"] *= 40
    # Equal biases, as of a net that never learned, would be merged in its graph.
    names = [name for name in weights if name.endswith("bias")]
    weights |= {n: torch.linspace(0.1, at, len(weights[n])) for at, n in enumerate(names, 1)}
    save_snapshot(folder / "step-1", weights, meta, "test")
    return folder / "step-1"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return hero(tmp_path_factory.mktemp("hero"), (128, 128))


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    policy = load_checkpoint(hero(tmp_path_factory.mktemp("teacher"), (16, 16)))
    policy.fit(spec_of_world(policy.meta.world, policy.meta.patch))
    return policy


class Cut(BaseException):
    """What a kill looks like from inside: nothing after it runs."""


@pytest.fixture(scope="module")
def done(checkpoint, tmp_path_factory):
    """The whole path, broken off inside of two steps, and begun again each time."""
    out, heard, runs = tmp_path_factory.mktemp("compressed"), set(), 0

    def say(what):
        word = what.split()[0]
        if word in CUTS and word not in heard:
            heard.add(word)
            raise Cut

    while True:
        runs += 1
        try:
            return out, Compression(checkpoint, out, TINY, say).run(), runs
        except Cut:
            assert runs <= len(CUTS)


def test_every_step_is_published_with_its_figures(done):
    out, found, runs = done
    assert runs == 1 + len(CUTS)
    assert [row.step for row in found.steps] == ["original", "distil", "int8", "prune", "search"]
    assert read_compressed(out) == found and found.finished
    for row in found.steps[1:]:
        assert row.test["preset"] == "no-regression" and row.games >= 2
        place = out / "bundles" / row.step
        assert row.bytes == (place / "policy.onnx").stat().st_size
        assert load_bundle(place).hero.bundle.source
        assert {"own", "original", "empty"} == set(row.ms["1"]) == set(row.ms["64"])
        net = load_snapshot(out / row.snapshot)[0]
        assert count_parameters(net) == row.parameters
    original, distilled, int8 = found.steps[:3]
    assert int8.bytes < distilled.bytes < original.bytes
    assert int8.form == "int8"
    assert found.int8_time("64") == int8.ms["64"]["own"] / distilled.ms["64"]["own"]
    assert len(found.candidates) == 2 and found.front
    assert (out / "front.png").read_bytes()[:4] == b"\x89PNG"


def test_what_was_done_is_not_done_again(done, checkpoint):
    out, found, _ = done
    before = (out / "compress.json").stat().st_mtime_ns
    said = []
    assert Compression(checkpoint, out, TINY, said.append).run() == found
    assert said == [] and (out / "compress.json").stat().st_mtime_ns == before


def test_units_are_cut_and_layers_added_without_a_trace(teacher):
    """Wider and deeper begin as the same function; narrower keeps what matters."""
    rows = observations(teacher, 64, 1)
    with torch.no_grad():
        wanted = teacher.net(torch.from_numpy(rows))[0]
    for hidden in ((16, 16), (24, 16), (24, 32), (16, 16, 16), (16, 16, 24)):
        meta = reshaped_meta(teacher.meta, hidden, "0" * 64)
        net = reshape(teacher.net, teacher.meta, meta, rows, 1)
        with torch.no_grad():
            assert torch.allclose(net(torch.from_numpy(rows))[0], wanted, atol=1e-4), hidden
    # Units that never fire matter nothing: cutting them changes nothing, their biases included.
    silent = reshape(teacher.net, teacher.meta, teacher.meta, rows, 1)
    with torch.no_grad():
        for layer in (silent.torso[0], silent.torso[2]):
            layer.bias[8:] = -1e3
        wanted = silent(torch.from_numpy(rows))[0]
        meta = reshaped_meta(teacher.meta, (8, 8), "0" * 64)
        small = reshape(silent, teacher.meta, meta, rows, 1)
        assert torch.allclose(small(torch.from_numpy(rows))[0], wanted, atol=1e-4)
    for hidden in ((16,), (8, 8, 8)):
        meta = reshaped_meta(teacher.meta, hidden, "0" * 64)
        assert reshape(teacher.net, teacher.meta, meta, rows, 1).policy.in_features == hidden[-1]


def test_the_teachers_own_logits_diverge_by_nothing_and_forbidden_bins_do_not_count(teacher):
    lesson = ClassRoom(teacher, teacher, 3, seats=16).lesson(4)
    assert len(lesson.inputs) == 64
    same = divergence(lesson.logits, lesson, teacher.meta)
    assert same.abs().max() < 1e-5
    noise = torch.randn(lesson.logits.shape, generator=torch.Generator().manual_seed(1))
    assert divergence(lesson.logits + noise, lesson, teacher.meta).mean() > 0.1
    forbidden = torch.where(lesson.mask, 0.0, 1.0)
    assert divergence(lesson.logits + 9 * forbidden, lesson, teacher.meta).abs().max() < 1e-5


def _row(name, ms, elo):
    return Figures(
        step=name,
        shape=name,
        form="float32",
        parameters=1,
        bytes=1,
        ms={"64": {"own": ms, "original": 1.0}},
        energy_mj=None,
        energy_source="unknown",
        agreement=1.0,
        snapshot="",
        elo=elo,
    )


def test_shapes_front_and_choice():
    for hidden in ((64, 64), (8,), (128, 64, 32)):
        shapes = shapes_around(hidden, 24)
        assert len(set(shapes)) == len(shapes) and shapes[0] == hidden
        assert len(shapes) == 24 or hidden == (8,)
        assert all(width % 8 == 0 for shape in shapes for width in shape)
    assert {len(shape) for shape in shapes_around((64, 64), 24)} == {1, 2, 3}
    weak, fine = _row("weak", 0.1, (-90.0, -120.0, -60.0)), _row("fine", 0.2, (-5.0, -30.0, 20.0))
    slow, lost = _row("slow", 0.4, (3.0, -20.0, 26.0)), _row("lost", 0.5, (-9.0, -30.0, 20.0))
    rows = [lost, slow, fine, weak]
    assert [row.step for row in front(rows)] == ["weak", "fine", "slow"]
    assert chosen_of(rows, 0.3) is fine and chosen_of(rows, 0.4) is slow
    assert chosen_of([weak], 0.01) is weak
    assert fine.faster == 5.0


def test_what_cannot_be_compressed_is_refused(tmp_path):
    meta = describe("hierarchy", arena_spec("crown"), "dummy")
    save_snapshot(tmp_path / "layers", weights_of(new_net(meta)), meta, "test")
    with pytest.raises(BadValue, match="flat"):
        Compression(tmp_path / "layers", tmp_path / "x", TINY, print)
    for wrong in ({"games": 3}, {"candidates": 0}, {"minutes": 0.0}, {"test_minutes": -1.0}):
        with pytest.raises(BadValue):
            Effort(**wrong)
    assert not (tmp_path / "x").exists()
