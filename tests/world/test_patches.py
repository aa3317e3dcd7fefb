"""Patches: data that is checked, merged and hashed."""

import copy

import numpy as np
import pytest

import levelcap.world
from levelcap.kit.errors import BadValue, UnknownName
from levelcap.world.rules.patch_checks import EFFECTS
from levelcap.world.rules.patches import (
    RANDOM_SPREAD,
    champion_names,
    load_patch,
    patch_hash,
    patch_names,
    random_patch,
)


def changed(path, value):
    """Patch 1.0 with one value replaced; path like "shot.damage"."""
    patch = load_patch("1.0")
    *tables, key = path.split(".")
    table = patch
    for name in tables:
        table = table[name]
    table[key] = value
    return patch


def test_two_patches_ship_and_every_effect_kind_is_used():
    assert patch_names() == ("1.0", "1.1")
    champions = load_patch("1.0")["champions"]
    assert len(champions) >= 8
    assert {c[slot]["kind"] for c in champions for slot in "qer"} == set(EFFECTS[1:])


def test_a_later_patch_changes_what_it_names_and_keeps_the_rest():
    old, new = load_patch("1.0"), load_patch("1.1")
    assert new["shot"]["damage"] == 9 and old["shot"]["damage"] == 10
    assert new["shot"]["speed"] == old["shot"]["speed"]
    assert champion_names(new) == (*champion_names(old), "Lancer")
    mender = {c["name"]: c for c in new["champions"]}["Mender"]
    assert mender["hp"] == 1.0 and mender["q"] == old["champions"][2]["q"]


def test_a_patch_is_the_same_by_name_and_as_a_dictionary():
    patch = load_patch("1.1")
    assert load_patch(patch) == patch and load_patch(patch) is not patch
    small = {"name": "mine", "world_version": 1, "base": "1.1", "shot": {"damage": 3}}
    assert load_patch(small)["items"]["health"] == 30


def test_the_hash_is_of_the_content():
    patch = load_patch("1.0")
    turned = dict(reversed(list(copy.deepcopy(patch).items())))
    assert patch_hash(turned) == patch_hash(patch)
    assert patch_hash(changed("shot.damage", 11)) != patch_hash(patch)


def test_a_random_patch_is_fixed_by_its_seed_and_stays_near():
    one, again, other = random_patch(7), random_patch(7), random_patch(8)
    assert one == again and one != other and one["name"] == "1.0+random-7"
    base = load_patch("1.0")
    for new, old in zip(one["champions"], base["champions"], strict=True):
        ratio = new["hp"] / old["hp"]
        assert 1 / RANDOM_SPREAD - 0.01 <= ratio <= RANDOM_SPREAD + 0.01
    for seed in range(20):
        levelcap.world.make("duel", 1, patch=random_patch(seed))


def test_the_numbers_of_a_patch_are_the_numbers_of_the_game():
    world = levelcap.world.make("duel", 1, patch=changed("shot.damage", 13), decision_ticks=1)
    assert world.rules.champ_damage[0] == 13_000
    ten = levelcap.world.make("siege", 1, patch="1.1")
    assert ten.rules.num_champions == 10  # nine and the base champion


@pytest.mark.parametrize(
    "path, value, words",
    [
        ("shot.damge", 1, "Did you mean 'damage'"),
        ("shot.damage", -1, "shot.damage; got '-1'"),
        ("shot.damage", float("nan"), "shot.damage"),
        ("shot.damage", "ten", "shot.damage"),
        ("shot.damage", True, "shot.damage"),
        ("shot", 5, "give a table"),
        ("world_version", 2, "world version 1"),
        ("champions", [], "at least 8"),
    ],
)
def test_a_wrong_patch_is_refused_with_a_reason(path, value, words):
    with pytest.raises((BadValue, UnknownName), match=words):
        load_patch(changed(path, value))


def test_unknown_names_are_answered_with_a_question():
    with pytest.raises(UnknownName, match=r"Did you mean '1\.1'"):
        load_patch("1.11")
    patch = load_patch("1.0")
    patch["champions"][0]["q"]["kind"] = "shild"
    with pytest.raises(UnknownName, match="Did you mean 'shield'"):
        load_patch(patch)


@pytest.mark.parametrize(
    "path, value",
    [
        ("items.every_s", 0),
        ("items.most", 100),
        ("items.most", 2.5),
        ("creep.every_s", 0),
        ("creep.most", 150),
        ("crown.goal", 0),
        ("zone.close_at", 0),
        ("tower.core_hp", 0),
        ("rulesets.duel.time_s", 0),
        ("rulesets.duel.side", 1000),
        ("rulesets.duel.side", 40.5),
        ("rulesets.duel.items", ["gold"]),
        ("rulesets.duel.items", []),
        ("rulesets.duel.walls", [[1, 2, 3]]),
        ("rulesets.duel.walls", [[1, 2, "x", 3]]),
        ("rulesets.duel.walls", [[0.3, 2, 1, 3]]),
        ("rulesets.duel.walls", "none"),
        ("champions", "nobody"),
        ("name", 5),
    ],
)
def test_a_number_that_would_break_the_rules_is_refused_before_a_match(path, value):
    with pytest.raises((BadValue, UnknownName)):
        for ruleset in levelcap.world.RULESETS:
            levelcap.world.make(ruleset, 1, patch=changed(path, value))


def test_a_speed_that_would_jump_through_walls_is_refused():
    for path in ("shot.speed", "player.speed"):
        with pytest.raises(BadValue):
            levelcap.world.make("duel", 1, patch=changed(path, 1000))


def test_too_many_champions_are_refused():
    patch = load_patch("1.0")
    patch["champions"] += [{**patch["champions"][0], "name": f"extra {i}"} for i in range(40)]
    with pytest.raises(BadValue):
        levelcap.world.make("duel", 1, patch=patch)


def test_two_champions_of_one_name_are_refused():
    patch = load_patch("1.0")
    patch["champions"].append(copy.deepcopy(patch["champions"][0]))
    with pytest.raises(BadValue):
        load_patch(patch)


@pytest.mark.parametrize("ruleset", levelcap.world.RULESETS)
def test_every_wall_has_its_mirror_image(ruleset):
    rules = levelcap.world.make(ruleset, 1).rules
    walls = {
        tuple(w) for w in np.stack([rules.wall_x, rules.wall_y, rules.wall_w, rules.wall_h], 1)
    }
    assert {(-x, -y, w, h) for x, y, w, h in walls} == walls
