"""Nets on disk: whole, verified, rebuilt without guessing; and at the table like any policy."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import levelcap.world
from levelcap.kit.errors import BadFile, Conflict, Corrupt, LevelcapError, UnknownName
from levelcap.nets.checkpoint import load_snapshot, read_meta, save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.nets.flat import SIZES
from levelcap.nets.meta import check_fits, meta_from_json
from levelcap.nets.net import count_parameters
from levelcap.play.load import NetPolicy, load_checkpoint
from levelcap.play.matchup import play_games
from levelcap.play.roster import find
from levelcap.play.seats import Seats
from levelcap.world.spec import RULESETS, arena_spec


@pytest.fixture
def saved(tmp_path):
    meta = describe("flat", arena_spec("duel"), "dummy")
    net = new_net(meta, seed=3)
    save_snapshot(tmp_path / "snap-1", weights_of(net), meta, "test")
    return tmp_path / "snap-1", net, meta


def test_a_loaded_net_computes_the_same(saved):
    folder, net, meta = saved
    again, found, digest = load_snapshot(folder)
    assert found == meta and len(digest) == 64
    rows = torch.randn(5, meta.input_size)
    for one, two in zip(net(rows), again(rows), strict=True):
        assert torch.equal(one, two)


def test_the_sizes_are_what_they_say():
    counts = {
        size: count_parameters(new_net(describe("flat", arena_spec("duel"), size)))
        for size in SIZES
    }
    # 371*128+128 + 128*128+128 + 128*52+52 + 128+1, worked by hand.
    assert counts["slim"] == 47616 + 16512 + 6708 + 129
    # With features alone the first layer is 19*128+128.
    narrow = describe("flat", arena_spec("duel"), "slim", views=("features",))
    assert count_parameters(new_net(narrow)) == 2560 + 16512 + 6708 + 129
    with pytest.raises(UnknownName, match="features"):
        describe("flat", arena_spec("duel"), "slim", views=("feature",))
    with pytest.raises(UnknownName, match="team"):  # a critic's view, not a player's
        describe("flat", arena_spec("duel"), "slim", views=("features", "team"))
    secret = replace(describe("flat", arena_spec("duel"), "slim"), views=("team",))
    with pytest.raises(BadFile, match=r"views.*team"):
        check_fits(secret, arena_spec("duel"))
    assert counts["dummy"] < counts["slim"] < counts["full"]
    assert describe("flat", arena_spec("siege")).input_size == 371
    with pytest.raises(UnknownName, match="slim"):
        describe("flat", arena_spec("duel"), "slm")


def test_every_flipped_byte_is_seen(saved):
    folder, _, _ = saved
    rng = np.random.default_rng(0)
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        for _ in range(25):
            data = bytearray(whole)
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
            path.write_bytes(data)
            with pytest.raises(LevelcapError):
                load_snapshot(folder)
        path.write_bytes(whole[:-1])
        with pytest.raises(LevelcapError):
            load_snapshot(folder)
        path.write_bytes(whole)
    load_snapshot(folder)


def test_weights_that_are_not_finite_are_never_published(tmp_path):
    meta = describe("flat", arena_spec("duel"), "dummy")
    weights = weights_of(new_net(meta))
    weights["policy.bias"][3] = float("nan")
    with pytest.raises(Corrupt, match=r"policy\.bias"):
        save_snapshot(tmp_path / "bad", weights, meta, "test")
    assert not [path for path in tmp_path.iterdir() if path.name != "home"]


def test_a_snapshot_is_never_overwritten(saved):
    folder, net, meta = saved
    with pytest.raises(Conflict):
        save_snapshot(folder, weights_of(net), meta, "test")


def test_a_wrong_meta_is_refused_with_its_key(saved):
    folder, _, meta = saved
    values = meta.as_json()
    assert meta_from_json(values, "here") == meta == read_meta(folder)
    for change in ({"extra": 1}, {"meta_version": 9}):
        with pytest.raises(BadFile, match=r"extra|version"):
            meta_from_json({**values, **change}, "here")
    with pytest.raises(BadFile, match="steps"):
        meta_from_json({k: v for k, v in values.items() if k != "steps"}, "here")
    with pytest.raises(BadFile, match="no such checkpoint"):
        load_snapshot(folder / "nowhere")
    (folder / "snapshots").mkdir()
    with pytest.raises(BadFile, match="inside its snapshots"):
        load_snapshot(folder)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_net_plays_every_ruleset(ruleset):
    meta = describe("flat", arena_spec(ruleset), "dummy")
    policy = NetPolicy(new_net(meta), meta, "0" * 64)
    world = levelcap.world.make(ruleset, 3, views=meta.views, seed=1)
    players = world.spec.num_players
    table, views = Seats(world, [policy], np.zeros((3, players), int)), world.reset()
    offsets = np.array(world.spec.head_offsets)
    for _ in range(40):
        actions = table.act(views)
        allowed = np.take_along_axis(views["mask"], actions + offsets, 2)
        assert (allowed == 1).all()
        views = world.step(actions)[0]


def test_a_net_refuses_a_world_it_was_not_made_for(saved):
    folder, _, _ = saved
    policy = load_checkpoint(folder)
    with pytest.raises(BadFile, match="plays duel"):
        policy.bind(levelcap.world.make("gym:CartPole-v1", 1))


def test_a_net_plays_at_the_tick_rate_it_was_made_for_only():
    slow, fast = (describe("flat", arena_spec(name), "dummy") for name in ("duel", "duel-60hz"))
    assert [(m.tick_hz, m.decision_ticks) for m in (slow, fast)] == [(30, 3), (60, 6)]
    assert meta_from_json(fast.as_json(), "here") == fast
    check_fits(fast, arena_spec("duel-60hz"))
    for meta, name in ((slow, "duel-60hz"), (fast, "duel")):
        with pytest.raises(BadFile, match=f"ticks a second.*--tick-hz {meta.tick_hz}"):
            check_fits(meta, arena_spec(name))
        with pytest.raises(BadFile, match="ticks a second"):
            play_games(NetPolicy(new_net(meta), meta, "0" * 64), find("idle"), name, 2)
    policy = NetPolicy(new_net(fast), fast, "0" * 64)
    assert play_games(policy, find("idle"), "duel-60hz", 2).games == 2


def test_a_checkpoint_plays_against_a_bot(saved):
    folder, _, _ = saved
    result = play_games(load_checkpoint(folder), find("idle"), "duel", 4, seed=1)
    assert result.games == 4
    again = play_games(load_checkpoint(folder), find("idle"), "duel", 4, seed=1)
    assert (result.scores == again.scores).all()
