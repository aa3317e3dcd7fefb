"""The mouse, learned from teachers who have none: their actions as far as a mouse can say them.

Shapes: T decisions, B segments, A bins of the world's heads, M bins of the mouse's.

A teacher that shoots one way and walks another does what no mouse can: such a row is learned as the
codec writes it (fire wins over the move), and how many there were is part of the report.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from levelcap.learn.maths import heads, losses
from levelcap.world.actions import CENTRE, CLICKS, HOTKEYS, to_mouse
from levelcap.world.mouse import CLICK, HOTKEY, MOUSE_SIZES, mouse_mask, to_heads

CURSORS = {"walk": 0, "point": 2}  # first head of each


def mouse_loss(logits: Tensor, actions: Tensor, mask: Tensor, alive: Tensor) -> Tensor:
    """Cross-entropy of the mouse's heads to the teacher's bins, over the heads that count.

    logits [T, B, M]; actions [T, B, 7] and mask [T, B, A] of the world's heads; alive [T, B].
    """
    allowed = torch.from_numpy(mouse_mask(mask.numpy()))
    chosen, used = to_heads(to_mouse(actions.numpy())[0])
    log_p = heads.split_log_softmax(logits, allowed, MOUSE_SIZES)
    # An unused cursor teaches nothing: whoever stands still points nowhere.
    counts = torch.from_numpy(used).float()
    masks = allowed.split(MOUSE_SIZES, -1)
    return losses.smoothed_cross_entropy(log_p, masks, torch.from_numpy(chosen), counts, alive)


class MouseReport:
    """How often the likeliest click, hotkey and cursor are the teacher's, over many batches."""

    def __init__(self) -> None:
        self._tables = {CLICK: np.zeros((len(CLICKS),) * 2), HOTKEY: np.zeros((len(HOTKEYS),) * 2)}
        self._cursors = dict.fromkeys(CURSORS, (0.0, 0))  # half turns off, rows
        self._lost = 0

    def add(self, logits: Tensor, actions: Tensor, mask: Tensor, alive: Tensor) -> None:
        """Take in a batch; see `mouse_loss`."""
        # [n, ...]: the living rows only, so that what the mouse cannot say is counted of them.
        here = alive > 0
        allowed = torch.from_numpy(mouse_mask(mask[here].numpy()))
        rows, lost = to_mouse(actions[here].numpy())
        chosen, used = to_heads(rows)
        log_p = heads.split_log_softmax(logits[here], allowed, MOUSE_SIZES)
        mine = torch.stack([part.argmax(-1) for part in log_p], -1)
        for head, found in self._tables.items():
            np.add.at(found, (chosen[:, head], mine[:, head].numpy()), 1)
        for name, first in CURSORS.items():
            place, counts = slice(first, first + 2), used[:, first]
            off = half_turns(mine[counts, place], torch.from_numpy(chosen[counts, place]))
            error, cursors = self._cursors[name]
            self._cursors[name] = error + float(off.sum()), cursors + len(off)
        self._lost += lost

    def shares(self) -> dict[str, float]:
        """Accuracies beside those of always saying the commonest, cursor errors, rows that lost."""
        found = {
            f"cursor_{n}_error": off / max(rows, 1) for n, (off, rows) in self._cursors.items()
        }
        for name, head in (("click", CLICK), ("hotkey", HOTKEY)):
            table = self._tables[head]
            rows = max(table.sum(), 1)
            found[f"{name}_accuracy"] = float(table.trace() / rows)
            found[f"{name}_majority"] = float(table.sum(1).max() / rows)
        found["mouse_lost"] = self._lost / max(float(self._tables[CLICK].sum()), 1)
        return found


def half_turns(mine: Tensor, taught: Tensor) -> Tensor:
    """Angles [n] between the directions of two cursors [n, 2] in bins, in half turns."""
    angles = [torch.atan2(*(place - CENTRE).float().unbind(-1)) for place in (mine, taught)]
    apart = torch.remainder(angles[0] - angles[1] + math.pi, 2 * math.pi) - math.pi
    return apart.abs() / math.pi
