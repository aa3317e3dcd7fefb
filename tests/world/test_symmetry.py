"""Swapping sides mirrors a match bit for bit: negate what has a direction, exchange the teams."""

import numpy as np
import pytest

import levelcap.world
from levelcap.world.rules.state import FIELDS
from tests.world.plays import VIEWS, noisy_chaser, stand

TWO_TEAMS = ("duel", "siege", "crown")
NEGATED = {
    "x", "y", "vx", "vy", "dir_x", "dir_y", "move_x", "move_y", "aim_x", "aim_y", "dash_x",
    "dash_y", "ward_x", "ward_y", "creep_x", "creep_y", "creep_vx", "creep_vy", "seen_x", "seen_y",
    "seen_vx", "seen_vy", "shot_x", "shot_y", "shot_vx", "shot_vy", "item_x", "item_y", "stand",
    "leader",
}  # fmt: skip
SHOT = [name for name in FIELDS if name.startswith("shot_")]
ITEM = ["item_kind", "item_x", "item_y"]


def exchanged(rules):
    """Seats with the two teams exchanged."""
    return np.roll(np.arange(rules.num_players), rules.team_size)


def _targets(codes, rules):
    """Target codes (player, 100 + creep, 200 + structure) of the other side."""
    seats, half = exchanged(rules), rules.creep_most
    swapped = codes.copy()
    player = (codes >= 0) & (codes < 100)
    swapped[player] = seats[codes[player]]
    creep = (codes >= 100) & (codes < 200)
    swapped[creep] = 100 + (codes[creep] - 100 + half) % (2 * half)
    tower = codes >= 200
    swapped[tower] = 200 + (codes[tower] - 200 + 3) % 6
    return swapped


def _mirrored_field(state, name, rules):
    letters, values, seats = FIELDS[name][0], state[name], exchanged(rules)
    if name in NEGATED:
        values = -values
    if name in ("creep_target", "tower_target"):
        values = _targets(values, rules)
    if name == "shot_owner":
        return seats[values]
    if name == "winner":
        return np.where(values >= 0, 1 - values, values)
    if name == "zone":
        return values * np.array([-1.0, -1.0, 1.0])
    if name == "score":
        return values[:, ::-1]
    if letters.startswith("TP"):
        values = values.copy()
        values[:, :2] = values[:, 1::-1][:, :, seats]
    elif letters.startswith("P"):
        values = values[:, seats]
    elif letters == "C":
        values = np.roll(values, values.shape[1] // 2, axis=1)
    elif letters == "6":
        values = np.roll(values, 3, axis=1)
    return values


def mirror(state, rules):
    """The same matches seen in the mirror."""
    other = state.copy()
    for name in FIELDS:
        other[name] = _mirrored_field(state, name, rules)
    return other


def _sorted_rows(state, names, live):
    """Columns of things whose order carries no meaning, sorted; dead slots read zero."""
    columns = np.stack([np.where(live, state[n], 0) for n in names]) + 0.0
    order = np.lexsort(columns, axis=-1)
    return np.stack([np.take_along_axis(c, order, -1) for c in columns])


def assert_same(one, two):
    """Equal states, up to the order of shots and items (and the sign of zero)."""
    for name in FIELDS:
        if name not in SHOT and name not in ITEM:
            assert np.array_equal(one[name], two[name]), name
    slots = np.arange(one["shot_x"].shape[1])
    for names, live_one, live_two in (
        (SHOT, slots < one["num_shots"][:, None], slots < two["num_shots"][:, None]),
        (ITEM, one["item_kind"] > 0, two["item_kind"] > 0),
    ):
        rows = _sorted_rows(one, names, live_one), _sorted_rows(two, names, live_two)
        assert np.array_equal(*rows), names


def play_mirrored(ruleset, matches, decisions, seed, champions="random", start=0, views=VIEWS):
    """Play `matches` matches and their mirror images side by side, comparing as they go."""
    options = {"seed": seed, "champions": champions, "auto_reset": False, "views": views}
    world = levelcap.world.make(ruleset, matches, **options)
    image = levelcap.world.make(ruleset, matches, **options)
    seats = exchanged(world.rules)
    rng = np.random.default_rng(seed)
    seen = world.reset()
    for _ in range(start):
        seen, *_ = world.step(noisy_chaser(rng, seen))
    image.restore(mirror(world.snapshot(), world.rules))
    for decision in range(decisions):
        actions = noisy_chaser(rng, seen)
        seen, rewards, terminated, _, info = world.step(actions)
        seen_there, rewards_there, terminated_there, _, there = image.step(actions[:, seats])
        for name in (*views, "mask", "alive"):
            assert np.array_equal(seen[name][:, seats], seen_there[name]), (decision, name)
        assert np.array_equal(rewards[:, seats], rewards_there)
        assert np.array_equal(terminated[:, seats], terminated_there)
        if decision % 10 == 9 or info["ended"].any():
            assert_same(mirror(world.state, world.rules), image.state)
        assert np.array_equal(info["ended"], there["ended"])
        if world.state["over"].all():
            break
    return world


@pytest.mark.parametrize("ruleset", TWO_TEAMS)
def test_a_match_starts_as_its_own_mirror_image(ruleset):
    world = levelcap.world.make(ruleset, 16, champions="random", seed=5)
    world.reset()
    assert_same(mirror(world.state, world.rules), world.state)


@pytest.mark.parametrize("ruleset", TWO_TEAMS)
def test_exchanged_actions_give_the_mirrored_match(ruleset):
    play_mirrored(ruleset, matches=67, decisions=200, seed=11)


@pytest.mark.parametrize("ruleset", TWO_TEAMS)
def test_a_match_mirrored_half_way_goes_on_mirrored(ruleset):
    play_mirrored(ruleset, matches=16, decisions=100, seed=12, start=400)


@pytest.mark.soak
@pytest.mark.parametrize("ruleset", TWO_TEAMS)
def test_a_thousand_whole_matches_end_mirrored(ruleset):
    world = play_mirrored(ruleset, matches=1000, decisions=3100, seed=13, views=("features",))
    assert world.state["over"].all()


def edited(world, **fields):
    """The world after one motionless decision from its present state with some fields replaced."""
    state = world.snapshot()
    for name, value in fields.items():
        state[name][0] = value
    world.restore(state)
    views, *_ = world.step(stand(world))
    return views


def test_a_player_on_the_middle_line_sees_structures_in_the_mirrored_order():
    # Both outer towers are equally far away: the tie must not be broken by absolute side.
    world = levelcap.world.make("siege", 1, views=("objects",), decision_ticks=1, champions="base")
    world.reset()
    x, y = world.state["x"][0].copy(), world.state["y"][0].copy()
    x[0], y[0], x[5], y[5] = 0.0, 3.0, 0.0, -3.0
    views = edited(world, x=x, y=y)
    assert np.array_equal(views["objects"][0, 0, 9:12], views["objects"][0, 5, 9:12])


def test_a_player_between_two_paired_items_sees_them_in_the_mirrored_order():
    world = levelcap.world.make("crown", 1, views=VIEWS, decision_ticks=1, champions="base")
    world.reset()
    x, y = world.state["x"][0].copy(), world.state["y"][0].copy()
    x[0] = x[5] = y[0] = y[5] = 0.0
    kind = [1, 1, 0, 0, 0]
    views = edited(
        world, x=x, y=y, item_kind=kind, item_x=[3, -3, 0, 0, 0], item_y=[1, -1, 0, 0, 0]
    )
    assert views["features"][0, 0, 13] == views["features"][0, 5, 13] != 0
    assert np.array_equal(views["objects"][0, 0, 12:14], views["objects"][0, 5, 12:14])


def hp_after_blast(blaster, fresh):
    """A blast lands in the tick in which its protected victim fires; the victim's hp after it."""
    world = levelcap.world.make("crown", 1, decision_ticks=1, champions="Bombard")
    world.reset()
    x, y = world.state["x"][0].copy(), world.state["y"][0].copy()
    x[blaster], y[blaster], x[fresh], y[fresh] = 0.0, -3.0, 0.0, 3.0
    state = world.snapshot()
    state["x"][0], state["y"][0] = x, y
    state["invulnerable"][0, fresh] = 30
    world.restore(state)
    actions = stand(world)
    ahead = 8 if blaster == 0 else 2  # three aim bins of 2 units, in the viewer's frame
    actions[0, blaster] = [5, 5, 5, ahead, 0, 1, 0]
    actions[0, fresh, 4] = 1
    world.step(actions)
    assert world.state["wait"][0, blaster, 0] > 0
    return world.state["hp"][0, fresh]


def test_firing_ends_protection_at_the_same_moment_for_either_side():
    # Before or after the blast of the same tick, but not depending on the lower seat number.
    assert hp_after_blast(0, 5) == hp_after_blast(5, 0)
