"""Orders are learned as goals: the probability of obeying rises; kept beside what was published."""

import numpy as np
import pytest
import torch

from levelcap.coach.orders import ORDERS
from levelcap.kit.errors import BadValue
from levelcap.kit.publish import ORDERS_FILE, verify
from levelcap.lake.shard import Shard
from levelcap.learn.imitation import orders as learning
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.play.load import NetPolicy, load_checkpoint
from levelcap.play.orders import load_orders, save_orders
from levelcap.play.record.games import record
from levelcap.world.spec import arena_spec


@pytest.fixture(autouse=True)
def few(monkeypatch):
    for name, value in (("PIECES", 2), ("LANES", 12), ("STRETCH", 10), ("LEAST", 5)):
        monkeypatch.setattr(learning, name, value)


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    place = tmp_path_factory.mktemp("orders") / "demos"
    record(["master", "veteran"], "duel", 12, 0, place, views=["summary", "body", "objects"])
    return Shard(place)


def hero(family="hierarchy"):
    meta = describe(family, arena_spec("duel"), "dummy")
    return NetPolicy(new_net(meta, 3), meta, "0" * 64)


def test_learning_raises_the_probability_of_obeying(shard):
    policy, order = hero(), ORDERS["hold position"]
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():  # away from the small first weights, where no goal changes anything
        for parameter in policy.net.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=generator)
    pieces = list(learning._pieces(policy, shard))

    def chance(vector):
        shares = []
        for piece in pieces:
            passes, counts = learning._allowed(order, piece)
            shares.append(learning._obeying(policy.net, piece, passes, vector)[counts].mean())
        return float(torch.stack(shares).mean().detach())

    nothing = torch.zeros(policy.net.goal_size)
    after = learning._tune(policy.net, pieces, order, nothing, 12)
    assert chance(after) > chance(nothing) + 0.005
    assert all(parameter.grad is None for parameter in policy.net.parameters())


def test_vectors_are_kept_beside_the_checkpoint(shard, tmp_path):
    policy = hero()
    place = tmp_path / "step"
    save_snapshot(place, weights_of(policy.net), policy.meta, "test")
    assert load_checkpoint(place).orders == ()
    found = learning.learn_orders(policy, shard, steps=1)
    assert {"explore", "go for the objective"} <= set(found) <= set(ORDERS)
    save_orders(place, found)
    verify(place)  # no part of what was published
    again = load_checkpoint(place)
    assert set(again.orders) == set(found)
    assert all(np.allclose(again.vectors[n], found[n], atol=1e-4) for n in found)
    (place / ORDERS_FILE).write_text('{"flee": [1, 2]}')
    with pytest.raises(BadValue, match="no vector of an order"):
        load_orders(place, 64)


def test_a_hero_without_a_goal_is_refused(shard):
    with pytest.raises(BadValue, match="no goal"):
        learning.learn_orders(hero("flat"), shard)


def test_a_shard_without_the_views_is_refused(tmp_path):
    record(["idle", "rookie"], "duel", 4, 0, tmp_path / "thin", views=["features"])
    with pytest.raises(BadValue, match="lacks views"):
        learning.learn_orders(hero(), Shard(tmp_path / "thin"))
