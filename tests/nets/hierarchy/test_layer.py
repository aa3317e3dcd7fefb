"""Layers by themselves: put together again they are the whole net."""

from dataclasses import replace

import pytest
import torch

from levelcap.kit.errors import BadFile, BadValue
from levelcap.nets.checkpoint import load_snapshot, load_world_net, save_snapshot, weights_of
from levelcap.nets.family import build, describe, new_net
from levelcap.nets.hierarchy.layer import PARTS, layer_meta
from levelcap.nets.hierarchy.memory import part
from levelcap.nets.net import Inputs, ViewLayout
from levelcap.world.spec import arena_spec
from tests.cli.calling import levelcap

SPEC = arena_spec("siege")


@torch.no_grad()
def test_three_published_layers_are_the_whole_net(tmp_path, capsys):
    meta = describe("hierarchy", SPEC, "dummy")
    net, layout = new_net(meta, seed=1).eval(), ViewLayout.of(SPEC, meta.views)
    torch.nn.init.normal_(net.mode_head[2].weight)
    save_snapshot(tmp_path / "whole", weights_of(net), meta, "test")
    place = tmp_path / "layers"
    code, out, error = levelcap(capsys, "nets", "split", str(tmp_path / "whole"), str(place))
    assert code == 0, error
    views = Inputs(torch.randn(1, 4, layout.size) * 0.4, layout)
    state, reset = net.initial_state(4), torch.zeros(1, 4, dtype=torch.bool)
    whole = net.unroll(views, state, reset)

    strategy, told, _ = load_snapshot(place / "strategy")
    assert (told.shape["role"], told.shape["layer"]) == ("strategy", "strategist")
    held, _ = strategy(views["summary"], strategy.initial_state(4), reset)
    torch.testing.assert_close(held["goal"], whole.mind["goal"])
    torch.testing.assert_close(held["mode_logits"], whole.choice_logits)
    torch.testing.assert_close(held["confidence"], whole.mind["confidence"])
    decision, _, _ = load_snapshot(place / "decision")
    seen = decision(views["objects"][0], held["goal"][0])
    torch.testing.assert_close(seen.scores, whole.mind["target_scores"][0])
    execution, _, _ = load_snapshot(place / "execution")
    memory = execution.initial_state(4)
    logits, _, after = execution(
        views["body"], held["goal"], seen.position[None], seen.info[None], memory, reset
    )
    torch.testing.assert_close(logits, whole.logits)
    torch.testing.assert_close(after, part(whole.state, "deed."))


def test_a_layer_plays_no_world_and_has_a_card(tmp_path, capsys):
    meta = describe("hierarchy", SPEC, "dummy")
    one = layer_meta(meta, "tactician", "0" * 64)
    save_snapshot(tmp_path / "layer", weights_of(build(one)), one, "test")
    with pytest.raises(BadValue, match="plays no world"):
        load_world_net(tmp_path / "layer")
    code, out, _ = levelcap(capsys, "nets", "card", str(tmp_path / "layer"))
    assert code == 0 and "decision, the tactician of 0000" in out
    code, _, error = levelcap(capsys, "nets", "split", str(tmp_path / "layer"), str(tmp_path / "x"))
    assert code == 2 and "plays no world" in error


def test_a_flat_net_has_no_layers(tmp_path, capsys):
    meta = describe("flat", SPEC, "dummy")
    save_snapshot(tmp_path / "flat", weights_of(new_net(meta)), meta, "test")
    code, _, error = levelcap(capsys, "nets", "split", str(tmp_path / "flat"), str(tmp_path / "x"))
    assert code == 2 and "only a hierarchy has layers" in error


@pytest.mark.parametrize("changes", [{"layer": "oracle"}, {"role": "strategy"}])
def test_a_layer_nobody_wrote_is_refused(changes):
    meta = layer_meta(describe("hierarchy", SPEC, "dummy"), "executor", "0" * 64)
    with pytest.raises(BadFile, match="no layer"):
        build(replace(meta, shape={**meta.shape, **changes}))
    assert set(PARTS) == {"strategist", "tactician", "executor"}
