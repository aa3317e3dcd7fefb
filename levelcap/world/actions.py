"""Actions: numbers a person can read <-> head indices, and the mouse-and-keyboard form.

Three forms of the same decision, for one player or for arrays of them:

    Action  move_x, move_y, aim_x, aim_y in [-1, 1], fire, ability (0 none, 1 Q, 2 E, 3 R), interact
    bins    uint8 [..., 7], one index per head (`spec.HEADS`); 11 bins each for move and aim, bin 5
            is 0
    mouse   [..., 4] = x, y, click_type, hotkey_id; x, y in [-1, 1] is the cursor relative to the
            player in units of sight; see `CLICKS` and `HOTKEYS`

Mouse -> bins is defined everywhere: left fires at the cursor, right moves towards it (the cursor's
offset is the move), no click stands; Q, E and R use the ability at the cursor, Space interacts,
1-9 and Ctrl do nothing. Aim heads that are not used read 0. Bins -> mouse -> bins is the identity
on what the mouse can say. A mouse has one cursor and one hotkey: elsewhere fire (or an ability)
wins over a move to another place, an ability wins over interact, and the rows that lost something
are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.world.spec import HEADS, MOVE_BINS

CENTRE = MOVE_BINS // 2
CLICKS = ("none", "left", "right")
HOTKEYS = ("none", "1", "2", "3", "4", "5", "6", "7", "8", "9", "Q", "E", "R", "Space", "Ctrl")
MOUSE_FIELDS = ("x", "y", "click_type", "hotkey_id")
FIRE, ABILITY, INTERACT = 4, 5, 6  # heads
LEFT, RIGHT = CLICKS.index("left"), CLICKS.index("right")
KEY_Q, KEY_SPACE = HOTKEYS.index("Q"), HOTKEYS.index("Space")

Bins = NDArray[np.uint8]


@dataclass(frozen=True)
class Action:
    """One decision of one player, or of many: every field may be a number or an array [...]."""

    move_x: Any = 0.0
    move_y: Any = 0.0
    aim_x: Any = 0.0  # cursor offset from the player in units of sight
    aim_y: Any = 0.0
    fire: Any = 0
    ability: Any = 0  # 0 none, 1 Q, 2 E, 3 R
    interact: Any = 0


def encode(action: Action | ArrayLike) -> Bins:
    """Actions -> bins uint8 [..., 7], each move and aim to its nearest bin.

    action: an `Action` (of numbers or arrays that broadcast), or an array [..., 7] of the same
    values in the order of the heads.

    Raises:
        BadValue: not a number, or out of range; names the field and the value.
    """
    if isinstance(action, Action):
        columns = np.broadcast_arrays(
            *(_numbers(f.name, getattr(action, f.name)) for f in fields(action))
        )
        values = np.stack(columns, axis=-1)
    else:
        values = _numbers("action", action)
        _check_last("action", values, len(HEADS))
    bins = np.empty(values.shape, np.uint8)
    for h, head in enumerate(HEADS):
        column = values[..., h]
        if head.size == MOVE_BINS:
            _check_range(head.name, column, -1.0, 1.0)
            # Rounding the offset, not the index, treats left and right alike.
            bins[..., h] = CENTRE + np.rint(CENTRE * column)
        else:
            _check_choice(head.name, column, head.size)
            bins[..., h] = column
    return bins


def decode(bins: ArrayLike) -> Action:
    """Bins [..., 7] -> `Action`: plain numbers for one row [7], arrays [...] for more.

    Raises:
        BadValue: wrong shape or dtype, or a bin its head does not have.
    """
    array = _check_bins(bins)
    values: list[Any] = []
    for h, head in enumerate(HEADS):
        column: Any = array[..., h]
        if head.size == MOVE_BINS:
            column = (column.astype(np.float64) - CENTRE) / CENTRE
        values.append(column.item() if array.ndim == 1 else column)
    return Action(*values)


def used_heads(bins: ArrayLike) -> NDArray[np.bool_]:
    """Which heads count in each row: bins [..., 7] -> bool [..., 7].

    Move, fire, ability and interact always; aim only with fire = 1 or an ability. Log-probability,
    entropy, KL and imitation loss sum over these.
    """
    array = _check_bins(bins)
    used = np.ones(array.shape, np.bool_)
    used[..., 2:4] = ((array[..., FIRE] == 1) | (array[..., ABILITY] > 0))[..., None]
    return used


def from_mouse(mouse: ArrayLike) -> Bins:
    """Mouse rows [..., 4] -> bins uint8 [..., 7]; every mouse row means exactly one row of bins.

    Raises:
        BadValue: not a number, a cursor outside [-1, 1], or an unknown click or hotkey.
    """
    values = _numbers("mouse action", mouse)
    _check_last("mouse action", values, len(MOUSE_FIELDS))
    for column, name in enumerate(MOUSE_FIELDS[:2]):
        _check_range(name, values[..., column], -1.0, 1.0)
    _check_choice("click_type", values[..., 2], len(CLICKS))
    _check_choice("hotkey_id", values[..., 3], len(HOTKEYS))
    cursor = CENTRE + np.rint(CENTRE * values[..., :2])
    click, key = values[..., 2].astype(np.int64), values[..., 3].astype(np.int64)
    ability = np.where((key >= KEY_Q) & (key < KEY_SPACE), key - KEY_Q + 1, 0)
    aims = ((click == LEFT) | (ability > 0))[..., None]
    bins = np.zeros((*values.shape[:-1], len(HEADS)), np.uint8)
    bins[..., 0:2] = np.where((click == RIGHT)[..., None], cursor, CENTRE)
    bins[..., 2:4] = np.where(aims, cursor, CENTRE)
    bins[..., FIRE] = click == LEFT
    bins[..., ABILITY] = ability
    bins[..., INTERACT] = key == KEY_SPACE
    return bins


def to_mouse(bins: ArrayLike) -> tuple[NDArray[np.float64], int]:
    """Bins [..., 7] -> mouse rows float64 [..., 4] and the number of rows that lost something.

    A row is lossy when a used head reads differently after coming back through `from_mouse`.
    """
    array = _check_bins(bins)
    move, aim = array[..., 0:2], array[..., 2:4]
    fires, ability = array[..., FIRE] == 1, array[..., ABILITY]
    attacks = fires | (ability > 0)
    moves = (move != CENTRE).any(axis=-1)
    cursor = np.where(attacks[..., None], aim, move).astype(np.float64)
    # An ability leaves the right button free when the move goes to the cursor as well.
    walks = ~fires & moves & (~attacks | (move == aim).all(axis=-1))
    mouse = np.zeros((*array.shape[:-1], len(MOUSE_FIELDS)), np.float64)
    mouse[..., 0:2] = (cursor - CENTRE) / CENTRE
    mouse[..., 2] = np.where(fires, LEFT, np.where(walks, RIGHT, 0))
    space = np.where(array[..., INTERACT] == 1, KEY_SPACE, 0)
    mouse[..., 3] = np.where(ability > 0, KEY_Q - 1 + ability.astype(np.int64), space)
    changed = (from_mouse(mouse) != array) & used_heads(array)
    return mouse, int(changed.any(axis=-1).sum())


def _numbers(name: str, value: object) -> NDArray[np.float64]:
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise BadValue(refuse(f"{name} is not a number", value, "Give numbers")) from error


def _check_last(name: str, values: NDArray[Any], size: int) -> None:
    if values.ndim == 0 or values.shape[-1] != size:
        remedy = f"Give {size} values in the last axis"
        raise BadValue(refuse(f"{name} has the wrong shape", values.shape, remedy))


def _check_range(name: str, column: NDArray[np.float64], low: float, high: float) -> None:
    fine = (column >= low) & (column <= high)  # false for NaN as well
    if not fine.all():
        bad = float(column[~fine].flat[0])
        what = f"{name} is out of range" if np.isfinite(bad) else f"{name} is not a finite number"
        raise BadValue(refuse(what, bad, f"Give a number from {low:g} to {high:g}"))


def _check_choice(name: str, column: NDArray[np.float64], size: int) -> None:
    _check_range(name, column, 0, size - 1)
    whole = column == np.rint(column)
    if not whole.all():
        bad = float(column[~whole].flat[0])
        remedy = f"Give a whole number from 0 to {size - 1}"
        raise BadValue(refuse(f"{name} is not a whole number", bad, remedy))


def _check_bins(bins: ArrayLike) -> Bins:
    array = np.asarray(bins)
    _check_last("bins", array, len(HEADS))
    if array.dtype.kind not in "iu":
        raise BadValue(refuse("bins have the wrong dtype", str(array.dtype), "Give integers"))
    for h, head in enumerate(HEADS):
        column = array[..., h]
        bad = (column < 0) | (column >= head.size)
        if bad.any():
            value = int(column[bad].flat[0])
            remedy = f"Give a bin from 0 to {head.size - 1}"
            raise BadValue(refuse(f"bin of {head.name} is out of range", value, remedy))
    return array.astype(np.uint8)
