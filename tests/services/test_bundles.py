"""The Oracle plays with a bundle where that is quicker, says so, and does without a broken one."""

import pytest

from levelcap.export.bundle import bundle_name
from levelcap.export.exporter import ModelExporter
from levelcap.export.policy import BundlePolicy
from levelcap.kit.paths import folder
from levelcap.play.load import NetPolicy
from levelcap.play.seats import Seats
from levelcap.services.oracle import bundles
from levelcap.services.oracle.checkpoint_cache import CheckpointCache
from levelcap.world import make
from tests.services.oracles import net_in_vault


@pytest.fixture
def exported(realm):
    row, place = net_in_vault(realm.engine, 3)
    bundle = folder("exports") / bundle_name(row.id, "onnx")
    ModelExporter(place).export("onnx", bundle)
    return row, bundle


def test_the_quicker_runtime_plays_and_is_named(realm, exported, monkeypatch):
    row, bundle = exported
    times = {"ratio": (0.4, 0.3, 0.5)}
    monkeypatch.setattr(bundles, "compare", lambda *given: times["ratio"])
    quick = CheckpointCache(realm.engine).get(row.id)
    assert isinstance(quick.player(), BundlePolicy)
    assert quick.as_json()["runtime"].startswith("onnxruntime: 0.40 of torch's time")
    assert isinstance(quick.policy(), NetPolicy)  # /act answers with log-probabilities
    times["ratio"] = (1.1, 0.9, 1.3)
    slow = CheckpointCache(realm.engine).get(row.id)
    assert isinstance(slow.player(), NetPolicy) and slow.serving.words.startswith("torch: onnx")
    data = bytearray((bundle / "policy.onnx").read_bytes())
    data[len(data) // 2] ^= 1
    (bundle / "policy.onnx").write_bytes(data)
    broken = CheckpointCache(realm.engine).get(row.id)
    assert isinstance(broken.player(), NetPolicy) and "refused" in broken.serving.words


def test_really_timed_and_its_mind_is_shown(realm, exported):
    row, _ = exported
    loaded = CheckpointCache(realm.engine).get(row.id)
    assert "of torch's time" in loaded.serving.words
    policy = bundles.Serving("", bundles.load(exported[1])).policy()
    world = make("duel", 1, views=policy.views)
    table = Seats(world, [policy], [[0, 0]], minds=True)
    table.act(world.reset())
    assert 0 < table.minds["aim_odds"][0, 0] <= 1
