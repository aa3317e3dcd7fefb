"""Wild play under invariants: what must hold in every state of every match.

Invariants are checked on all matches of a batch at once, so the quick tier plays a thousand
matches in seconds.
"""

import numpy as np
import pytest

import levelcap.world
from levelcap.world.rules.patches import random_patch
from levelcap.world.rules.rulebook import Rules
from levelcap.world.rules.state import FIELDS
from levelcap.world.spec import RULESETS
from tests.world.plays import STAND, VIEWS, noisy_chaser

PATCHES = {"1.0": "1.0", "1.1": "1.1", "random": random_patch(20)}
FLOATS = [name for name, (_, kind) in FIELDS.items() if kind == "f8"]
ONE_TICK = ("hurt", "heal", "hit_by", "creep_hurt", "tower_hurt")
ONE_DECISION = ("dealt", "taken", "kills", "picked")
HEAL = 5  # effect kind
EDGE = 1e-9
# Offsets and distances of enemies are in tens of units, and a team mate may see one from afar.
BOUND = {"features": 15, "player": 2, "objects": 4, "context": 15}
NOTHING = np.zeros(52, np.uint8)
NOTHING[[0 + 5, 11 + 5, 22 + 5, 33 + 5, 44, 46, 50]] = 1


def in_walls(rules: Rules, x, y, grown):
    """Which points lie inside a wall grown by `grown`."""
    dx = np.abs(np.asarray(x)[..., None] - rules.wall_x) < rules.wall_w + grown - EDGE
    dy = np.abs(np.asarray(y)[..., None] - rules.wall_y) < rules.wall_h + grown - EDGE
    return (dx & dy).any(-1)


def check_bodies(state, rules):
    full = rules.champ_hp[state["champion"]]
    alive = state["alive"] == 1
    assert ((state["hp"] > 0) == alive).all()
    assert ((state["hp"] >= 0) & (state["hp"] <= full)).all()
    assert ((state["shield"] >= 0) & (state["shield"] <= rules.shield_max)).all()
    assert not state["shield"][~alive].any()
    assert ((state["ammo"] >= 0) & (state["ammo"] <= rules.champ_ammo[state["champion"]])).all()
    edge = rules.half - 0.5
    assert (np.abs(state["x"]) <= edge).all() and (np.abs(state["y"]) <= edge).all()
    assert not in_walls(rules, state["x"], state["y"], 0.5).any()
    assert (np.abs(np.hypot(state["dir_x"], state["dir_y"]) - 1) < 1e-9).all()
    assert not (alive & (state["out"] == 1)).any()
    if not rules.respawns:
        assert ((state["out"] == 1) == ~alive).all()
    for name, most in (
        ("fire_wait", rules.champ_cooldown.max()),
        ("reload", rules.reload_ticks),
        ("invulnerable", rules.invulnerable_ticks),
        ("wait", rules.ability_cooldown.max()),
    ):
        assert (state[name] >= 0).all() and (state[name] <= most).all(), name
    assert (state["snare"] >= 0).all() and (state["ward"] >= 0).all() and (state["dash"] >= 0).all()


def check_things(state, rules):
    slots = np.arange(state["shot_x"].shape[1])
    live = slots < state["num_shots"][:, None]
    players = np.arange(rules.num_players)
    owned = ((state["shot_owner"][:, None, :] == players[:, None]) & live[:, None]).sum(-1)
    assert np.array_equal(owned, state["live_shots"])
    assert (state["live_shots"] <= rules.max_live).all()
    life = state["shot_life"][live]
    assert (life > 0).all() and (life <= rules.shot_life).all()
    x, y = state["shot_x"][live], state["shot_y"][live]
    assert (np.abs(x) <= rules.half).all() and (np.abs(y) <= rules.half).all()
    assert not in_walls(rules, x, y, 0.0).any()
    there = state["item_kind"] > 0
    kinds = np.unique(state["item_kind"][there])
    assert np.isin(kinds, rules.item_kinds).all()
    assert not in_walls(rules, state["item_x"][there], state["item_y"][there], 0.5).any()
    strongest = rules.creep_hp * (1 + 2 * rules.creep_boost)  # after both enemy towers fell
    assert ((state["creep_hp"] >= 0) & (state["creep_hp"] <= strongest)).all()
    assert (np.abs(state["creep_x"]) <= rules.half).all()


def check_match(state, rules):
    for name in FLOATS:
        assert np.isfinite(state[name]).all(), name
    for name in (*ONE_TICK, *ONE_DECISION):
        if name == "heal" and rules.has_crown:
            continue  # what the crown heals is collected at the end of a tick
        assert not state[name].any(), name
    assert (state["tick"] <= rules.time_limit).all()
    over = state["over"] == 1
    assert over[state["tick"] >= rules.time_limit].all()
    assert (state["winner"][~over] == -1).all() and (state["winner"] < rules.num_teams).all()
    assert ((state["score"] >= 0) & (state["score"] <= rules.crown_goal + rules.crown_points)).all()
    towers = state["tower_hp"].reshape(-1, 2, 3)
    full = rules.tower_hp.reshape(2, 3)
    assert (towers >= 0).all() and (towers <= full).all()
    # Structures fall in order: from the outer tower in, each only after the one before it.
    assert (towers[..., 0] <= towers[..., 1]).all()
    hurt_core = towers[..., 2] < full[:, 2]
    assert (towers[..., 1][hurt_core] == 0).all()
    assert (state["seen_tick"] <= state["tick"][:, None, None]).all()


def check_views(views, state):
    dead = state["alive"] == 0
    assert np.array_equal(views["alive"], ~dead)
    for name in VIEWS:
        assert np.isfinite(views[name]).all(), name
        assert np.abs(views[name]).max() <= BOUND[name], name
        assert not views[name][dead].any(), name
    assert (views["mask"][dead] == NOTHING).all()
    assert (views["mask"][..., NOTHING == 1] == 1).all()


def check_change(then, now, rules, fresh):
    """What may happen between two decisions of the same match (`fresh` ones started anew)."""
    same = ~fresh
    assert (now["score"] >= then["score"])[same].all()
    assert (now["tower_hp"] <= then["tower_hp"])[same].all()
    assert (now["tick"] > then["tick"])[same].all()
    assert (now["num_deaths"] >= then["num_deaths"])[same].all()
    if rules.has_zone:
        assert (now["zone"][:, 2] <= then["zone"][:, 2])[same].all()
    rose = (now["hp"] > then["hp"]) & (then["alive"] == 1) & same[:, None]
    if rose.any():
        kinds = rules.ability_kind[now["champion"]]
        healed = ((now["wait"] > then["wait"]) & (kinds == HEAL)).any(-1)
        by_team = healed.reshape(len(now), rules.num_teams, -1).any(-1)
        took = (then["item_kind"] == 1) & (
            (now["item_kind"] != 1) | (now["item_x"] != then["item_x"])
        )
        allowed = np.repeat(by_team, rules.team_size, axis=1) | took.any(-1)[:, None]
        if rules.has_crown:  # the side that holds the centre heals there
            near = rules.crown_radius + rules.ability_range.max() / 2  # half a dash a decision
            for state in (then, now):
                allowed |= np.hypot(state["x"], state["y"]) <= near
        assert allowed[rose].all()


def fuzz(ruleset, patch, champions, matches, decisions, seed, every=5):
    """Play and check; returns how many matches ended."""
    options = {"patch": patch, "champions": champions, "seed": seed, "views": VIEWS}
    world = levelcap.world.make(ruleset, matches, **options)
    rules, rng = world.rules, np.random.default_rng(seed)
    views, ended = world.reset(), 0
    then = world.snapshot()
    for decision in range(decisions):
        actions = noisy_chaser(rng, views, share=rng.choice([0.1, 0.4, 1.0]))
        views, rewards, terminated, truncated, info = world.step(actions)
        check_change(then, world.state, rules, info["ended"])
        assert not rewards[~terminated].any() and not truncated.any()
        assert (np.abs(rewards) <= 1).all()
        if decision % every == 0 or info["ended"].any():
            check_match(world.state, rules)
            check_bodies(world.state, rules)
            check_things(world.state, rules)
            check_views(views, world.state)
        ended += int(info["ended"].sum())
        then = world.snapshot()
    return ended


CASES = [(r, p, c) for r in RULESETS for p in PATCHES for c in ("base", "random")]


@pytest.mark.parametrize("ruleset, patch, champions", CASES)
def test_invariants_hold_in_wild_play(ruleset, patch, champions):
    fuzz(ruleset, PATCHES[patch], champions, matches=42, decisions=200, seed=len(patch))


@pytest.mark.soak
@pytest.mark.parametrize("ruleset, patch, champions", CASES)
def test_invariants_hold_to_the_end_of_ten_thousand_matches(ruleset, patch, champions):
    limit = levelcap.world.make(ruleset, 1, patch=PATCHES[patch]).rules.time_limit
    ended = fuzz(ruleset, PATCHES[patch], champions, 420, limit // 3 + 1, seed=99, every=10)
    assert ended >= 420  # everybody came to an end


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_match_in_which_nobody_moves_ends_by_the_time_limit(ruleset):
    world = levelcap.world.make(ruleset, 4, auto_reset=False)
    world.reset()
    stand = np.tile(STAND, (4, world.spec.num_players, 1))
    for _ in range(world.rules.time_limit // 3 + 1):
        world.step(stand)
    assert (world.state["over"] == 1).all()
    assert (world.state["tick"] <= world.rules.time_limit).all()


def _equal(one, two, ignored):
    return [n for n in FIELDS if n not in ignored and not np.array_equal(one[n], two[n])]


INPUTS = {"held", "move_x", "move_y", "aim_x", "aim_y", "fire", "ability", "interact"}
LEFTOVER = {name for name in FIELDS if name.startswith("shot_")}


def differing(ruleset, change, seed=4, decisions=300, matches=24, ignored=INPUTS, **options):
    """Fields in which two worlds come to differ when the second gets `change(views, actions)`."""
    worlds = [
        levelcap.world.make(ruleset, matches, seed=seed, champions="random", **options)
        for _ in range(2)
    ]
    views, rng = worlds[0].reset(), np.random.default_rng(seed)
    worlds[1].reset()
    for _ in range(decisions):
        actions = noisy_chaser(rng, views, share=0.6)
        changed = change(views, actions.copy())
        views, *_ = worlds[0].step(actions)
        worlds[1].step(changed)
        if found := _equal(worlds[0].state, worlds[1].state, ignored | LEFTOVER):
            return found
    return []


@pytest.mark.parametrize(
    "head, first, name", [(4, 44, "fire"), (5, 46, "ability"), (6, 50, "interact")]
)
@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_masked_choice_does_nothing(ruleset, head, first, name):
    def without_masked(views, actions):
        chosen = np.take_along_axis(views["mask"][..., first:], actions[..., head : head + 1], -1)
        living = views["alive"]
        actions[..., head][(chosen[..., 0] == 0) & living] = 0
        return actions

    assert differing(ruleset, without_masked) == []


@pytest.mark.parametrize("ruleset", RULESETS)
def test_what_the_dead_ask_for_is_ignored(ruleset):
    def without_dead(views, actions):
        actions[~views["alive"]] = STAND
        return actions

    assert differing(ruleset, without_dead) == []


@pytest.mark.parametrize("ruleset", RULESETS)
def test_an_aim_without_fire_or_ability_changes_nothing(ruleset):
    # That is why these heads count for nothing in log-probabilities then.
    def without_unused_aim(views, actions):
        actions[(actions[..., 4] == 0) & (actions[..., 5] == 0), 2:4] = 5
        return actions

    assert differing(ruleset, without_unused_aim) == []
