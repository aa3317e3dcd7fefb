"""The mouse as a net has it: six categorical heads that say every mouse row, and no other.

    walk_x, walk_y    the cursor of a right click: where to go, 11 bins each
    point_x, point_y  the cursor of a left click or an ability: what to hit, 11 bins each
    click, hotkey     `CLICKS` and `HOTKEYS`

A mouse has one cursor, but where one walks and what one shoots at are seldom the same place: each
use has its own distribution, and the click (or the ability, which wins) says which one is the
cursor. `to_heads` and `from_heads` are exact on every row that `to_mouse` writes.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from levelcap.world.actions import (
    CENTRE,
    CLICKS,
    HOTKEYS,
    KEY_Q,
    KEY_SPACE,
    LEFT,
    MOUSE_FIELDS,
    RIGHT,
)
from levelcap.world.rules.columns import BIN
from levelcap.world.spec import MOVE_BINS, Head

Control = Literal["heads", "mouse"]  # what a net acts with
CURSORS = ("walk_x", "walk_y", "point_x", "point_y")
MOUSE_HEADS = (
    *(Head(name, MOVE_BINS) for name in CURSORS),
    Head("click", len(CLICKS)),
    Head("hotkey", len(HOTKEYS)),
)
MOUSE_SIZES = tuple(head.size for head in MOUSE_HEADS)
CLICK, HOTKEY = 4, 5  # heads
_KEYS = {"Q": BIN.ability + 1, "E": BIN.ability + 2, "R": BIN.ability + 3}
_KEYS |= {"Space": BIN.interact + 1}
# Of every bin of the mouse the bin of the world's heads that must be allowed: keys without effect
# and clicks that do not fire are as free as not to fire.
_NEEDS = [
    *range(BIN.move_x, BIN.move_x + len(CURSORS) * MOVE_BINS),
    *(BIN.fire + int(click == "left") for click in CLICKS),
    *(_KEYS.get(key, BIN.ability) for key in HOTKEYS),
]


def mouse_mask(mask: NDArray[Any]) -> NDArray[Any]:
    """What the mouse may do [..., 62] where the world's heads may do this [..., 52]."""
    return np.ascontiguousarray(mask[..., _NEEDS])


def from_heads(chosen: NDArray[Any]) -> NDArray[np.float64]:
    """Bins of the mouse's heads [..., 6] -> mouse rows [..., 4]."""
    points, walks = _uses(chosen[..., CLICK], chosen[..., HOTKEY])
    cursor = np.where(walks[..., None], chosen[..., 0:2], CENTRE)
    cursor = np.where(points[..., None], chosen[..., 2:4], cursor)
    rows = np.empty((*chosen.shape[:-1], len(MOUSE_FIELDS)), np.float64)
    rows[..., :2] = (cursor.astype(np.float64) - CENTRE) / CENTRE
    rows[..., 2:] = chosen[..., [CLICK, HOTKEY]]
    return rows


def to_heads(mouse: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Mouse rows [..., 4] -> bins of the mouse's heads and which of them count, both [..., 6]."""
    click, key = mouse[..., 2].astype(np.int64), mouse[..., 3].astype(np.int64)
    points, walks = _uses(click, key)
    used = np.stack((walks, walks, points, points, *2 * (np.ones_like(walks),)), -1)
    cursor = CENTRE + np.rint(CENTRE * mouse[..., :2]).astype(np.int64)
    chosen = np.concatenate((cursor, cursor, click[..., None], key[..., None]), -1)
    return np.where(used, chosen, CENTRE), used


def _uses(click: NDArray[Any], key: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Rows whose cursor points at something, and those whose cursor is a place to go only."""
    points = (click == LEFT) | ((key >= KEY_Q) & (key < KEY_SPACE))
    return points, (click == RIGHT) & ~points
