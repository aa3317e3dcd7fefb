"""`summary`, `body` and `team`: on states made by hand, and as laws over whole matches."""

import numpy as np
import pytest

import levelcap.world
from levelcap.world.spec import (
    ARENA_VIEWS,
    BODY,
    CONTEXT,
    OBJECT,
    PLAYER,
    RULESETS,
    SUMMARY,
    TEAM,
)
from tests.world.plays import VIEWS, noisy_chaser, stand

NEW = ("summary", "body", "team")
FRONT = len(PLAYER) + len(CONTEXT)
DISTANCE, IS_SHOT = OBJECT.index("distance"), OBJECT.index("is_shot")
COLUMNS = {"summary": SUMMARY, "body": BODY, "team": TEAM}


def make(ruleset="duel", **options):
    options = {"views": (*VIEWS, *NEW), "decision_ticks": 1, "auto_reset": False, **options}
    world = levelcap.world.make(ruleset, 1, **options)
    world.reset()
    return world


def place(world, actions=None, **fields):
    """Set fields of the state, let everybody act once (stand), and look."""
    state = world.snapshot()
    for name, value in fields.items():
        state[name][0] = value
    world.restore(state)
    return world.step(stand(world) if actions is None else actions)[0]


def named(views, view, seat):
    """One player's row as {column: value}."""
    row = views[view][0, seat]
    return {n: pytest.approx(float(v), abs=1e-6) for n, v in zip(COLUMNS[view], row, strict=True)}


def expected_summary(views):
    """The layout in words of NumPy: [..., 192] of the same moment's other views."""
    objects = views["objects"]
    used = objects.any(-1) & (objects[..., IS_SHOT] == 0)
    order = np.argsort(np.where(used, objects[..., DISTANCE], np.inf), axis=-1, kind="stable")
    nearest = np.take_along_axis(objects, order[..., None], axis=-2)[..., :8, :].copy()
    nearest[~np.take_along_axis(used, order, axis=-1)[..., :8]] = 0
    flat = nearest.reshape(*nearest.shape[:-2], -1)
    return np.concatenate([views["player"], views["context"], flat], axis=-1)


def test_sizes_and_names():
    assert [ARENA_VIEWS[name].shape for name in NEW] == [(192,), (64,), (128,)]
    for name in NEW:
        assert ARENA_VIEWS[name].columns == COLUMNS[name]
        assert len(set(COLUMNS[name])) == len(COLUMNS[name])
    assert [name for name, view in ARENA_VIEWS.items() if view.critic_only] == ["team"]
    assert "team" not in levelcap.world.arena_spec("siege").acting_views


def test_the_summary_of_a_duel_holds_the_enemy_and_items_by_distance_and_no_shots():
    world = make()
    shots = {
        "shot_x": np.full(24, 1.0),
        "shot_y": np.full(24, -3.0),
        "shot_life": 9,
        "shot_owner": 1,
        "num_shots": 1,
        "live_shots": [0, 1],
    }
    views = place(
        world,
        x=[0, 0],
        y=[0, -6],
        hp=[80_000, 40_000],
        item_kind=[1, 2, 0, 0, 0],
        item_x=[2, -9, 0, 0, 0],
        item_y=[0, 0, 0, 0, 0],
        **shots,
    )
    assert views["objects"][0, 0, 6, IS_SHOT] == 1  # it is seen
    row = named(views, "summary", 0)
    assert row["hp"] == 0.8 and row["num_enemies"] == 0.2 and row["num_items"] == 0.4
    kinds = ("dx", "dy", "distance", "hp", "is_enemy", "is_loot", "detail")
    assert [[row[f"object_{k}_{name}"] for name in kinds] for k in range(4)] == [
        [0.2, 0, 2 / 50, 0, 0, 1, 1],
        [0, -0.6, 6 / 50, 0.4, 1, 0, 0],
        [-0.9, 0, 9 / 50, 0, 0, 1, -1],
        [0] * 7,
    ]
    assert not views["summary"][0, 0, FRONT + 60 :].any()


def test_of_objects_equally_far_away_the_lower_slot_comes_first():
    views = place(
        make(), x=[0, 0], y=[0, -4], item_kind=[1, 0, 0, 0, 0], item_x=[4, 0, 0, 0, 0], item_y=0
    )
    row = named(views, "summary", 0)
    assert row["object_0_distance"] == row["object_1_distance"] == 4 / 50
    assert row["object_0_is_enemy"] == 1 and row["object_1_is_loot"] == 1


def test_the_body_of_a_duellist():
    world = make(champions="Ranger")
    actions = stand(world)
    actions[0, 0] = [10, 4, 0, 6, 1, 2, 0]
    views = place(world, actions, x=[0, 0], y=[0, -6], hp=[70_000, 40_000])
    row = named(views, "body", 0)
    assert row["hp"] == 0.7 and row["clock"] == views["context"][0, 0, 15]
    assert row["enemy_is_enemy"] == 1 and row["enemy_hp"] == 0.4
    assert row["enemy_distance"] == views["objects"][0, 0, 0, DISTANCE]
    assert [row[f"last_{head}"] for head in ("move_x", "move_y", "aim_x", "aim_y")] == [
        1,
        -0.2,
        -1,
        0.2,
    ]
    assert [row[f"last_{head}"] for head in ("fire", "ability", "interact")] == [1, 2 / 3, 0]
    assert (row["vx"], row["vy"]) == tuple(views["features"][0, 0, 2:4])
    assert row["vx"].expected > 0.5
    assert [row[f"zero_{i}"] for i in range(3)] == [0, 0, 0]


def test_side_one_has_its_body_in_its_own_frame():
    world = make()
    actions = stand(world)
    actions[0, :, 0] = 10
    views = place(world, actions, x=[-3, 3], y=[0, 0])
    for name in ("summary", "body"):
        assert views[name][0, 0] == pytest.approx(views[name][0, 1])


@pytest.mark.parametrize("ruleset", RULESETS)
def test_there_is_no_last_action_at_the_first_decision(ruleset):
    views = make(ruleset).observe()
    last = [BODY.index(name) for name in BODY if name.startswith("last_")]
    assert len(last) == 7 and not views["body"][:, :, last].any()


def test_the_team_of_a_siege():
    world = make("siege", champions="base")
    count = 10
    alive = np.ones(count)
    alive[1] = 0
    x, y = world.state["x"][0].copy(), world.state["y"][0].copy()
    x[2], y[2] = 25, -10
    hp = world.state["tower_hp"][0].copy()
    hp[3], hp[4] = 0, hp[4] // 2
    wait = np.zeros((count, 3))
    views = place(
        world,
        alive=alive,
        respawn=150 * (1 - alive),
        hp=[100_000, 0, 30_000] + [100_000] * 7,
        ammo=[30, 30, 15] + [30] * 7,
        x=x,
        y=y,
        wait=wait,
        tower_hp=hp,
        tick=2999,
    )
    own = named(views, "team", 0)
    assert [own[f"member_{k}_alive"] for k in range(5)] == [1, 0, 1, 1, 1]
    assert own["member_1_respawn"] == 149 / 150
    assert [own[f"member_2_{name}"] for name in ("px", "py", "hp", "ammo")] == [0.5, -0.2, 0.3, 0.5]
    assert [own[f"own_{name}_hp"] for name in ("outer", "inner", "core")] == [1, 1, 1]
    assert own["own_outer_detail"] == 0.5 and own["own_inner_detail"] == 0
    assert [own[f"enemy_{name}_hp"] for name in ("outer", "inner", "core")] == [0, 0.5, 1]
    assert own["enemy_inner_detail"] == 0.5 and own["enemy_core_detail"] == 0
    assert own["clock"] == 1 - 3000 / 9000 and own["balance"].expected > 0
    # The third player sees itself first, then the others by seat.
    mate = views["team"][0, 2, : 5 * 22].reshape(5, 22)
    first = views["team"][0, 0, : 5 * 22].reshape(5, 22)
    assert np.array_equal(mate, first[[2, 0, 1, 3, 4]])
    # A dead one's critic goes on; the other side sees what is theirs, turned round.
    assert views["team"][0, 1].any() and not views["body"][0, 1].any()
    other = named(views, "team", 5)
    assert other["own_outer_hp"] == 0 and other["balance"].expected == -own["balance"].expected
    assert other["member_0_px"] == views["context"][0, 5, 0]


@pytest.mark.parametrize("ruleset", RULESETS)
def test_in_play_the_new_views_follow_from_the_old_ones(ruleset):
    world = levelcap.world.make(ruleset, 16, views=(*VIEWS, *NEW), champions="random")
    alone = {n: levelcap.world.make(ruleset, 16, views=(n,), champions="random") for n in NEW}
    rng = np.random.default_rng(0)
    views = world.reset()
    for other in alone.values():
        other.reset()
    for decision in range(150):
        actions = noisy_chaser(rng, views)
        views, *_ = world.step(actions)
        seen = {name: other.step(actions)[0][name] for name, other in alone.items()}
        if decision % 10:
            continue
        assert np.array_equal(views["summary"], expected_summary(views))
        body = views["body"]
        assert np.array_equal(body[..., :16], views["player"])
        assert np.array_equal(body[..., 16:32], views["context"])
        assert np.array_equal(body[..., 32:52], views["objects"][..., 0, :])
        assert np.array_equal(body[..., 59:61], views["features"][..., 2:4])
        for name in NEW:
            # Asked for alone, they are the same numbers.
            assert np.array_equal(views[name], seen[name])
            assert np.isfinite(views[name]).all() and np.abs(views[name]).max() <= 5
        dead = ~views["alive"]
        assert not views["summary"][dead].any() and not body[dead].any()
        size = world.spec.num_players // world.spec.num_teams
        assert not views["team"][..., 22 * size : 110].any()
        living = views["team"][..., : 22 * size : 22]  # `alive` of the members
        groups = views["alive"].reshape(16, -1, size)
        assert np.array_equal(living.sum(-1), np.repeat(groups.sum(-1), size, axis=1))


def test_the_order_of_items_in_the_state_changes_no_summary():
    kinds, x, y = np.array([[1, 2, 1, 2, 1], [3, -5, 2, 6, -4], [1, 2, -4, -6, -1]])
    found = []
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 1, 3]):
        items = {"item_kind": kinds[order], "item_x": x[order], "item_y": y[order]}
        views = place(make(), x=[0, 0], y=[0, -6], **items)
        found.append(views["summary"][0, 0].copy())
    assert np.array_equal(*found) and found[0][FRONT:].reshape(8, -1).any(-1).sum() == 6


def test_allies_that_change_places_change_no_summary():
    found = []
    for order in ([0, 1, 2, 3, 4], [0, 3, 1, 4, 2]):
        world = make("crown", champions="base")
        x, y = world.state["x"][0].copy(), world.state["y"][0].copy()
        x[:5], y[:5] = x[order], y[order] + np.array([0, 1, 2, 3, 4])[order]
        found.append(place(world, x=x, y=y)["summary"][0, 0].copy())
    assert np.array_equal(*found) and found[0][FRONT:].reshape(8, -1).any(-1).sum() == 4


def test_the_last_views_of_a_match_cut_short_have_them_too():
    options = {"views": (*VIEWS, *NEW), "auto_reset": True, "seed": 3}
    cut = levelcap.world.make("siege", 2, max_decisions=5, **options)
    whole = levelcap.world.make("siege", 2, **options)
    cut.reset(), whole.reset()
    for _ in range(5):
        views, *_, info = cut.step(stand(cut))
        last, *_ = whole.step(stand(whole))
    for name in NEW:
        np.testing.assert_array_equal(info["final"][name], last[name].reshape(20, -1))
        assert not np.array_equal(views[name], last[name])  # the next match has begun
