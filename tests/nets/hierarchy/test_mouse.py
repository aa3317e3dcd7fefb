"""Heads for the mouse: nothing changes without them, they point at the target, RL leaves them."""

from dataclasses import replace

import torch

from levelcap.nets.family import build, describe, new_net
from levelcap.nets.net import Inputs, ViewLayout
from levelcap.world.actions import CLICKS, HOTKEYS
from levelcap.world.mouse import MOUSE_SIZES
from levelcap.world.spec import arena_spec

SPEC = arena_spec("duel")


def _meta(mouse, size="dummy"):
    return describe("hierarchy", SPEC, size, options={"strategist": "lstm", "mouse": mouse})


def _think(net, meta, rows=40):
    layout = ViewLayout.of(SPEC, meta.views)
    packed = torch.randn(3, rows, layout.size, generator=torch.Generator().manual_seed(4)) * 0.5
    views, reset = Inputs(packed, layout), torch.zeros(3, rows, dtype=torch.bool)
    return net.unroll(views, net.initial_state(rows), reset)


@torch.no_grad()
def test_a_net_without_a_mouse_is_what_it_was():
    meta = _meta("off")
    assert meta == describe("hierarchy", SPEC, "dummy", options={"strategist": "lstm"})
    net = new_net(meta, 1)
    assert not net.has_mouse and not [name for name in net.state_dict() if "mouse" in name]
    out = _think(net, meta)
    assert out.mouse is None
    # A description of before the option existed is one without.
    before = replace(meta, shape={n: v for n, v in meta.shape.items() if n != "mouse"})
    old = build(before)
    old.load_state_dict(net.state_dict())
    assert torch.equal(_think(old, before).logits, out.logits)
    # The same weights with a mouse beside them decide the same, to the bit.
    both = new_net(_meta("on"), 2)
    missing = both.load_state_dict(net.state_dict(), strict=False)
    assert not missing.unexpected_keys and all("mouse" in name for name in missing.missing_keys)
    beside = _think(both, _meta("on"))
    assert torch.equal(beside.logits, out.logits) and torch.equal(beside.values, out.values)


@torch.no_grad()
def test_an_untrained_mouse_points_at_the_target_and_presses_everything_alike():
    meta = _meta("on", "slim")
    net = new_net(meta, 1)
    out = _think(net, meta)
    assert out.mouse.shape == (3, 40, sum(MOUSE_SIZES))
    parts = out.mouse.split(MOUSE_SIZES, -1)
    aim = out.logits[..., 22:44].split(11, -1)
    for mine, theirs in zip(parts[2:4], aim, strict=True):
        assert torch.equal(mine, theirs)
    for buttons, size in ((parts[4], len(CLICKS)), (parts[5], len(HOTKEYS))):
        torch.testing.assert_close(
            buttons.softmax(-1), torch.full_like(buttons, 1 / size), atol=0.02, rtol=0
        )


def test_reinforcement_gives_the_mouse_no_gradient_and_imitation_does():
    meta = _meta("on")
    net = new_net(meta, 1)
    out = _think(net, meta)
    (out.logits.sum() + out.values.sum() + out.choice_logits.sum()).backward(retain_graph=True)
    mouse = list(net.executor.mouse.parameters())
    assert all(parameter.grad is None for parameter in mouse)
    out.mouse.square().sum().backward()
    assert all(float(parameter.grad.abs().sum()) > 0 for parameter in mouse)


@torch.no_grad()
def test_a_steady_aim_steadies_the_mouse():
    meta = _meta("on")
    net = new_net(meta, 1)
    for parameter in net.executor.mouse.parameters():
        parameter += torch.randn(parameter.shape, generator=torch.Generator().manual_seed(7)) * 0.3
    before = _think(net, meta).mouse
    net.load_state_dict(net.steadied(net.state_dict(), 16.0))
    after = _think(net, meta).mouse
    places = slice(22, 44)
    assert float(after[..., places].exp().square().sum()) > float(
        before[..., places].exp().square().sum()
    )
    rest = [*range(22), *range(44, sum(MOUSE_SIZES))]
    assert torch.equal(after[..., rest], before[..., rest])
