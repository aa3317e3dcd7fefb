"""`World` from outside: determinism, restarts, limits, rewards, refusals that change nothing."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import levelcap.world
from levelcap.kit import seeds
from levelcap.kit.errors import BadValue, LevelcapError, UnknownName
from levelcap.world.spec import RULESETS
from tests.world.plays import STAND, VIEWS, stand, wavering_chaser

ROOT = Path(__file__).resolve().parents[2]


def hashes(ruleset, matches, decisions, watched, **options):
    """State hashes of some matches after so many decisions of play drawn from `key`."""
    world = levelcap.world.make(ruleset, matches, seed=9, champions="random", **options)
    views = world.reset()
    for _ in range(decisions):
        views, *_ = world.step(wavering_chaser(views))
    return [world.match_hash(m) for m in watched]


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_match_is_the_same_in_any_batch_and_on_any_number_of_threads(ruleset):
    watched = [0, 7, 63]
    wide = hashes(ruleset, 1024, 100, watched, threads=2)  # duels restart within this time
    assert hashes(ruleset, 64, 100, watched, threads=1) == wide
    assert hashes(ruleset, 64, 100, watched, threads=2) == wide
    assert hashes(ruleset, 1, 100, [0]) == wide[:1]
    once = hashes(ruleset, 64, 100, watched, auto_reset=False)
    seed = seeds.match_seed(9, 7, 0)
    assert hashes(ruleset, 1, 100, [0], auto_reset=False, match_seeds=[seed]) == once[1:2]
    assert len(set(wide)) == 3


def test_a_match_is_the_same_in_another_process():
    code = (
        "import sys; from tests.world.test_interface import hashes\n"
        "sys.stdout.write(' '.join(hashes('duel', 8, 80, [0, 5]) + hashes('crown', 8, 80, [0, 5])))"
    )
    command = [sys.executable, "-c", code]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=env)
    assert found.stdout.split() == hashes("duel", 8, 80, [0, 5]) + hashes("crown", 8, 80, [0, 5])


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_restored_snapshot_goes_on_identically(ruleset):
    world = levelcap.world.make(ruleset, 20, seed=1, champions="random", views=VIEWS)
    other = levelcap.world.make(ruleset, 20, seed=1, champions="random", views=VIEWS)
    views = world.reset()
    for _ in range(120):
        views, *_ = world.step(wavering_chaser(views))
    again = other.restore(world.snapshot())
    for name in (*VIEWS, "mask", "key", "alive"):
        assert np.array_equal(views[name], again[name]), name
    for _ in range(200):
        actions = wavering_chaser(views)
        views, rewards, terminated, _, info = world.step(actions)
        again, rewards2, terminated2, _, info2 = other.step(actions)
        assert np.array_equal(rewards, rewards2) and np.array_equal(terminated, terminated2)
        assert np.array_equal(info["active"], info2["active"])
    assert [world.match_hash(m) for m in range(20)] == [other.match_hash(m) for m in range(20)]


def test_reset_starts_every_match_over():
    world = levelcap.world.make("duel", 4, seed=2)
    first = {name: array.copy() for name, array in world.reset().items()}
    for _ in range(700):
        world.step(stand(world))
    again = world.reset()
    for name, array in first.items():
        assert np.array_equal(array, again[name]), name


def test_a_finished_match_restarts_at_once_from_the_next_seed():
    world = levelcap.world.make("duel", 6, seed=3, views=VIEWS)
    views = world.reset()
    assert views["reset"].all()
    restarts = np.zeros(6, int)
    for _ in range(800):
        views, _, terminated, _, info = world.step(wavering_chaser(views))
        restarts += info["ended"]
        assert np.array_equal(views["reset"], np.repeat(info["ended"][:, None], 2, axis=1))
        assert np.array_equal(terminated.any(1), info["ended"])
        assert info["active"].all()
        for m in np.flatnonzero(info["ended"]):
            seed = seeds.match_seed(3, int(m), int(restarts[m]))
            assert int(world.state["seed"][m]) == seed
            fresh = levelcap.world.make("duel", 1, match_seeds=[seed], views=VIEWS)
            start = fresh.reset()
            assert fresh.match_hash(0) == world.match_hash(m)
            for name in (*VIEWS, "mask", "key", "alive", "reset"):
                assert np.array_equal(start[name][0], views[name][m]), name
    assert restarts.min() > 0


def test_keys_are_new_for_every_seat_and_decision():
    world = levelcap.world.make("lms", 8, seed=1)
    seen = [world.reset()["key"].copy()]
    for _ in range(20):
        seen.append(world.step(stand(world))[0]["key"].copy())
    assert len(np.unique(np.concatenate(seen))) == 21 * 80


def test_without_restarts_a_finished_match_waits():
    world = levelcap.world.make("duel", 2, seed=3, auto_reset=False)
    views = world.reset()
    ends = np.zeros(2, int)
    for _ in range(700):
        views, rewards, terminated, _, info = world.step(wavering_chaser(views))
        ends += info["ended"]
    assert ends.tolist() == [1, 1]
    before = [world.match_hash(m) for m in range(2)]
    _, rewards, terminated, truncated, info = world.step(wavering_chaser(views))
    assert not rewards.any() and not terminated.any() and not truncated.any()
    assert not info["active"].any() and not info["ended"].any()
    assert [world.match_hash(m) for m in range(2)] == before


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_callers_limit_truncates_and_hands_over_the_last_views(ruleset):
    limited = levelcap.world.make(ruleset, 5, seed=4, max_decisions=30, views=VIEWS)
    free = levelcap.world.make(ruleset, 5, seed=4, views=VIEWS)
    views, _ = limited.reset(), free.reset()
    for decision in range(1, 31):
        actions = wavering_chaser(views)
        last, _, ended_there, _, _ = free.step(actions)
        views, rewards, terminated, truncated, info = limited.step(actions)
        if decision < 30:
            assert not truncated.any() and info["final"] is None
    assert not terminated.any() and not ended_there.any()
    assert truncated.all() and info["ended"].all() and not rewards.any()
    rows = info["final_rows"]
    assert len(rows) == truncated.size
    for name in (*VIEWS, "mask", "key", "alive", "reset"):
        assert np.array_equal(info["final"][name], last[name][rows[:, 0], rows[:, 1]]), name
    assert views["reset"].all() and (limited.state["decision"] == 0).all()
    assert (limited.state["restart"] == 1).all()


def test_a_limit_without_restarts_stops_the_match():
    world = levelcap.world.make("duel", 2, seed=4, max_decisions=10, auto_reset=False)
    world.reset()
    for _ in range(10):
        _, _, _, truncated, info = world.step(stand(world))
    assert truncated.all() and info["ended"].all()
    before = [world.match_hash(m) for m in range(2)]
    _, _, _, truncated, info = world.step(stand(world))
    assert not truncated.any() and not info["ended"].any() and not info["active"].any()
    assert [world.match_hash(m) for m in range(2)] == before


def test_slow_seats_are_asked_when_due_and_hold_their_action_between():
    world = levelcap.world.make("duel", 1, seat_ticks=[3, 9])
    world.reset()
    due, held = [], []
    for decision in range(6):
        actions = stand(world)
        actions[..., 0] = decision
        due.append(world.buffers.due[0].tolist())
        _, _, _, _, info = world.step(actions)
        held.append(info["actions"][0, :, 0].tolist())
    assert due == [[True, True], [True, False], [True, False]] * 2
    assert held == [[0, 0], [1, 0], [2, 0], [3, 3], [4, 3], [5, 3]]


@pytest.mark.parametrize("ruleset", ["duel", "crown"])
def test_an_action_held_on_a_finer_grid_does_the_same(ruleset):
    # Masks are those at the seat's own decision, whatever the grid of the match.
    options = {"seed": 5, "champions": "random", "auto_reset": False}
    coarse = levelcap.world.make(ruleset, 32, decision_ticks=6, **options)
    players = coarse.spec.num_players
    fine = levelcap.world.make(ruleset, 32, decision_ticks=3, seat_ticks=[6] * players, **options)
    views, _ = coarse.reset(), fine.reset()
    for _ in range(100):
        actions = wavering_chaser(views)
        actions[..., 4] = 1
        views, *_ = coarse.step(actions)
        fine.step(actions)
        fine.step(np.zeros_like(actions))
        for name in ("x", "y", "hp", "ammo", "num_shots", "fire_wait"):
            assert np.array_equal(coarse.state[name], fine.state[name]), name


def altered(world, **fields):
    """Restore the world's state with some fields of the first match replaced."""
    state = world.snapshot()
    for name, value in fields.items():
        state[name][0] = value
    world.restore(state)


def test_in_lms_the_fallen_end_once_and_the_last_one_wins():
    world = levelcap.world.make("lms", 1, auto_reset=False)
    world.reset()
    hp = np.arange(1, 11) * 10_000
    altered(world, tick=world.rules.zone_close, hp=hp, x=30.0, y=np.arange(10) * 4 - 18)
    ends, total = np.zeros(10, int), np.zeros(10)
    active = np.ones(10, bool)
    while not world.state["over"][0]:
        _, rewards, terminated, _, info = world.step(stand(world))
        assert not rewards[0][~active].any() and not terminated[0][~active].any()
        active &= ~terminated[0]
        ends += terminated[0]
        total += rewards[0]
        if not info["ended"][0]:
            assert np.array_equal(info["active"][0], active)
    assert ends.tolist() == [1] * 10
    assert total.tolist() == [-1] * 9 + [1]


@pytest.mark.parametrize("draw", [0.0, -0.5])
def test_both_dead_in_one_tick_is_a_draw(draw):
    world = levelcap.world.make("duel", 1, auto_reset=False, draw_reward=draw)
    world.reset()
    altered(world, tick=world.rules.zone_close, hp=1)
    _, rewards, terminated, _, info = world.step(stand(world))
    assert info["winner"][0] == -1 and terminated.all()
    assert rewards.tolist() == [[draw, draw]]


@pytest.mark.parametrize("hp, winner", [((50, 20), 0), ((20, 50), 1), ((20, 20), -1)])
def test_at_the_time_limit_more_hp_wins_a_duel(hp, winner):
    world = levelcap.world.make("duel", 1, auto_reset=False, decision_ticks=1)
    world.reset()
    altered(world, tick=world.rules.time_limit - 1, hp=np.array(hp) * 1000)
    _, rewards, terminated, truncated, info = world.step(stand(world))
    assert terminated.all() and not truncated.any() and info["winner"][0] == winner
    assert rewards[0].tolist() == [[0, 0], [1, -1], [-1, 1]][winner + 1]


def test_a_team_is_rewarded_dead_or_alive():
    world = levelcap.world.make("crown", 1, auto_reset=False)
    world.reset()
    alive = np.ones(10)
    alive[[1, 7]] = 0
    x = world.state["x"][0].copy()
    x[0] = 0.0
    altered(
        world,
        score=[world.rules.crown_goal - 1, 0],
        alive=alive,
        x=x,
        hp=world.state["hp"][0] * alive,
        respawn=100 * (1 - alive),
    )
    _, rewards, terminated, _, info = world.step(stand(world))
    assert info["winner"][0] == 0 and terminated.all()
    assert rewards[0].tolist() == [1.0] * 5 + [-1.0] * 5


def duel_at_arms_length(scale):
    world = levelcap.world.make("duel", 1, pseudo_reward_scale=scale, decision_ticks=6)
    world.reset()
    altered(world, x=[0, 0], y=[0, -3], dir_x=0, dir_y=[-1, 1])
    actions = stand(world)
    actions[0, 0, 4] = 1
    return world.step(actions)[1][0].tolist()


def test_pseudo_rewards_are_off_until_asked_for():
    assert duel_at_arms_length(0.0) == [0, 0]
    # One shot of 10 hp: 0.5 per 100 hp, for the one and against the other.
    assert duel_at_arms_length(0.1) == pytest.approx([0.005, -0.005])


def test_pseudo_rewards_are_half_own_and_half_the_teams():
    options = {"pseudo_reward_scale": 1.0, "decision_ticks": 6, "champions": "base"}
    world = levelcap.world.make("crown", 1, **options)
    world.reset()
    x, y = world.state["x"][0].copy(), world.state["y"][0].copy()
    x[[0, 5]], y[[0, 5]] = [20, 20], [9, 6]
    altered(world, x=x, y=y, dir_x=0, dir_y=-1)
    actions = stand(world)
    actions[0, 0, 4] = 1
    rewards = world.step(actions)[1][0]
    assert world.state["hp"][0, 5] == 90_000
    assert rewards[:5].tolist() == pytest.approx([0.03] + [0.005] * 4)
    assert rewards[5:].tolist() == pytest.approx([-0.03] + [-0.005] * 4)


def noon(world):
    """A world in the middle of play, and its hashes."""
    views = world.reset()
    for _ in range(30):
        views, *_ = world.step(wavering_chaser(views))
    return [world.match_hash(m) for m in range(world.num_matches)]


BAD_ACTIONS = [
    (lambda a: a[:2], "wrong shape"),
    (lambda a: a[..., :6], "wrong shape"),
    (lambda a: a[0], "wrong shape"),
    (lambda a: a.astype(np.float32), "wrong dtype; got 'float32'"),
    (lambda a: a.astype(bool), "wrong dtype"),
    (lambda a: a.astype(object), "wrong dtype"),
    (lambda a: a.astype(str), "wrong dtype"),
    (
        lambda a: np.where(np.arange(7) == 3, np.nan, a),
        "aim_y of match 0, player 0 is not a number",
    ),
    (lambda a: np.where(np.arange(7) == 2, np.inf, a), "aim_x of match 0, player 0"),
    (lambda a: a + np.array([11, 0, 0, 0, 0, 0, 0]), "move_x of match 0, player 0 is out of range"),
    (lambda a: a - np.array([0, 0, 0, 0, 1, 0, 0]), "fire of match 0, player 0 .*got -1"),
    (lambda a: a.astype(np.int64) + 2**40, "out of range"),
    (lambda a: None, "wrong shape"),
]


@pytest.mark.parametrize("spoil, words", BAD_ACTIONS)
def test_bad_actions_are_named_and_change_nothing(spoil, words):
    world = levelcap.world.make("duel", 3, seed=1)
    before = noon(world)
    with pytest.raises(BadValue, match=words) as caught:
        world.step(spoil(stand(world).astype(np.int64)))
    assert "got " in str(caught.value) and "Give " in str(caught.value)
    assert [world.match_hash(m) for m in range(3)] == before


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"ruleset": "duell"}, UnknownName, "Did you mean 'duel'"),
        ({"patch": "1.O"}, UnknownName, r"Did you mean '1\.[01]'"),
        ({"views": ("feature",)}, UnknownName, "Did you mean 'features'"),
        ({"champions": "Warder"}, UnknownName, "Did you mean 'Warden'"),
        ({"champions": ("Warden",)}, BadValue, "line-up of the wrong length"),
        ({"num_matches": 0}, BadValue, "num_matches"),
        ({"num_matches": 1.5}, BadValue, "num_matches"),
        ({"decision_ticks": 0}, BadValue, "decision_ticks"),
        ({"seed": -1}, BadValue, "seed"),
        ({"max_decisions": 0}, BadValue, "max_decisions"),
        ({"max_decisions": -5}, BadValue, "max_decisions"),
        ({"threads": -1}, BadValue, "threads"),
        ({"seat_ticks": [3, 4]}, BadValue, "seat_ticks"),
        ({"seat_ticks": [3, 0]}, BadValue, "seat_ticks"),
        ({"seat_ticks": [3]}, BadValue, "seat_ticks"),
        ({"seat_ticks": [3.5, 3]}, BadValue, "seat_ticks"),
        ({"match_seeds": [1, 2]}, BadValue, "match_seeds"),
        ({"match_seeds": [-1]}, BadValue, "match_seeds"),
        ({"match_seeds": [0.5]}, BadValue, "match_seeds"),
        ({"pseudo_reward_scale": float("nan")}, BadValue, "pseudo_reward_scale"),
        ({"draw_reward": float("inf")}, BadValue, "draw_reward"),
    ],
)
def test_a_wrong_option_is_refused_by_name(options, error, words):
    with pytest.raises(error, match=words):
        levelcap.world.make(**{"ruleset": "duel", "num_matches": 1, **options})


def test_a_step_before_the_first_reset_is_refused():
    world = levelcap.world.make("duel", 1)
    with pytest.raises(BadValue, match="Call reset"):
        world.step(stand(world))


def test_a_snapshot_of_another_world_is_refused_and_changes_nothing():
    world = levelcap.world.make("siege", 3, seed=1)
    before = noon(world)
    for ruleset, matches in (("duel", 3), ("siege", 1), ("siege", 4)):
        other = levelcap.world.make(ruleset, matches)
        other.reset()
        with pytest.raises(LevelcapError):
            world.restore(other.snapshot())
    assert [world.match_hash(m) for m in range(3)] == before


def test_the_base_line_up_has_no_abilities_and_random_ones_are_the_same_for_both_teams():
    duel = levelcap.world.make("duel", 3)
    assert not duel.reset()["mask"][..., 47:50].any()
    crown = levelcap.world.make("crown", 20)
    crown.reset()
    line_up = crown.state["champion"]
    assert np.array_equal(line_up[:, :5], line_up[:, 5:]) and (line_up > 0).all()
    assert all(len(set(row[:5])) == 5 for row in line_up.tolist())
    assert len(np.unique(line_up, axis=0)) > 10
    assert STAND.tolist() == [5, 5, 5, 5, 0, 0, 0]
