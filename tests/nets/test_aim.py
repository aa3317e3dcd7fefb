"""Residual aim: bins of a logistic around the target, and a flat net that begins with it."""

import numpy as np
import pytest
import torch

from levelcap.kit.errors import BadValue, UnknownName
from levelcap.nets.aim import FLOOR, SCALE, bin_edges, logistic_bins, nearest_enemy, target_logit
from levelcap.nets.family import describe, new_net
from levelcap.nets.meta import meta_from_json
from levelcap.nets.net import Inputs, ViewLayout
from levelcap.nets.options import read_options
from levelcap.world.actions import Action, encode
from levelcap.world.spec import OBJECT, arena_spec

BINS = 11


def test_the_likeliest_bin_is_the_targets_own():
    offsets = torch.rand(100_000, generator=torch.Generator().manual_seed(0)) * 2 - 1
    log_p = logistic_bins(target_logit(offsets), torch.zeros(len(offsets)), bin_edges(BINS))
    wanted = encode(Action(aim_x=offsets.numpy()))[:, 2]
    assert (log_p.argmax(-1).numpy() == wanted).mean() >= 0.999
    torch.testing.assert_close(log_p.exp().sum(-1), torch.ones(len(offsets)))


def test_bins_are_differences_of_the_logistic_distribution():
    centre, log_scale = torch.tensor([0.3, -4.0, 2.0]), torch.tensor([3.0, 1.0, 4.0])
    log_p = logistic_bins(centre, log_scale, bin_edges(BINS))
    edges = np.concatenate(([-np.inf], bin_edges(BINS).double().numpy(), [np.inf]))
    for row in range(3):
        z = (edges - float(centre[row])) / (SCALE * np.exp(float(log_scale[row])))
        exact = np.diff(1 / (1 + np.exp(-z))) * (1 - FLOOR) + FLOOR / BINS
        np.testing.assert_allclose(log_p[row].exp().numpy(), exact, rtol=1e-4, atol=1e-7)


def test_far_bins_keep_a_floor_and_a_finite_gradient():
    centre = torch.tensor([-4.5, 4.5], requires_grad=True)
    log_p = logistic_bins(centre, torch.zeros(2), bin_edges(BINS))
    assert float(log_p.min().detach()) >= np.log(FLOOR / BINS) - 1e-5
    log_p.sum().backward()
    assert torch.isfinite(centre.grad).all()


def test_the_nearest_visible_enemy_is_the_target():
    objects = torch.zeros(3, 16, len(OBJECT))

    def put(row, slot, **columns):
        for name, value in columns.items():
            objects[row, slot, OBJECT.index(name)] = value

    put(0, 0, dx=0.9, dy=0.1, distance=0.9, is_enemy=1, visible=1)
    put(0, 3, dx=-0.2, dy=0.3, distance=0.36, is_enemy=1, visible=1)
    put(0, 4, dx=0.1, distance=0.1, is_enemy=1, visible=0)  # remembered, not seen
    put(0, 5, dx=0.1, distance=0.1, is_enemy=1, visible=1, is_shot=1)
    put(0, 6, dx=0.1, distance=0.1, is_ally=1, visible=1)
    put(1, 2, dx=0.5, distance=0.5, is_loot=1, visible=1)
    found = nearest_enemy(objects)
    assert found.tolist() == [[pytest.approx(-0.2), pytest.approx(0.3)], [0, 0], [0, 0]]


def test_an_untrained_flat_net_aims_at_its_enemy():
    spec = arena_spec("duel")
    meta = describe("flat", spec, "slim", options={"aim": "residual"})
    net, layout = new_net(meta), ViewLayout.of(spec, meta.views)
    inputs = torch.randn(1, 500, layout.size, generator=torch.Generator().manual_seed(1)) * 0.3
    objects = Inputs(inputs, layout)["objects"]
    offsets = torch.rand(500, 2, generator=torch.Generator().manual_seed(2)) * 2 - 1
    objects[...] = 0.0
    for name, value in (("distance", 0.5), ("is_enemy", 1.0), ("visible", 1.0)):
        objects[0, :, 0, OBJECT.index(name)] = value
    objects[0, :, 0, :2] = offsets
    with torch.no_grad():
        out = net.unroll(Inputs(inputs, layout), {}, torch.zeros(1, 500, dtype=torch.bool))
    x, y = out.logits[0, :, 22:33].argmax(-1), out.logits[0, :, 33:44].argmax(-1)
    wanted = encode(Action(aim_x=offsets[:, 0].numpy(), aim_y=offsets[:, 1].numpy()))
    assert ((x.numpy() == wanted[:, 2]) & (y.numpy() == wanted[:, 3])).mean() >= 0.99
    # The same net without it points anywhere.
    free = new_net(describe("flat", spec, "slim"))
    with torch.no_grad():
        out = free.unroll(Inputs(inputs, layout), {}, torch.zeros(1, 500, dtype=torch.bool))
    assert (out.logits[0, :, 22:33].argmax(-1).numpy() == wanted[:, 2]).mean() < 0.4


def test_options_are_kept_in_the_description_and_refused_when_unknown():
    spec = arena_spec("duel")
    meta = describe("flat", spec, "slim", options={"aim": "residual"})
    assert meta_from_json(meta.as_json(), "here") == meta
    plain = describe("flat", spec, "slim", options={"aim": "free"})
    assert plain == describe("flat", spec, "slim")  # a file of before
    with pytest.raises(UnknownName, match="aim of flat nets.*Did you mean 'residual'"):
        describe("flat", spec, "slim", options={"aim": "residul"})
    with pytest.raises(UnknownName, match="option of flat nets"):
        describe("flat", spec, "slim", options={"aims": "residual"})
    with pytest.raises(BadValue, match="needs objects"):
        describe("flat", spec, "slim", views=("features",), options={"aim": "residual"})
    with pytest.raises(BadValue, match="not an option of a net"):
        read_options(["aim"])


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("flat", {}),
        ("hierarchy", {"strategist": "lstm"}),
    ],
)
def test_a_steady_aim_is_narrower_around_the_same_points(family, options):
    spec = arena_spec("duel")
    meta = describe(family, spec, "dummy", options=options)
    net, layout = new_net(meta, 3), ViewLayout.of(spec, meta.views)
    chance = torch.Generator().manual_seed(1)
    with torch.no_grad():  # as if it had learned something
        for parameter in net.parameters():
            parameter += torch.randn(parameter.shape, generator=chance) * 0.3
    views = Inputs(torch.randn(1, 200, layout.size, generator=chance), layout)

    def logits(weights):
        net.load_state_dict(weights)
        with torch.no_grad():
            begins = torch.ones(1, 200, dtype=torch.bool)
            return net.unroll(views, net.initial_state(200), begins).logits[0]

    kept = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    before, after = logits(kept), logits(net.steadied(kept, 16.0))
    assert torch.equal(before[:, :22], after[:, :22]) and torch.equal(before[:, 44:], after[:, 44:])
    for bins in (slice(22, 33), slice(33, 44)):
        spread, narrow = (
            torch.distributions.Categorical(logits=x[:, bins]) for x in (before, after)
        )
        assert float(narrow.entropy().mean()) < 0.5 * float(spread.entropy().mean())
        same = (before[:, bins].argmax(-1) == after[:, bins].argmax(-1)).float().mean()
        assert float(same) > 0.99
    back = net.steadied(net.steadied(kept, 16.0), 1 / 16.0)
    torch.testing.assert_close(logits(back), before)
