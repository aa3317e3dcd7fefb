"""The three forms of an action: numbers, bins, mouse."""

import itertools

import numpy as np
import pytest

from levelcap.kit.errors import BadValue
from levelcap.world.actions import (
    CLICKS,
    HOTKEYS,
    Action,
    decode,
    encode,
    from_mouse,
    to_mouse,
    used_heads,
)
from levelcap.world.spec import HEADS

NAN = float("nan")


def test_numbers_go_to_the_nearest_of_eleven_bins():
    action = Action(move_x=-1, move_y=1, aim_x=0, aim_y=0.27, fire=1, ability=3, interact=1)
    assert encode(action).tolist() == [0, 10, 5, 6, 1, 3, 1]


@pytest.mark.parametrize("value, bin_", [(0.09, 5), (-0.09, 5), (0.11, 6), (-0.11, 4), (0.95, 10)])
def test_a_number_between_two_bins_goes_to_the_nearer_one(value, bin_):
    assert encode(Action(move_x=value))[0] == bin_


def test_left_and_right_are_rounded_alike():
    values = np.linspace(-1, 1, 4001)
    bins = encode(Action(move_x=values, move_y=-values)).astype(int)
    assert np.array_equal(bins[:, 0] - 5, 5 - bins[:, 1])


def test_nothing_is_the_middle_bin():
    assert encode(Action()).tolist() == [5, 5, 5, 5, 0, 0, 0]
    assert decode([5, 5, 5, 5, 0, 0, 0]) == Action(0.0, 0.0, 0.0, 0.0, 0, 0, 0)


def test_one_row_decodes_to_plain_numbers():
    action = decode(np.array([0, 10, 7, 4, 1, 2, 0]))
    assert action == Action(-1.0, 1.0, 0.4, -0.2, 1, 2, 0)
    assert isinstance(action.move_x, float) and isinstance(action.ability, int)


def test_every_row_of_bins_survives_decoding_and_encoding():
    rng = np.random.default_rng(0)
    sizes = [head.size for head in HEADS]
    bins = (rng.random((3, 500, 7)) * sizes).astype(np.uint8)
    action = decode(bins)
    assert action.move_x.shape == (3, 500)
    assert np.array_equal(encode(action), bins)


def test_an_array_of_values_encodes_like_an_action():
    rows = [[0.2, -1, 0, 0, 0, 0, 1], [0, 0, 1, -0.6, 1, 0, 0]]
    assert encode(rows).tolist() == [[6, 0, 5, 5, 0, 0, 1], [5, 5, 10, 2, 1, 0, 0]]


@pytest.mark.parametrize(
    "action, field, value",
    [
        (Action(move_x=NAN), "move_x", "nan"),
        (Action(aim_y=float("inf")), "aim_y", "inf"),
        (Action(move_y=1.01), "move_y", "1.01"),
        (Action(aim_x=np.array([0.0, -3.0])), "aim_x", "-3.0"),
        (Action(fire=2), "fire", "2.0"),
        (Action(fire=0.5), "fire", "0.5"),
        (Action(ability=4), "ability", "4.0"),
        (Action(ability=-1), "ability", "-1.0"),
        (Action(interact=NAN), "interact", "nan"),
        (Action(move_x="left"), "move_x", "'left'"),
        ([0.0] * 6, "action", "(6,)"),
    ],
)
def test_a_wrong_value_is_named_with_its_field_and_a_remedy(action, field, value):
    with pytest.raises(BadValue) as caught:
        encode(action)
    message = str(caught.value)
    assert message.startswith(field) and f"got {value}" in message and ". Give " in message


@pytest.mark.parametrize(
    "bins, words",
    [
        ([0, 0, 0, 0, 0, 0], "shape"),
        ([0.0] * 7, "dtype"),
        ([11, 0, 0, 0, 0, 0, 0], "move_x"),
        ([0, 0, 0, 0, 0, -1, 0], "ability"),
        (5, "shape"),
    ],
)
def test_wrong_bins_are_refused(bins, words):
    for function in (decode, used_heads, to_mouse):
        with pytest.raises(BadValue, match=words):
            function(bins)


def test_aim_counts_only_with_fire_or_an_ability():
    rows = [[5, 5, 9, 9, 0, 0, 1], [5, 5, 9, 9, 1, 0, 0], [5, 5, 9, 9, 0, 2, 0]]
    assert used_heads(rows).tolist() == [
        [True, True, False, False, True, True, True],
        [True] * 7,
        [True] * 7,
    ]


# Mouse. x, y, click, hotkey -> move_x, move_y, aim_x, aim_y, fire, ability, interact.
STORIES = [
    ("no click stands", (0.4, -0.4, "none", "none"), [5, 5, 5, 5, 0, 0, 0]),
    ("left fires at the cursor", (0.4, -0.4, "left", "none"), [5, 5, 7, 3, 1, 0, 0]),
    ("right moves towards it", (1.0, -0.2, "right", "none"), [10, 4, 5, 5, 0, 0, 0]),
    ("Q at the cursor", (0.0, 1.0, "none", "Q"), [5, 5, 5, 10, 0, 1, 0]),
    ("E while firing", (-1.0, 0.0, "left", "E"), [5, 5, 0, 5, 1, 2, 0]),
    ("R while moving", (-1.0, 0.6, "right", "R"), [0, 8, 0, 8, 0, 3, 0]),
    ("Space interacts", (0.0, 0.0, "none", "Space"), [5, 5, 5, 5, 0, 0, 1]),
    ("Space while moving", (0.2, 0.2, "right", "Space"), [6, 6, 5, 5, 0, 0, 1]),
    ("a number does nothing", (0.2, 0.2, "none", "7"), [5, 5, 5, 5, 0, 0, 0]),
    ("Ctrl does nothing", (0.2, 0.2, "left", "Ctrl"), [5, 5, 6, 6, 1, 0, 0]),
]


@pytest.mark.parametrize("mouse, bins", [row[1:] for row in STORIES], ids=[r[0] for r in STORIES])
def test_what_a_mouse_row_means(mouse, bins):
    x, y, click, key = mouse
    assert from_mouse([x, y, CLICKS.index(click), HOTKEYS.index(key)]).tolist() == bins


def everything_a_mouse_can_say():
    places = np.linspace(-1, 1, 11)
    grid = itertools.product(places, places, range(len(CLICKS)), range(len(HOTKEYS)))
    return np.array(list(grid))


def test_heads_from_a_mouse_come_back_unchanged_and_nothing_is_lost():
    bins = from_mouse(everything_a_mouse_can_say())
    mouse, lost = to_mouse(bins)
    assert lost == 0
    assert np.array_equal(from_mouse(mouse), bins)


@pytest.mark.parametrize(
    "bins, kept",
    [
        ([9, 5, 5, 0, 1, 0, 0], [5, 5, 5, 0, 1, 0, 0]),  # fire wins over move
        ([9, 5, 5, 0, 0, 1, 0], [5, 5, 5, 0, 0, 1, 0]),  # so does an ability
        ([5, 5, 5, 0, 0, 1, 1], [5, 5, 5, 0, 0, 1, 0]),  # an ability wins over interact
    ],
)
def test_what_a_mouse_cannot_say_is_cut_down_and_counted(bins, kept):
    mouse, lost = to_mouse([bins, [5, 5, 5, 5, 0, 0, 0]])
    assert lost == 1
    assert from_mouse(mouse)[0].tolist() == kept


def test_an_aim_nobody_uses_is_dropped_without_being_counted():
    mouse, lost = to_mouse([7, 5, 0, 0, 0, 0, 0])
    assert lost == 0
    assert from_mouse(mouse).tolist() == [7, 5, 5, 5, 0, 0, 0]


def test_coming_back_from_a_mouse_twice_changes_nothing_more():
    rng = np.random.default_rng(1)
    bins = (rng.random((5000, 7)) * [head.size for head in HEADS]).astype(np.uint8)
    mouse, lost = to_mouse(bins)
    once = from_mouse(mouse)
    assert 0 < lost < 5000
    again, lost_again = to_mouse(once)
    assert lost_again == 0 and np.array_equal(from_mouse(again), once)


@pytest.mark.parametrize(
    "mouse, words",
    [
        ([NAN, 0, 0, 0], "x is not a finite number; got nan"),
        ([0, -1.5, 0, 0], "y is out of range; got -1.5"),
        ([0, 0, 3, 0], "click_type is out of range; got 3.0"),
        ([0, 0, 0, 15], "hotkey_id is out of range; got 15.0"),
        ([0, 0, 0, 1.5], "hotkey_id is not a whole number; got 1.5"),
        ([0, 0, 0], "wrong shape"),
    ],
)
def test_a_wrong_mouse_row_is_refused(mouse, words):
    with pytest.raises(BadValue, match=words.replace("(", r"\(")):
        from_mouse(mouse)
