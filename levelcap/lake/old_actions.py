"""Actions of the old form, `[x, y, click, ability_val]`, read as `[x, y, click_type, hotkey_id]`.

Four numbers a row, as .csv (a line of names may come first) or .npy. What each becomes:

    x, y         the cursor: offsets in [-1, 1], or with `screen` shares of a screen in [0, 1] whose
                 middle is the player; beyond that it is put at the edge
    click        above .5 a left click, else none; the old form has no right click
    ability_val  in [0, 1], cut into as many equal parts as there are hotkeys, the first is none

What that loses is counted in `Losses`, never silently.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from levelcap.kit.errors import BadFile, BadValue, Conflict, refuse
from levelcap.kit.files import write_bytes
from levelcap.world.actions import HOTKEYS, LEFT, MOUSE_FIELDS

OLD_FIELDS = ("x", "y", "click", "ability_val")
KINDS = (".csv", ".npy")
THRESHOLD = 0.5  # of a click
EFFECT = ("Q", "E", "R", "Space")  # keys that do something in this world


@dataclass(frozen=True)
class Losses:
    """Rows of which something was lost or assumed."""

    rows: int
    cursor_at_edge: int
    """x or y lay outside and was put at the edge"""
    click_rounded: int
    """click was neither 0 nor 1"""
    ability_at_edge: int
    """ability_val lay outside [0, 1]"""
    cursor_unused: int
    """a cursor away from the player with neither a click nor an ability: the row stands still"""
    key_without_effect: int
    """a hotkey that does nothing in this world: 1-9, Ctrl"""
    hotkeys: Mapping[str, int]
    """rows of each hotkey"""


def map_old(actions: ArrayLike, screen: bool = False) -> tuple[NDArray[np.float64], Losses]:
    """Old rows [n, 4] -> mouse rows [n, 4] (`world.actions.from_mouse`) and what was lost.

    Raises:
        BadValue: not n rows of four finite numbers.
    """
    old = np.asarray(actions)
    if old.dtype.kind not in "biuf" or old.ndim != 2 or old.shape[1] != len(OLD_FIELDS):
        remedy = f"Give rows of four numbers: {', '.join(OLD_FIELDS)}"
        shown = f"{old.dtype} {list(old.shape)}"
        raise BadValue(refuse("not actions of the old form", shown, remedy))
    old = old.astype(np.float64)
    odd = np.argwhere(~np.isfinite(old))
    if len(odd):
        row, column = odd[0].tolist()
        what = f"{OLD_FIELDS[column]} of row {row} is no finite number"
        raise BadValue(refuse(what, float(old[row, column]), "Mend or leave out the row"))
    place = 2 * old[:, :2] - 1 if screen else old[:, :2]
    cursor, ability = np.clip(place, -1, 1), np.clip(old[:, 3], 0, 1)
    clicks = old[:, 2] > THRESHOLD
    # 1 itself belongs to the last part.
    keys = np.minimum((ability * len(HOTKEYS)).astype(np.int64), len(HOTKEYS) - 1)
    mouse = np.column_stack((cursor, np.where(clicks, LEFT, 0), keys))
    names = np.array(HOTKEYS)[keys]
    points = clicks | np.isin(names, EFFECT[:3])
    losses = Losses(
        rows=len(old),
        cursor_at_edge=int((cursor != place).any(1).sum()),
        click_rounded=int((~np.isin(old[:, 2], (0, 1))).sum()),
        ability_at_edge=int((ability != old[:, 3]).sum()),
        cursor_unused=int((~points & (cursor != 0).any(1)).sum()),
        key_without_effect=int((~np.isin(names, ("none", *EFFECT))).sum()),
        hotkeys={key: int((names == key).sum()) for key in HOTKEYS},
    )
    return mouse, losses


def convert_old(source: Path, out: Path, screen: bool = False) -> Losses:
    """Read a file of the old form, write the new one, as .csv or .npy each; says what was lost.

    Raises:
        BadFile, BadValue: the file holds no such rows. Conflict: there is a file already.
    """
    for path in (source, out):
        if path.suffix not in KINDS:
            remedy = f"Name files that end in {' or '.join(KINDS)}"
            raise BadValue(refuse("actions of the old form are no such file", str(path), remedy))
    if out.exists():
        raise Conflict(refuse("there is a file already", str(out), "Name another file"))
    if not out.parent.is_dir():
        raise BadValue(refuse("no such folder", str(out.parent), "Make it, or name another file"))
    mouse, losses = map_old(_read(source), screen)
    made = io.BytesIO()
    if out.suffix == ".npy":
        np.save(made, mouse)
    else:
        np.savetxt(made, mouse, "%.9g", ",", header=",".join(MOUSE_FIELDS), comments="")
    write_bytes(out, made.getvalue())
    return losses


def _read(path: Path) -> NDArray[np.float64]:
    """The rows of a file."""
    try:
        if path.suffix == ".npy":
            found: NDArray[np.float64] = np.load(path, allow_pickle=False)
            return found
        lines = path.read_text(encoding="utf-8").splitlines()
        named = bool(lines) and re.sub(r"\s", "", lines[0]) == ",".join(OLD_FIELDS)
        rows = [[float(cell) for cell in line.split(",")] for line in lines[named:] if line.strip()]
        return np.array(rows or np.empty((0, len(OLD_FIELDS))))
    except (OSError, ValueError, EOFError) as error:
        remedy = f"Give rows of four numbers, {', '.join(OLD_FIELDS)}, with commas between"
        raise BadFile(refuse(f"no actions of the old form ({error})", str(path), remedy)) from error
