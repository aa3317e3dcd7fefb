"""The mouse as heads of a net: every mouse row comes through unchanged, masks worked by hand."""

from itertools import product

import numpy as np

from levelcap.world import make
from levelcap.world.actions import CLICKS, HOTKEYS, from_mouse, to_mouse, used_heads
from levelcap.world.mouse import MOUSE_SIZES, from_heads, mouse_mask, to_heads
from levelcap.world.rules.columns import BIN
from levelcap.world.spec import HEADS


def test_the_whole_image_of_the_mouse_comes_through_its_heads_unchanged():
    every = np.array(list(product(range(11), range(11), range(3), range(15))), np.float64)
    every[:, :2] = (every[:, :2] - 5) / 5
    bins = from_mouse(every)
    rows, lost = to_mouse(bins)
    assert lost == 0
    again = from_heads(to_heads(rows)[0])
    np.testing.assert_array_equal(again, rows)
    np.testing.assert_array_equal(from_mouse(again), bins)


def test_whatever_the_heads_say_is_a_mouse_row():
    rng = np.random.default_rng(1)
    chosen = np.stack([rng.integers(0, size, 4_000) for size in MOUSE_SIZES], -1)
    rows = from_heads(chosen)
    bins = from_mouse(rows)
    back, lost = to_mouse(bins)
    assert lost == 0
    same = from_mouse(back)
    assert ((same == bins) | ~used_heads(bins)).all()


def test_a_click_says_which_cursor_counts():
    def row(click, key):
        chosen = np.array([0, 10, 6, 4, CLICKS.index(click), HOTKEYS.index(key)])
        return from_heads(chosen)[:2].tolist()

    assert row("right", "none") == row("right", "Space") == [-1.0, 1.0]
    assert row("left", "none") == row("none", "Q") == row("right", "R") == [0.2, -0.2]
    assert row("none", "none") == row("none", "7") == [0.0, 0.0]
    chosen, used = to_heads(np.array([-1.0, 1.0, CLICKS.index("right"), 0.0]))
    assert chosen.tolist() == [0, 10, 5, 5, 2, 0]
    assert used.tolist() == [True, True, False, False, True, True]


def test_the_mouse_may_do_what_the_player_may():
    mask = np.ones(sum(head.size for head in HEADS), np.uint8)
    mask[[3, BIN.aim_x + 7, BIN.fire + 1, BIN.ability + 2, BIN.interact + 1]] = 0
    found = mouse_mask(mask)
    clicks, keys = found[44:47], found[47:]
    assert len(found) == sum(MOUSE_SIZES)
    assert np.flatnonzero(found[:44] == 0).tolist() == [3, 22 + 7]
    assert [name for name, may in zip(CLICKS, clicks, strict=True) if not may] == ["left"]
    assert [name for name, may in zip(HOTKEYS, keys, strict=True) if not may] == ["E", "Space"]


def test_what_the_mouse_may_do_the_world_allows():
    world = make("duel", 4, seed=2)
    views = world.reset()
    mask = views["mask"].reshape(8, -1)
    allowed, rng = mouse_mask(mask), np.random.default_rng(0)
    first = np.cumsum([0, *MOUSE_SIZES])
    for row in range(8):
        heads = [np.flatnonzero(allowed[row, a:b]) for a, b in zip(first, first[1:], strict=False)]
        chosen = np.stack([rng.choice(bins, 200) for bins in heads], -1)
        bins = from_mouse(from_heads(chosen))
        at = np.cumsum([0, *(head.size for head in HEADS[:-1])])
        assert mask[row][bins + at].all()
