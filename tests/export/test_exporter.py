"""A bundle decides as its original: row by row, drawn and likeliest, and over whole matches."""

import json
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

from levelcap.export import mar_handler
from levelcap.export.draw import Draw, draw_mode, uniform
from levelcap.export.exporter import ModelExporter
from levelcap.export.policy import load_bundle
from levelcap.export.runtime import Hero, bear_witness
from levelcap.kit.errors import BadFile, BadValue, Conflict, UnknownName
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.play.load import load_checkpoint
from levelcap.play.matchup import play_batch, seats_of_game
from levelcap.play.sample import Sampler
from levelcap.world import make
from levelcap.world.spec import arena_spec


def test_every_row_of_a_thousand_is_decided_alike(exported):
    parity = json.loads((exported.folder / "report.json").read_text())["parity"]
    assert parity["observations"] >= 1_000
    assert parity["action_agreement"] >= 0.999
    assert parity["max_difference"] < 1e-2


def test_whole_matches_with_memory_are_played_to_the_same_actions(exported):
    """Original and bundle, each alone in all seats with the same seeds: the same matches."""
    found = []
    for policy in (load_checkpoint(exported.checkpoint), load_bundle(exported.folder)):
        seats = np.zeros_like(np.stack([seats_of_game(exported.world, g, 3) for g in range(2)]))
        out = play_batch([policy], exported.world, seats, np.array([11, 12], np.uint64), "1.0")
        found.append(out)
    assert (found[0]["winner"] == found[1]["winner"]).all()
    assert (found[0]["tick"] == found[1]["tick"]).all()


def test_numpy_draws_what_the_compiled_sampler_draws():
    spec, rng = arena_spec("siege"), np.random.default_rng(1)
    logits = rng.normal(0, 2, (4_000, spec.mask_size)).astype(np.float32)
    mask = (rng.random(logits.shape) < 0.7).astype(np.uint8)
    mask[:, spec.head_offsets] = 1
    mask[:7] = 0  # nothing allowed at all
    keys = rng.integers(0, 2**64, len(logits), dtype=np.uint64)
    draw = Draw([head.size for head in spec.heads])
    sampler = Sampler(spec)
    drawn = sampler(logits, mask, keys)[0]
    assert (draw(logits, mask, keys) == drawn).mean() > 0.9999
    likeliest = sampler(logits, mask, keys, greedy=True)[0]
    assert (draw(logits, mask, None) == likeliest).all()
    assert np.allclose(uniform(keys, 255), Sampler.chance(keys), atol=1e-7)


def test_a_mode_is_drawn_by_its_odds():
    keys = np.arange(20_000, dtype=np.uint64)
    logits = np.tile(np.log([[0.1, 0.2, 0.7]]).astype(np.float32), (len(keys), 1))
    shares = np.bincount(draw_mode(logits, keys)) / len(keys)
    assert np.allclose(shares, [0.1, 0.2, 0.7], atol=0.02)
    assert (draw_mode(logits, None) == 2).all()


def test_reset_forgets_and_other_rows_do_not_matter(exported):
    hero = load_bundle(exported.folder).hero
    rng = np.random.default_rng(2)
    views = {n: rng.normal(size=(3, *s)).astype(np.float32) for n, s in hero.bundle.views.items()}
    state = None
    for _ in range(4):
        state = hero.act(views, state).state
    begins = np.array([False, True, False])
    mixed = hero.act(views, state, reset=begins).logits
    assert np.allclose(mixed[1], hero.act(views).logits[1], atol=1e-3)
    assert np.allclose(mixed[0], hero.act(views, state).logits[0], atol=1e-3)
    alone = {n: v[:1] for n, v in views.items()}
    one = {n: rows[:1] for n, rows in state.items()}
    assert np.allclose(hero.act(alone, one).logits, mixed[:1], atol=1e-3)


def test_targets_are_dressed(exported, exporter, tmp_path):
    made = exporter
    said = made.export("torchserve", tmp_path / "mar").notes
    assert "archived" in said
    with zipfile.ZipFile(tmp_path / "mar" / "hero.mar") as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "unpacked")
    assert {"MAR-INF/MANIFEST.json", "bundle.json", "mar_handler.py"} <= names
    context = SimpleNamespace(system_properties={"model_dir": str(tmp_path / "unpacked")})
    mar_handler.initialize(context)
    bundle = load_bundle(exported.folder).hero.bundle
    body = {name: np.zeros((1, *shape)).tolist() for name, shape in bundle.views.items()}
    first = mar_handler.handle([{"body": json.dumps(body).encode()}], context)[0]
    again = mar_handler.handle([{"body": body | {"who": [7]}}], context)[0]
    assert again == first, "another player remembers nothing either"
    assert len(first["actions"][0]) == len(bundle.heads) == len(again["actions"][0])
    recipe = made.export("tensorrt", tmp_path / "trt")
    lines = (tmp_path / "trt" / "build_engines.sh").read_text().splitlines()
    assert "no engine was built" in recipe.notes
    assert sum(line.startswith("trtexec --onnx=") for line in lines) == len(bundle.graphs)


def test_onnxruntimes_own_format_decides_the_same(exported, exporter, tmp_path):
    exporter.export("mobile", tmp_path / "phone")
    hero = load_bundle(exported.folder).hero
    data = {n: (tmp_path / "phone" / f"{n}.ort").read_bytes() for n in hero.bundle.graphs}
    assert np.abs(bear_witness(Hero(hero.bundle, data)) - bear_witness(hero)).max() < 1e-5


def test_what_cannot_be_exported_is_refused(exported, exporter, tmp_path):
    with pytest.raises(UnknownName, match="onnx"):
        exporter.export("onxn", tmp_path / "x")
    with pytest.raises(Conflict):
        exporter.export("onnx", exported.folder)
    meta = describe("hierarchy", arena_spec("siege"), "dummy", options={"executor": "longconv"})
    save_snapshot(tmp_path / "long", weights_of(new_net(meta)), meta, "test")
    with pytest.raises(BadValue, match="longconv"):
        ModelExporter(tmp_path / "long").export("onnx", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_bundle_refuses_worlds_and_rows_it_was_not_made_for(exported):
    policy = load_bundle(exported.folder)
    with pytest.raises(BadFile, match="tick rate"):
        policy.bind(make(f"{exported.world}-60hz", 1, views=policy.views))
    hero = policy.hero
    views = {n: np.zeros((2, *s), np.float32) for n, s in hero.bundle.views.items()}
    name = next(iter(views))
    for wrong, words in (
        ({n: v for n, v in views.items() if n != name}, "missing"),
        (views | {name: views[name][:, :-1]}, "Reshape"),
        (views | {name: views[name] + np.nan}, "finite"),
        (views | {name: np.zeros((0, *hero.bundle.views[name]))}, "Reshape"),
    ):
        with pytest.raises(BadValue, match=words):
            hero.act(wrong)
    with pytest.raises(BadValue, match="mask"):
        hero.act(views, mask=np.ones((2, 3)))
    if state := hero.initial_state(5):
        with pytest.raises(BadValue, match="memory"):
            hero.act(views, state)


def test_a_net_of_somebody_elses_game_is_exported_and_says_what_it_was_compared_on(tmp_path):
    meta = describe("flat", spec_of_world("gym:CartPole-v1"), "dummy", True)
    save_snapshot(tmp_path / "pole", weights_of(new_net(meta, 3)), meta, "test")
    parity = ModelExporter(tmp_path / "pole").export("onnx", tmp_path / "bundle").parity
    assert parity.action_agreement >= 0.999 and "random numbers" in parity.source
    assert load_bundle(tmp_path / "bundle").hero.bundle.heads == {"action": 2}
