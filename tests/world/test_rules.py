"""The rules one by one, on states made by hand: small stories with their expected numbers."""

import numpy as np
import pytest

import levelcap.world
from tests.world.plays import stand


def make(ruleset="duel", **options):
    options = {"decision_ticks": 1, "auto_reset": False, "champions": "base", **options}
    world = levelcap.world.make(ruleset, 1, **options)
    world.reset()
    return world


def put(world, **fields):
    """Set fields of the match; lists of seats as {seat: value}."""
    state = world.snapshot()
    for name, value in fields.items():
        if isinstance(value, dict):
            for seat, one in value.items():
                state[name][0, seat] = one
        else:
            state[name][0] = value
    world.restore(state)


def act(world, ticks=1, **seats):
    """Some seats act (`p0=dict(fire=1)`), all others stand; returns the world's first match."""
    heads = ("move_x", "move_y", "aim_x", "aim_y", "fire", "ability", "interact")
    actions = stand(world)
    for seat, choices in seats.items():
        for name, bin_ in choices.items():
            actions[0, int(seat[1:]), heads.index(name)] = bin_
    for _ in range(ticks):
        world.step(actions)
    return world.state[0]


FACING = {"x": [0.0, 0.0], "y": [0.0, -3.0], "dir_x": 0.0, "dir_y": [-1.0, 1.0]}


def test_a_player_walks_five_units_a_second_and_no_faster_on_the_diagonal():
    world = make()
    put(world, x=[0, 15], y=[0, 15])
    assert act(world, 30, p0={"move_x": 10})["x"][0] == pytest.approx(5)
    put(world, x=[0, 15], y=[-3, 15])
    now = act(world, 30, p0={"move_x": 0, "move_y": 10})
    assert np.hypot(now["x"][0], now["y"][0] + 3) == pytest.approx(5)


def test_a_wall_stops_only_the_way_into_it():
    world = make()
    put(world, x=[5, 15], y=[3, 15])  # the wall above begins at y = 4
    now = act(world, 20, p0={"move_x": 10, "move_y": 10})
    assert now["y"][0] <= 3.5 and now["x"][0] == pytest.approx(5 + 10 / 3 / np.sqrt(2))


def test_a_shot_takes_ten_hp_one_round_and_a_fifth_of_a_second():
    world = make()
    put(world, **FACING)
    now = act(world, 7, p0={"fire": 1})
    assert now["hp"].tolist() == [100_000, 90_000]
    assert now["ammo"].tolist() == [28, 30]  # ticks 0 and 6


def test_a_shot_dies_of_old_age_and_in_walls():
    world = make()
    put(world, x=[0, 0], y=[0, 19], dir_x=1.0, dir_y=0.0)
    assert act(world, 1, p0={"fire": 1})["num_shots"] == 1
    assert act(world, 21)["num_shots"] == 0
    put(world, x=[2, 0], y=[5, 19], dir_x=1.0, dir_y=0.0, fire_wait=0)
    act(world, 1, p0={"fire": 1})
    assert act(world, 2)["num_shots"] == 0  # the wall is one unit away


def test_a_shield_absorbs_first():
    world = make()
    put(world, **FACING, shield=[0, 4_000])
    now = act(world, 6, p0={"fire": 1})
    assert now["shield"][1] == 0 and now["hp"][1] == 94_000


def test_the_last_one_alive_wins_a_duel():
    world = make()
    put(world, **FACING, hp={1: 10_000})
    now = act(world, 6, p0={"fire": 1})
    assert (now["over"], now["winner"], now["alive"].tolist()) == (1, 0, [1, 0])


def test_the_zone_closes_at_nine_tenths_of_the_time_and_hurts_more_the_later():
    world = make()
    rules = world.rules
    assert (rules.time_limit, rules.zone_close) == (1800, 1620)
    put(world, tick=810)
    assert act(world)["zone"][2] == 15.0
    put(world, tick=1620)
    before = world.state["hp"][0, 0].copy()
    now = act(world)
    # 1 + 20 * 0.9 = 19 hp a second, a thirtieth of it in this tick.
    assert now["zone"][2] == 0 and before - now["hp"][0] == int(19_000 / 30)


def test_no_healing_outside_the_zone():
    world = make()
    item = {"item_kind": {0: 1}, "item_x": {0: 0.0}, "item_y": {0: 10.0}}
    put(world, x=[0, 0], y=[10, -19], hp=[50_000, 50_000], tick=1500, **item)
    assert act(world, p0={"interact": 1})["hp"][0] < 50_000
    put(world, x=[0, 0], y=[10, -19], hp=[50_000, 50_000], tick=30, **item)
    assert act(world, p0={"interact": 1})["hp"][0] == 75_000


@pytest.mark.parametrize("kind, hp, ammo", [(1, 75_000, 10), (2, 50_000, 25)])
def test_items_within_two_units_heal_or_load(kind, hp, ammo):
    world = make()
    start = {"x": [0, 0], "y": [0, -15], "hp": 50_000, "ammo": 10}
    put(world, **start, item_kind={0: kind}, item_x={0: 1.9}, item_y={0: 0.0})
    now = act(world, p0={"interact": 1})
    assert (now["hp"][0], now["ammo"][0], now["item_kind"][0]) == (hp, ammo, 0)
    put(world, **start, item_kind={0: kind}, item_x={0: 2.1}, item_y={0: 0.0})
    assert act(world, p0={"interact": 1})["item_kind"][0] == kind


def test_healing_never_goes_above_the_maximum():
    world = make()
    put(
        world,
        x=[0, 0],
        hp=90_000,
        item_kind={0: 1},
        item_x={0: 0.0},
        item_y={0: world.state["y"][0, 0]},
    )
    assert act(world, p0={"interact": 1})["hp"][0] == 100_000


def test_an_item_claimed_by_two_stays():
    world = make()
    put(world, x=[-1, 1], y=[0, 0], hp=50_000, item_kind={0: 1}, item_x={0: 0.0}, item_y={0: 0.0})
    now = act(world, p0={"interact": 1}, p1={"interact": 1})
    assert now["hp"].tolist() == [50_000, 50_000] and now["item_kind"][0] == 1


def test_items_come_in_mirrored_pairs_every_five_seconds_up_to_the_limit():
    world = make()
    put(world, hp=100_000)
    counts = []
    for _ in range(4):
        now = act(world, 150)
        there = now["item_kind"] > 0
        counts.append(int(there.sum()))
        x, y = now["item_x"][there], now["item_y"][there]
        assert sorted(zip(x, y, strict=True)) == sorted(zip(-x, -y, strict=True))
    assert counts == [2, 4, 4, 4]


def test_an_empty_magazine_reloads_in_two_seconds_where_there_are_no_crates():
    world = make("crown")
    put(world, ammo={0: 1})
    now = act(world, p0={"fire": 1})
    assert now["ammo"][0] == 0 and now["reload"][0] > 0
    assert act(world, 59)["ammo"][0] == 30
    put(world, ammo={0: 12}, reload={0: 0})
    act(world, p0={"interact": 1})
    assert act(world, 60)["ammo"][0] == 30


def test_the_dead_return_to_their_base_after_five_seconds_and_one_more_per_minute():
    for tick, wait in ((0, 150), (1800, 180)):
        world = make("crown")
        put(
            world,
            tick=tick,
            x={0: 0.0, 5: 0.0},
            y={0: 0.0, 5: -3.0},
            hp={5: 1},
            dir_y=-1.0,
            dir_x=0.0,
        )
        now = act(world, 4, p0={"fire": 1})
        assert now["alive"][5] == 0 and now["out"][5] == 0
        waited = 0
        while not world.state["alive"][0, 5]:
            act(world)
            waited += 1
        assert abs(waited - wait) <= 4
        now = world.state[0]
        assert (now["x"][5], now["hp"][5]) == (24.0, 100_000)
        assert now["invulnerable"][5] >= 59


def test_protection_after_a_respawn_ends_with_the_first_shot():
    world = make("crown")
    put(world, x={0: 0.0, 5: 0.0}, y={0: 0.0, 5: -3.0}, dir_x=0.0, dir_y=-1.0, invulnerable={5: 60})
    assert act(world, 5, p0={"fire": 1})["hp"][5] == 100_000
    now = act(world, 1, p5={"fire": 1})
    assert now["invulnerable"][5] == 0


def test_the_crown_counts_living_players_in_the_circle():
    world = make("crown")
    put(world, x={0: 0.0, 1: 5.0, 5: 0.0}, y={0: 0.0, 1: 0.0, 5: 5.0})
    now = act(world, 30)
    assert now["score"][0] == pytest.approx(1000, abs=15) and now["score"][1] == 0
    put(world, alive={1: 0}, hp={1: 0}, respawn={1: 1000}, score=0)
    assert act(world, 30)["score"].tolist() == [0, 0]  # one against one


def test_a_second_alone_in_the_circle_is_one_point():
    world = make("crown")
    put(world, x={0: 0.0}, y={0: 0.0})
    assert act(world, 30)["score"].tolist() == [1000, 0]


def test_a_hundred_points_win_the_crown():
    world = make("crown")
    put(world, x={0: 0.0}, y={0: 0.0}, score=[99_999, 99_000])
    now = act(world)
    assert (now["over"], now["winner"]) == (1, 0)


@pytest.mark.parametrize("score, winner", [((5, 4), 0), ((4, 5), 1), ((5, 5), -1)])
def test_at_the_time_limit_the_higher_score_wins_the_crown(score, winner):
    world = make("crown")
    put(world, tick=world.rules.time_limit - 1, score=np.array(score) * 1000)
    assert act(world)["over"] == 1
    assert world.state["winner"][0] == winner


def test_a_tower_burns_harder_the_longer_it_has_the_same_target():
    world = make("siege")
    put(world, tick=1, x={5: -14.0}, y={5: 11.0})
    act(world, 2)  # structures look every third tick
    hp = [int(world.state["hp"][0, 5])]
    for _ in range(3):
        hp.append(int(act(world, 30)["hp"][5]))
    burns = -np.diff(hp) / 1000
    assert burns == pytest.approx([15 * 1.125, 15 * 1.375, 15 * 1.625], rel=0.05)


def shoot_tower(world, tower_x, ticks=6):
    """Team A shoots at a structure from 6 units, protected from its fire."""
    put(
        world, x={0: tower_x - 6.0}, y={0: 0.0}, dir_x=1.0, dir_y=0.0, invulnerable=0, hp={0: 10**8}
    )
    before = world.state["tower_hp"][0].copy()
    act(world, 1, p0={"fire": 1})
    now = act(world, 9)
    return (before - now["tower_hp"])[3:].tolist()


def test_structures_take_less_without_creeps_and_fall_in_order():
    world = make("siege")
    assert shoot_tower(world, 14.0) == [3_000, 0, 0]
    assert shoot_tower(world, 28.0) == [0, 0, 0]  # the outer tower still stands
    put(world, tower_hp={3: 0}, fire_wait={0: 0})
    assert shoot_tower(world, 28.0) == [0, 3_000, 0]
    put(world, creep_hp={0: 60_000}, creep_x={0: 20.0}, creep_y={0: 9.0}, fire_wait={0: 0})
    loss = shoot_tower(world, 28.0)
    assert loss[1] >= 10_000 and loss[2] == 0


def test_the_fall_of_a_core_wins_the_siege():
    world = make("siege")
    put(world, tower_hp=[1, 1, 1, 0, 0, 0])
    now = act(world)
    assert (now["over"], now["winner"]) == (1, 0)
    world = make("siege")
    put(world, tower_hp=[0, 0, 0, 0, 0, 0])
    assert act(world)["winner"] == -1


@pytest.mark.parametrize("lost, winner", [(1_000, 1), (0, -1)])
def test_at_the_time_limit_more_structure_hp_wins_the_siege(lost, winner):
    world = make("siege")
    put(world, tick=world.rules.time_limit - 1, tower_hp={0: world.rules.tower_hp[0] - lost})
    now = act(world)
    assert (now["over"], now["winner"]) == (1, winner)


def test_late_towers_crumble_and_cores_do_not():
    world = make("siege")
    put(world, tick=6300)  # 0.7 of 300 s
    now = act(world, 30)
    full = world.rules.tower_hp
    assert now["tower_hp"][[0, 1, 3, 4]] == pytest.approx(full[0] * 0.99, abs=30)
    assert now["tower_hp"][[2, 5]].tolist() == full[[2, 5]].tolist()


def test_four_creeps_a_side_march_every_fifteen_seconds():
    world = make("siege")
    assert not act(world, 449)["creep_hp"].any()
    now = act(world)
    alive = now["creep_hp"] > 0
    half = world.rules.creep_most
    assert (alive[:half].sum(), alive[half:].sum()) == (4, 4)
    x = now["creep_x"].copy()
    now = act(world, 30)
    assert now["creep_x"][0] - x[0] == pytest.approx(3, abs=0.2)
    assert x[half] - now["creep_x"][half] == pytest.approx(3, abs=0.2)


def test_a_base_lies_within_its_cores_reach():
    for seat in range(10):
        rules = make("siege").rules
        core = 2 if seat < 5 else 5
        dx, dy = rules.base_x[seat] - rules.tower_x[core], rules.base_y[seat] - rules.tower_y[core]
        assert np.hypot(dx, dy) <= rules.tower_reach


# Abilities: champion, slot (1 Q, 2 E, 3 R), what must be true afterwards.


def test_a_dash_covers_its_range_and_a_blink_jumps_to_the_cursor():
    world = make(champions="Duelist")
    put(world, x=[0, 0], y=[0, -15])
    assert act(world, 6, p0={"ability": 1, "move_x": 10})["x"][0] == pytest.approx(6)
    world = make(champions="Shade")
    put(world, x=[0, 0], y=[0, -15])
    assert act(world, 1, p0={"ability": 1, "aim_x": 8})["x"][0] == pytest.approx(6)


def test_a_blink_into_a_wall_ends_at_the_last_free_spot():
    world = make(champions="Shade")
    put(world, x=[5.5, 0], y=[0, -15])
    now = act(world, 1, p0={"ability": 1, "aim_y": 7})  # 4 units up: inside the wall
    assert 3.0 <= now["y"][0] <= 3.5


def test_a_blast_hurts_around_the_cursor_but_not_through_walls():
    world = make(champions="Bombard")
    put(world, x=[0, 0], y=[0, -8])
    now = act(world, 1, p0={"ability": 1, "aim_y": 2})  # 6 down, 2 from the enemy
    assert now["hp"].tolist() == [90_000, 60_000]
    world = make(champions="Bombard")
    put(world, x=[5.5, 5.5], y=[1.5, 7.0])
    now = act(world, 1, p0={"ability": 1, "aim_y": 6})  # below the wall, 3 from the enemy
    assert now["hp"][1] == 90_000


def test_a_volley_is_five_shots():
    world = make(champions="Ranger")
    put(world, x=[0, 0], y=[0, 19], dir_x=1.0, dir_y=0.0)
    now = act(world, 1, p0={"ability": 1})
    assert now["num_shots"] == 5 and now["ammo"][0] == 30 and now["wait"][0, 0] == 239


def test_a_heal_reaches_allies_in_range():
    world = make("crown", champions="Mender")
    put(world, hp=50_000, x={1: 0.0}, y={1: 15.0})
    now = act(world, 1, p0={"ability": 1})
    assert now["hp"][:5].tolist() == [75_000, 50_000, 75_000, 75_000, 75_000]
    assert (now["hp"][5:] == 50_000).all()


def test_a_shield_stops_at_its_maximum():
    world = make(champions="Duelist")
    put(world, shield={0: 80_000})
    assert act(world, 1, p0={"ability": 3})["shield"][0] == 100_000


def test_a_snare_holds_the_feet_and_not_the_weapon():
    world = make(champions="Trapper")
    put(world, x=[0, 0], y=[0, -6], dir_x=0.0, dir_y=[-1, 1])
    act(world, 1, p0={"ability": 1, "aim_y": 2})
    before = world.state["x"][0, 1]
    now = act(world, 20, p1={"move_x": 10, "fire": 1})
    assert now["x"][1] == before and now["ammo"][1] < 30
    assert act(world, 15, p1={"move_x": 10})["x"][1] != before  # one second is over


def test_a_ward_sees_for_the_team():
    world = make(champions="Trapper", views=("features",))
    put(world, x=[0, 0], y=[0, -14])
    act(world)
    assert world.buffers.features[0, 0, 17] == 0
    act(world, 1, p0={"ability": 2, "aim_y": 1})  # 8 units down, 6 from the enemy
    assert world.buffers.features[0, 0, 17] == pytest.approx(1.4)


def test_an_ability_on_cooldown_does_nothing():
    world = make(champions="Duelist")
    act(world, 1, p0={"ability": 3})
    put(world, shield={0: 0})
    assert act(world, 5, p0={"ability": 3})["shield"][0] == 0


def test_a_held_ability_is_used_once():
    world = make(champions="Mender", decision_ticks=30)
    put(world, hp=10_000)
    assert act(world, 1, p0={"ability": 1})["hp"][0] == 35_000
