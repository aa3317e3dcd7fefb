"""60 ticks a second: the same game in seconds, under another name, mixed with the other nowhere."""

import numpy as np
import pytest

import levelcap.world
from levelcap.kit.errors import BadFile, BadValue, UnknownName
from levelcap.kit.files import dump_line, parse_json
from levelcap.play.matchup import play_games
from levelcap.play.roster import find
from levelcap.world.protocols import ticks_of
from levelcap.world.replay import Recorder, load
from levelcap.world.replay_file import _checksum
from levelcap.world.rules.patches import load_patch
from levelcap.world.rules.rulebook import build_rules
from levelcap.world.spec import RULESETS, WORLDS, arena_spec, split_world, world_name
from tests.world.plays import stand, wavering_chaser

RATES = (30, 60)


def make(ruleset, hz, matches=1, **options):
    options = {"auto_reset": False, "champions": "base", "tick_hz": hz, **options}
    world = levelcap.world.make(ruleset, matches, **options)
    world.reset()
    return world


def pass_seconds(world, seconds, actions=None):
    """Repeat one action; the world after so many seconds."""
    views = None
    for _ in range(round(seconds * world.spec.tick_hz / world.decision_ticks)):
        views, *_ = world.step(stand(world) if actions is None else actions)
    return views


def test_a_rate_is_part_of_the_name_and_of_the_spec():
    assert [world_name("siege", hz) for hz in RATES] == ["siege", "siege-60hz"]
    assert split_world("siege-60hz") == ("siege", 60) and split_world("siege") == ("siege", 30)
    assert split_world("gym:Odd-60hz") == ("gym:Odd-60hz", 30)
    assert WORLDS[:4] == RULESETS
    for hz, name in ((30, "duel"), (60, "duel-60hz")):
        for world in (make("duel", hz), levelcap.world.make(name)):
            assert (world.spec.name, world.spec.tick_hz, world.ruleset) == (name, hz, "duel")
            assert world.spec.ruleset == "duel" and world.decision_ticks == hz // 10
        assert arena_spec(name).tick_hz == hz and arena_spec(name).gamma == 0.99


@pytest.mark.parametrize("name, hz", [("duel", 45), ("duel", 0), ("duel-60hz", 30)])
def test_another_rate_is_refused(name, hz):
    with pytest.raises(BadValue, match=rf"tick_hz.*{hz}.*30, 60"):
        levelcap.world.make(name, tick_hz=hz)
    with pytest.raises(UnknownName, match="duel-60hz"):
        levelcap.world.make("duel-90hz")


@pytest.mark.parametrize("ruleset", RULESETS)
def test_whatever_lasts_lasts_as_many_seconds(ruleset):
    slow, fast = (build_rules(load_patch("1.0"), ruleset, hz)._asdict() for hz in RATES)
    twice = (
        "tick_hz think_ticks dash_ticks early_ticks remember_ticks age_ticks own_pace object_pace "
        "time_limit reload_ticks respawn_ticks respawn_per_min invulnerable_ticks zone_close "
        "item_every decay_from creep_every champ_cooldown ability_cooldown shot_life"
    ).split()
    half = (
        "shot_speed zone_damage tower_damage tower_ramp decay creep_speed creep_damage "
        "creep_structure_damage crown_heal champ_speed"
    ).split()
    for name, value in slow.items():
        other = np.asarray(fast[name], float)
        if name in twice:
            # A duration between two ticks may end one tick earlier.
            assert np.abs(other - 2 * np.asarray(value)).max() <= 1, name
        elif name in half:
            assert np.abs(2 * other - np.asarray(value)).max() <= 1 + 1e-9, name
        elif name == "zone_growth":
            assert other == pytest.approx(value / 4)
        else:
            assert np.array_equal(other, np.asarray(value)), name


def test_a_second_of_walking_and_shooting_is_the_same_at_both_rates():
    seen = []
    for hz in RATES:
        world = make("duel", hz, views=("features", "objects", "body"))
        state = world.snapshot()
        state["x"], state["y"] = [[-9, 9]], [[0, 0]]
        world.restore(state)
        actions = stand(world)
        actions[0, 0] = [10, 5, 10, 5, 1, 0, 0]  # run to the enemy and fire
        views = pass_seconds(world, 1.0, actions)
        seen.append((world.state[0].copy(), {n: a[0, 0].copy() for n, a in views.items()}))
    (slow, a), (fast, b) = seen
    assert slow["x"][0] == pytest.approx(fast["x"][0]) == pytest.approx(-4)
    assert slow["ammo"][0] == fast["ammo"][0] == 25  # one shot every 0.2 s
    assert slow["zone"][2] == pytest.approx(fast["zone"][2], abs=0.05)
    assert a["features"] == pytest.approx(b["features"], abs=0.02)  # velocities are per second
    assert a["body"] == pytest.approx(b["body"], abs=0.2)


def test_what_was_seen_ages_in_seconds_and_is_forgotten_after_ten():
    for hz in RATES:
        world = make("duel", hz, views=("objects",))
        state = world.snapshot()
        state["x"], state["y"] = [[5.5, 5.5]], [[0, 3.4]]
        world.restore(state)
        pass_seconds(world, 0.1)
        state = world.snapshot()
        state["y"] = [[0, 8]]
        world.restore(state)
        age = pass_seconds(world, 5.0)["objects"][0, 0, 0, 13]
        assert age == pytest.approx(1.0)
        assert not pass_seconds(world, 5.5)["objects"][0, 0, 0].any()


def test_a_crown_held_for_five_seconds_scores_five_points():
    for hz in RATES:
        world = make("crown", hz)
        state = world.snapshot()
        state["x"][0, 0] = state["y"][0, 0] = 0
        world.restore(state)
        pass_seconds(world, 5.0)
        assert world.state["score"][0].tolist() == [pytest.approx(5000, abs=40), 0]


@pytest.mark.parametrize("ruleset", ["duel", "siege"])
def test_bots_decide_ten_times_a_second_at_both_rates(ruleset):
    for hz in RATES:
        assert ticks_of(find("master"), hz) == hz // 10
    lengths = []
    for name in (ruleset, f"{ruleset}-60hz"):
        games = 40 if ruleset == "duel" else 2
        result = play_games(find("veteran"), find("rookie"), name, games, seed=1)
        lengths.append(result.lengths.mean() / arena_spec(name).tick_hz)
        assert result.win_rate >= 0.5
    assert lengths[1] == pytest.approx(lengths[0], rel=0.35)


def replay_of(world):
    views, recorder = world.reset(), Recorder(world)
    while recorder.record(world.step(wavering_chaser(views))[4]):
        views = world.observe()
    return recorder


def test_a_replay_says_its_rate_and_is_played_at_it(tmp_path):
    world = levelcap.world.make("duel", 1, seed=2, tick_hz=60, auto_reset=False)
    path = replay_of(world).save(tmp_path / "m.lcr")
    found = load(path)
    assert (found.header["ruleset"], found.header["tick_hz"]) == ("duel", 60)
    assert found.world().spec.name == "duel-60hz" and found.check() == len(found.actions)


def rewritten(path, **changes):
    """The replay with a changed header (None: without that key), signed anew."""
    line, body = path.read_bytes().split(b"\n", 1)
    header = {**parse_json(line), **changes}
    header = {key: value for key, value in header.items() if value is not None}
    header["checksum"] = _checksum(header, body)
    path.write_bytes(dump_line(header) + body)
    return path


def test_a_replay_without_a_rate_was_played_at_thirty(tmp_path):
    path = replay_of(levelcap.world.make("duel", 1, seed=2, auto_reset=False)).save(tmp_path / "m")
    with pytest.raises(BadFile, match="tick_hz"):
        load(rewritten(path, tick_hz=45))
    found = load(rewritten(path, tick_hz=None))
    assert found.header["tick_hz"] == 30 and found.check() > 0
