"""What players see, on states made by hand. Duel walls used here: x 3-8, y 4-6 (and mirrored)."""

import numpy as np
import pytest

import levelcap.world
from levelcap.world.spec import CONTEXT, FEATURES, OBJECT, OBJECT_CLASSES, PLAYER, RULESETS
from tests.world.plays import VIEWS, noisy_chaser, stand

COLUMNS = {"features": FEATURES, "player": PLAYER, "objects": OBJECT, "context": CONTEXT}


def make(ruleset="duel", **options):
    options = {"views": VIEWS, "decision_ticks": 1, "auto_reset": False, **options}
    world = levelcap.world.make(ruleset, 1, **options)
    world.reset()
    return world


def place(world, decisions=1, **fields):
    """Set fields of the state, let everybody stand for a decision, and look."""
    state = world.snapshot()
    for name, value in fields.items():
        state[name][0] = value
    world.restore(state)
    for _ in range(decisions):
        views, *_ = world.step(stand(world))
    return views


def named(views, view, seat, slot=None):
    """One player's row as {column: value}."""
    row = views[view][0, seat] if slot is None else views[view][0, seat, slot]
    return {
        name: pytest.approx(float(v), abs=1e-6) for name, v in zip(COLUMNS[view], row, strict=True)
    }


def test_the_nineteen_features_of_a_duel():
    world = make()
    views = place(
        world,
        x=[0, 0],
        y=[0, -6],
        hp=[100_000, 40_000],
        ammo=[15, 30],
        item_kind=[1, 2, 0, 0, 0],
        item_x=[2, -3, 0, 0, 0],
        item_y=[0, 2, 0, 0, 0],
    )
    assert named(views, "features", 0) == {
        "px": 0,
        "py": 0,
        "vx": 0,
        "vy": 0,
        "hp": 1,
        "ammo": 0.5,
        "zone_x": 0,
        "zone_y": 0,
        "zone_radius": 1.5,
        "is_safe": 1,
        "enemy_x": 0,
        "enemy_y": -0.6,
        "enemy_hp": 0.4,
        "item_x": 0.2,
        "item_y": 0,
        "n_entities": 0.1,
        "n_items": 0.4,
        "enemy_dist": 0.6,
        "item_dist": 0.2,
    }


def test_team_one_sees_the_world_turned_round():
    world = make()
    views = place(world, x=[0, 1], y=[0, -6], vx=0.0, vy=0.0)
    one = named(views, "features", 1)
    # In the world the enemy is at (-1, 6) from here, and this player at (1, -6) of 20.
    assert (one["px"], one["py"]) == (-0.05, 0.3)
    assert (one["enemy_x"], one["enemy_y"]) == (0.1, -0.6)
    actions = stand(world)
    actions[0, :, 0] = 10  # both walk to what they call the right
    world.step(actions)
    x = world.state["x"][0]
    assert x[0] > 0 and x[1] < 1
    velocity = world.buffers.features[0, :, 2]
    assert velocity.tolist() == pytest.approx([1.0, 1.0])


def test_lms_is_turned_for_nobody():
    world = make("lms")
    views = place(world, x=np.arange(10) * 4 - 18, y=-40)
    assert views["features"][0, :, 0] == pytest.approx((np.arange(10) * 4 - 18) / 50)
    assert (views["features"][0, :, 1] == np.float32(-0.8)).all()


@pytest.mark.parametrize(
    "y_of_enemy, seen", [(3.4, True), (8.0, False)], ids=["in the open", "behind a wall"]
)
def test_walls_hide_enemies(y_of_enemy, seen):
    views = place(make(), x=[5.5, 5.5], y=[0, y_of_enemy])
    row = named(views, "features", 0)
    assert row["enemy_dist"] == (y_of_enemy / 10 if seen else 0)
    assert row["enemy_hp"] == (1 if seen else 0) and row["n_entities"] == (0.1 if seen else 0)
    assert views["objects"][0, 0, 0].any() == seen


@pytest.mark.parametrize("distance, seen", [(9.9, True), (10.1, False)])
def test_sight_ends_at_ten_units(distance, seen):
    views = place(make(), x=[0, 0], y=[5 - distance, 5])
    assert (views["features"][0, 0, 17] > 0) == seen


def test_walls_hide_items_and_shots():
    world = make()
    hidden = {"item_x": [5.5, 0, 0, 0, 0], "item_y": [8, 0, 0, 0, 0], "item_kind": [1, 0, 0, 0, 0]}
    shots = {
        "shot_x": np.full(24, 5.5),
        "shot_y": np.full(24, 8.0),
        "shot_life": 9,
        "shot_owner": 1,
    }
    live = {"num_shots": 1, "live_shots": [0, 1]}
    views = place(world, x=[5.5, 5.5], y=[0, -15], **hidden, **shots, **live)
    assert views["features"][0, 0, 16] == 0 and not views["objects"][0, 0, 1:].any()


def test_an_ally_sees_for_the_team():
    world = make("crown", champions="base")
    x, y = world.state["x"][0].copy(), world.state["y"][0].copy()
    x[[0, 1, 5]], y[[0, 1, 5]] = [-20, 10, 16], [-20, -20, -20]
    views = place(world, x=x, y=y)
    assert named(views, "features", 0)["enemy_x"] == 3.6
    assert named(views, "features", 0)["n_entities"] == 0.5  # one enemy, four allies


def test_objects_are_sorted_by_distance_within_their_class():
    world = make()
    kind = [1, 2, 1, 1, 0]
    views = place(
        world,
        x=[0, 0],
        y=[0, -6],
        item_kind=kind,
        item_x=[2, 1, 3, -1.5, 0],
        item_y=[0, 0, 1, 0, 0],
    )
    slots = views["objects"][0, 0]
    assert slots[1:6, 2] == pytest.approx(np.array([1, 1.5, 2, np.hypot(3, 1), 0]) / 50)
    assert slots[1:6, 19].tolist() == [-1, 1, 1, 1, 0]  # ammo is -1, health 1
    assert slots[1:5, 10].tolist() == [1, 1, 1, 1] and not slots[5].any()


@pytest.mark.parametrize("ruleset", RULESETS)
def test_in_play_every_class_keeps_its_slots_and_its_order(ruleset):
    world = levelcap.world.make(ruleset, 16, views=VIEWS, champions="random")
    views, rng = world.reset(), np.random.default_rng(0)
    flag = {"enemy": "is_player", "ally": "is_player", "structure": "is_structure"}
    for decision in range(150):
        views, *_ = world.step(noisy_chaser(rng, views))
        if decision % 10:
            continue
        for kind, first, size in OBJECT_CLASSES[ruleset]:
            slots = views["objects"][:, :, first : first + size]
            used = slots.any(-1)
            assert (used[..., :-1] | ~used[..., 1:]).all(), kind  # no gaps
            distance = np.where(used, slots[..., 2], np.inf)
            assert (distance[..., :-1] <= distance[..., 1:]).all(), kind
            if kind in flag:
                assert (slots[..., OBJECT.index(flag[kind])] == used).all(), kind


def test_an_enemy_out_of_sight_is_remembered_with_its_age_and_then_forgotten():
    world = make()
    views = place(world, x=[5.5, 5.5], y=[0, 3.4])
    seen = named(views, "objects", 0, 0)
    assert (seen["visible"], seen["age"], seen["dy"], seen["is_enemy"]) == (1, 0, 0.34, 1)
    views = place(world, decisions=30, y=[0, 8])
    known = named(views, "objects", 0, 0)
    assert (known["visible"], known["dy"], known["hp"]) == (0, 0.34, 1)
    assert known["age"] == 30 / 150
    assert views["features"][0, 0, 17] == 0  # features speak of what is seen now
    views = place(world, decisions=275)
    assert not views["objects"][0, 0, 0].any()


def test_the_players_own_body():
    world = make(champions="Ranger")
    views = place(world, hp=50_000, shield=20_000, ammo=10, fire_wait=4, snare=10)
    row = named(views, "player", 0)
    assert row["hp"] == 0.5 and row["shield"] == 0.2 and row["ammo"] == 10 / 30
    assert row["fire_cooldown"] == 0.5 and row["status"] == 1.0
    assert [row[f"champion_{i}"] for i in range(8)] == [0, 1, 0, 0, 0, 0, 0, 0]


def test_the_ninth_champion_has_a_code_of_two():
    world = make(patch="1.1", champions="Lancer")
    row = named(world.observe(), "player", 0)
    assert [row[f"champion_{i}"] for i in range(8)] == [1, 1, 0, 0, 0, 0, 0, 0]
    assert not make().observe()["player"][0, 0, 8:].any()  # the base champion has none


def test_context_tells_walls_objective_and_clock():
    world = make()
    views = place(world, x=[5.5, 0], y=[2, -15], tick=899)
    row = named(views, "context", 0)
    assert row["wall_up"] == 0.1  # the wall begins at 4; a body stands at 3.5 at most
    assert row["wall_left"] == 1.0 and row["clock"] == 0.5
    assert (row["goal_x"], row["goal_y"]) == (-5.5 / 20, -2 / 20)
    assert (row["num_enemies"], row["num_allies"], row["threat"]) == (0, 0, 0)


def test_in_siege_the_objective_is_the_enemys_next_structure_for_both_sides():
    world = make("siege", champions="base")
    hp = world.state["tower_hp"][0].copy()
    hp[3] = 0
    views = place(world, tower_hp=hp)
    assert views["features"][0, 0, 6:9].tolist() == pytest.approx([28 / 50, 0, 1])
    assert views["features"][0, 5, 6:9].tolist() == pytest.approx([14 / 50, 0, 1])


def test_in_crown_the_objective_is_the_centre():
    views = place(make("crown", champions="base"))
    assert views["features"][0, 0, 6:9].tolist() == pytest.approx([0, 0, 8 / 30])


def test_the_dead_see_nothing_and_may_do_nothing():
    world = make("crown")
    alive = np.ones(10)
    alive[3] = 0
    views = place(world, alive=alive, hp=world.state["hp"][0] * alive, respawn=100 * (1 - alive))
    for name in VIEWS:
        assert not views[name][0, 3].any()
    assert not views["alive"][0, 3] and views["alive"][0].sum() == 9
    assert np.flatnonzero(views["mask"][0, 3]).tolist() == [5, 16, 27, 38, 44, 46, 50]


def test_masks_say_what_can_be_done():
    world = make(champions="Ranger")
    ready = place(world)["mask"][0, 0]
    assert ready[:44].all() and ready[44:52].tolist() == [1, 1, 1, 1, 1, 1, 1, 0]
    wait = np.array([[60, 0, 60], [0, 0, 0]])
    busy = place(
        world,
        ammo=0,
        wait=wait,
        item_kind=[1, 0, 0, 0, 0],
        item_x=world.state["x"][0, 0],
        item_y=world.state["y"][0, 0],
    )["mask"][0, 0]
    assert busy[44:52].tolist() == [1, 0, 1, 0, 1, 0, 1, 1]
    cooling = place(world, ammo=30, fire_wait=3)["mask"][0, 0]
    assert cooling[44:46].tolist() == [1, 0]


def test_reloading_counts_as_interacting_where_magazines_are_refilled():
    full = place(make("crown", champions="base"))["mask"][0, 0]
    assert full[50:52].tolist() == [1, 0]
    empty = place(make("crown", champions="base"), ammo=10)["mask"][0, 0]
    assert empty[50:52].tolist() == [1, 1]


def test_only_the_views_asked_for_are_returned():
    world = levelcap.world.make("duel", 1, views=("context",))
    assert sorted(world.reset()) == ["alive", "context", "key", "mask", "reset"]
