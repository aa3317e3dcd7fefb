"""The hierarchy as one net: batch and live forms agree, it aims untrained, nothing gives NaN."""

from dataclasses import replace

import pytest
import torch

from levelcap.kit.errors import BadFile
from levelcap.nets.family import build, describe, new_net
from levelcap.nets.hierarchy.net import HierarchyNet
from levelcap.nets.hierarchy.shape import OPTIONS, PERIOD, shape_of
from levelcap.nets.net import Inputs, ViewLayout
from levelcap.world.actions import Action, encode
from levelcap.world.spec import OBJECT, arena_spec

SPEC = arena_spec("siege")
ROWS = 6
STRATEGISTS = OPTIONS["strategist"]
# Every value of every other option, one at a time, in a net where it has a part to play.
OTHERS = [
    {"strategist": "transformer", "tactician": "self", name: value}
    for name, values in OPTIONS.items()
    if name != "strategist"
    for value in values
] + [
    {"strategist": "ssd", "layer_norm": "batch"},
    {"strategist": "perceiver", "norm": "post"},
    {"strategist": "lstm", "window": "2"},
    {"strategist": "ssd", "window": "2"},
]


def _net(size="dummy", **options):
    meta = describe("hierarchy", SPEC, size, options=options)
    net = new_net(meta, seed=1)
    # Away from the small first weights, where everything agrees.
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    return net.eval(), ViewLayout.of(SPEC, (*meta.views, *net.critic_views))


def _inputs(layout, steps, rows=ROWS, seed=0):
    generator = torch.Generator().manual_seed(seed)
    packed = torch.randn(steps, rows, layout.size, generator=generator) * 0.4
    views = Inputs(packed, layout)
    # Slots that are not there.
    views["objects"][torch.rand(steps, rows, 16, generator=generator) < 0.4] = 0.0
    reset = torch.rand(steps, rows, generator=generator) < 0.04
    chance = torch.rand(steps, rows, generator=generator)
    return replace(views, chance=chance), reset


def _walk(net, views, state, reset):
    seen = []
    for t in range(len(reset)):
        one = Inputs(views.packed[t : t + 1], views.layout, views.chance[t : t + 1])
        out = net.unroll(one, state, reset[t : t + 1])
        state = out.state
        seen.append(out)
    return seen, state


@torch.no_grad()
@pytest.mark.parametrize("strategist", STRATEGISTS)
@pytest.mark.parametrize("executor", ["lstm", "ssd2"])
def test_a_whole_stretch_and_single_decisions_agree(strategist, executor):
    net, layout = _net(strategist=strategist, executor=executor)
    views, reset = _inputs(layout, 75)
    whole = net.unroll(views, net.initial_state(ROWS), reset)
    seen, state = _walk(net, views, net.initial_state(ROWS), reset)
    assert torch.equal(whole.choices, torch.cat([out.choices for out in seen]))
    for name in ("logits", "values", "choice_logits"):
        live = torch.cat([getattr(out, name) for out in seen])
        torch.testing.assert_close(getattr(whole, name), live, atol=1e-5, rtol=1e-4)
    for name, rows in whole.state.items():
        torch.testing.assert_close(rows, state[name], atol=1e-5, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("options", OTHERS, ids=lambda o: "-".join(o.values()))
def test_every_option_decides_alike_in_a_batch_and_alone(options):
    net, layout = _net(**options)
    views, reset = _inputs(layout, 24, rows=3)
    whole = net.unroll(views, net.initial_state(3), reset)
    seen, state = _walk(net, views, net.initial_state(3), reset)
    for name in ("logits", "values", "choice_logits"):
        live = torch.cat([getattr(out, name) for out in seen])
        torch.testing.assert_close(getattr(whole, name), live, atol=1e-5, rtol=1e-4)
    for name, rows in whole.state.items():
        torch.testing.assert_close(rows, state[name], atol=1e-5, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["plain", "nested"])
def test_all_kinds_of_attention_compute_the_same(kind):
    net, layout = _net(strategist="transformer", tactician="self")
    other, _ = _net(strategist="transformer", tactician="self", attention=kind)
    other.load_state_dict(net.state_dict())
    views, reset = _inputs(layout, 30)
    first, second = (n.unroll(views, n.initial_state(ROWS), reset) for n in (net, other))
    torch.testing.assert_close(first.logits, second.logits, atol=1e-5, rtol=1e-4)


def test_batch_norm_learns_moments_that_it_then_acts_with():
    net, layout = _net(layer_norm="batch")
    norm = net.executor.encode[1]
    views, reset = _inputs(layout, 30)
    before = norm.mean.clone()
    with torch.no_grad():
        net.unroll(views, net.initial_state(ROWS), reset)
    assert torch.equal(norm.mean, before)
    net.train()
    net.unroll(views, net.initial_state(ROWS), reset).logits.sum().backward()
    assert not torch.equal(norm.mean, before)


@torch.no_grad()
def test_given_choices_are_followed_and_the_strategist_is_due_once_a_second():
    net, layout = _net()
    views, reset = _inputs(layout, 35)
    reset[...] = False
    reset[17, 2] = True
    drawn = net.unroll(views, net.initial_state(ROWS), reset)
    again = net.unroll(Inputs(views.packed, layout), net.initial_state(ROWS), reset, drawn.choices)
    torch.testing.assert_close(again.logits, drawn.logits)
    due = drawn.choice_due[:, 0].nonzero().squeeze(1).tolist()
    assert due == list(range(0, 35, PERIOD))
    assert drawn.choice_due[:, 2].nonzero().squeeze(1).tolist() == [0, 10, 17, 27]
    # Between two looks everything is held.
    goal = drawn.mind["goal"][:, 0]
    assert torch.equal(goal[0], goal[9]) and not torch.equal(goal[9], goal[10])


@torch.no_grad()
@pytest.mark.parametrize("targeting", OPTIONS["targeting"])
def test_the_order_of_objects_does_not_matter(targeting):
    net, layout = _net(targeting=targeting, tactician="self")
    views, reset = _inputs(layout, 1)
    first = net.unroll(views, net.initial_state(ROWS), reset)
    order = torch.randperm(16, generator=torch.Generator().manual_seed(3))
    packed = views.packed.clone()
    Inputs(packed, layout)["objects"].copy_(views["objects"][:, :, order].clone())
    second = net.unroll(replace(views, packed=packed), net.initial_state(ROWS), reset)
    torch.testing.assert_close(first.logits, second.logits, atol=1e-5, rtol=1e-4)
    moved = first.mind["attention"][..., :16][..., order]
    torch.testing.assert_close(moved, second.mind["attention"][..., :16], atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize(
    "options",
    [{"strategist": one} for one in STRATEGISTS] + OTHERS,
    ids=lambda o: "-".join(o.values()),
)
def test_empty_scenes_and_single_rows_give_finite_numbers_and_gradients(options):
    net, layout = _net(**options)
    net.train()
    packed = torch.zeros(12, 1, layout.size)
    reset = torch.zeros(12, 1, dtype=torch.bool)
    out = net.unroll(Inputs(packed, layout), net.initial_state(1), reset)
    assert torch.isfinite(out.logits).all() and torch.isfinite(out.values).all()
    (out.logits.sum() + out.values.sum() + out.choice_logits.sum()).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all(), name


@torch.no_grad()
def test_an_untrained_hierarchy_aims_at_its_target():
    meta = describe("hierarchy", SPEC, "slim")
    net, layout = new_net(meta), ViewLayout.of(SPEC, meta.views)
    generator = torch.Generator().manual_seed(2)
    views, reset = _inputs(layout, 1, rows=2_000)
    objects = views["objects"]
    objects[...] = 0.0
    offsets = torch.rand(2_000, 2, generator=generator) * 2 - 1
    for name, value in (("distance", 0.7), ("is_enemy", 1.0), ("visible", 1.0)):
        objects[0, :, 3, OBJECT.index(name)] = value
    objects[0, :, 3, :2] = offsets
    out = net.unroll(views, net.initial_state(2_000), reset)
    assert (out.mind["target"] == 3).float().mean() >= 0.99
    x, y = out.logits[0, :, 22:33].argmax(-1), out.logits[0, :, 33:44].argmax(-1)
    wanted = encode(Action(aim_x=offsets[:, 0].numpy(), aim_y=offsets[:, 1].numpy()))
    exact = (x.numpy() == wanted[:, 2]) & (y.numpy() == wanted[:, 3])
    centre = (wanted[:, 2] == 5) & (wanted[:, 3] == 5)
    assert exact[~centre].mean() >= 0.99


@torch.no_grad()
@pytest.mark.parametrize("strategist", STRATEGISTS)
def test_a_recalled_minute_is_the_minute_lived(strategist):
    net, layout = _net(strategist=strategist)
    views, reset = _inputs(layout, 91)
    reset[...] = False
    # Row 0 began 90 decisions ago, row 1 began 30 ago, row 2 begins now.
    reset[60, 1] = reset[90, 2] = True
    seen, _ = _walk(net, views, net.initial_state(ROWS), reset)
    history = views["summary"][0:90:PERIOD]
    valid = torch.ones(9, ROWS, dtype=torch.bool)
    valid[:6, 1] = valid[:, 2] = False
    state = net.recall(net.initial_state(ROWS), history, valid)
    one = Inputs(views.packed[90:], layout, views.chance[90:])
    out = net.unroll(one, state, reset[90:])
    torch.testing.assert_close(out.choice_logits, seen[-1].choice_logits, atol=1e-5, rtol=1e-4)


def test_the_goal_channel_carries_gradient_and_its_twin_has_none():
    for goal, expected in (("on", True), ("off", False)):
        net, layout = _net(goal=goal)
        net.train()
        views, reset = _inputs(layout, 20)
        out = net.unroll(views, net.initial_state(ROWS), reset)
        out.logits.square().sum().backward()
        moved = net.mode_goal.weight.grad
        assert (moved is not None and bool(moved.abs().sum() > 0)) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"plan": 0},
        {"plan": 7},
        {"plan": "48"},
        {"scene": 9},
        {"strategist": "oracle"},
        {"state": 17},
        {"dropout": 2.0},
        {"period": -1},
        {"extra": 1},
    ],
)
def test_a_shape_nobody_wrote_is_refused(changes):
    meta = describe("hierarchy", SPEC, "slim")
    assert isinstance(build(meta), HierarchyNet)
    with pytest.raises(BadFile):
        build(replace(meta, shape={**meta.shape, **changes}))


def test_a_shape_that_lacks_a_size_is_refused():
    meta = describe("hierarchy", SPEC, "slim")
    for name in ("plan", "scene_layers", "summary"):
        shape = {key: value for key, value in meta.shape.items() if key != name}
        with pytest.raises(BadFile, match=name):
            build(replace(meta, shape=shape))


def test_a_shape_from_before_an_option_has_what_was_usual_then():
    meta = describe("hierarchy", SPEC, "slim")
    older = {key: value for key, value in meta.shape.items() if key != "window"}
    assert shape_of(replace(meta, shape=older)) == shape_of(meta)


@torch.no_grad()
@pytest.mark.parametrize("kind", STRATEGISTS)
def test_a_clip_of_two_seconds_knows_of_two_and_a_minute_of_more(kind):
    looks = torch.randn(6, 3, 192, generator=torch.Generator().manual_seed(2))
    other = looks.clone()
    other[3] += 1.0
    none = torch.zeros(6, 3, dtype=torch.bool)
    for window, touched in (("2", [3, 4]), ("60", [3, 4, 5])):
        net, _ = _net(strategist=kind, window=window)
        state = net.strategist.initial_state(3)
        plans = [net.strategist(one, state, none, None)[0] for one in (looks, other)]
        moved = (plans[0] != plans[1]).any(-1).any(-1)
        assert moved.nonzero().flatten().tolist() == touched


@torch.no_grad()
def test_a_critic_of_the_team_moves_the_value_and_nothing_else():
    net, layout = _net(critic="team")
    views, reset = _inputs(layout, 24)
    blind = ViewLayout.of(SPEC, layout.names[:-1])
    packed = views.packed.clone()
    Inputs(packed, layout)["team"][...] += 1.0
    told = [
        net.unroll(one, net.initial_state(ROWS), reset)
        for one in (
            views,
            replace(views, packed=packed),
            replace(views, packed=views.packed[..., : blind.size], layout=blind),
        )
    ]
    for out in told[1:]:
        assert torch.equal(out.logits, told[0].logits)
        assert torch.equal(out.choices, told[0].choices)
        assert all(torch.equal(rows, told[0].state[name]) for name, rows in out.state.items())
    assert (told[1].values != told[0].values).all() and told[2].values.isnan().all()
    # Of a net that asks for no more, whatever else is shown: its value is what it was.
    own, _ = _net()
    assert own.critic_views == () and own.critic[0].in_features == net.critic[0].in_features - 128
