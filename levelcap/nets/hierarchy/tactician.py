"""The Tactician: which of the objects in sight matters, and how to approach it.

Shapes: N rows, S object slots, O columns of an object, C width.

Goal -> objects cross-attention. The first head chooses the target: 16 slots and a learned "none".
The second looks where it likes; both are read by the target information. Before training the scores
prefer the nearest visible enemy, so that an untrained hero aims at somebody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from levelcap.nets.aim import DISTANCE, DX, DY, ENEMY, SHOT, VISIBLE
from levelcap.nets.hierarchy.attention import ACTIVATIONS, Layer
from levelcap.nets.hierarchy.shape import GOAL, TARGET, Shape

APPROACH = ("vx", "vy", "urgency", "aggression")
PRIOR = (4.0, -3.0)  # of a visible enemy, and for each unit of sight between: e^4 against "none"
HEADS = 2


@dataclass(frozen=True)
class Sighted:
    """What the Tactician made of N scenes."""

    scores: Tensor  # [N, S + 1] log-odds of each slot to be the target; the last is "none"
    attention: Tensor  # [N, S + 1] their softmax
    target: Tensor  # int64 [N] the likeliest
    position: Tensor  # [N, 2] where it is; 0 for none; no gradient
    info: Tensor  # [N, 32]
    approach: Tensor  # [N, 4] see APPROACH


class Tactician(nn.Module):
    """Objects [N, S, O] and goal [N, 64] -> `Sighted`."""

    def __init__(self, columns: int, shape: Shape) -> None:
        super().__init__()
        width = shape.scene
        self.targeting = shape.targeting
        self.objects = nn.Sequential(nn.Linear(columns, width), ACTIVATIONS[shape.activation]())
        self.goal = nn.Linear(GOAL, width)
        count = shape.scene_layers if shape.tactician == "self" else 0
        layers = [Layer(width, HEADS, shape.scene_ffn, shape) for _ in range(count)]
        self.layers = nn.ModuleList(layers)
        self.none = nn.Parameter(torch.zeros(width))
        # Queries in the objects' own space: projecting keys and values of 16 objects would cost
        # three times as much, and softmax(q K x) V x is the same family of functions.
        self.q = nn.Linear(width, HEADS * width)
        self.out = nn.Linear(HEADS * width, width)
        if shape.targeting == "pointer":
            self.point = nn.Linear(width, 1, bias=False)
        elif shape.targeting == "concat":
            self.point = nn.Linear(2 * width, 1)
        self.prior = nn.Parameter(torch.tensor(PRIOR))
        hidden = max(8, width // 2)
        self.approach = _head(width, hidden, len(APPROACH), shape)
        self.info = _head(width, hidden, TARGET, shape)

    def forward(self, objects: Tensor, goal: Tensor) -> Sighted:
        """See `Sighted`."""
        exists = (objects != 0).any(-1)  # [N, S]
        items = self.objects(objects)
        for layer in self.layers:
            items = layer(items, exists)
        wish = self.goal(goal)  # [N, C]
        q = self.q(wish).unflatten(-1, (HEADS, -1)) / math.sqrt(wish.shape[-1])  # [N, H, C]
        scores = torch.cat((q @ items.transpose(1, 2), (q @ self.none)[..., None]), -1)
        target = scores[:, 0] if self.targeting == "cross" else self._point(items, wish)
        target = target + self._prior(objects)
        # What does not exist cannot be looked at; "none" always can.
        here = torch.cat((exists, exists.new_ones(exists.shape[0], 1)), 1)
        target = target.masked_fill(~here, -math.inf)
        free = scores[:, 1].masked_fill(~here, -math.inf)
        weights = torch.stack((target, free), 1).softmax(-1)  # [N, H, S + 1]
        context = weights[..., :-1] @ items + weights[..., -1:] * self.none  # [N, H, C]
        context = self.out(context.flatten(1))
        chosen = target.argmax(-1)
        position = _positions(objects, chosen)
        return Sighted(
            target, weights[:, 0], chosen, position, self.info(context), self.approach(context)
        )

    def _point(self, items: Tensor, wish: Tensor) -> Tensor:
        """Scores [N, S + 1] by a pointer, or by a layer over (object, goal)."""
        items = torch.cat((items, self.none.expand(items.shape[0], 1, -1)), 1)
        if self.targeting == "pointer":
            joined = torch.tanh(items + wish[:, None])
        else:
            joined = torch.cat((items, wish[:, None].expand_as(items)), -1)
        found: Tensor = self.point(joined).squeeze(-1)
        return found

    def _prior(self, objects: Tensor) -> Tensor:
        """Scores [N, S + 1] before anything is learned: near visible enemies."""
        enemy = objects[..., ENEMY] * objects[..., VISIBLE] * (1 - objects[..., SHOT])
        found = enemy * (self.prior[0] + self.prior[1] * objects[..., DISTANCE])
        return nn.functional.pad(found, (0, 1))


def _head(width: int, hidden: int, out: int, shape: Shape) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, hidden), ACTIVATIONS[shape.activation](), nn.Linear(hidden, out)
    )


def _positions(objects: Tensor, chosen: Tensor) -> Tensor:
    """Offsets [N, 2] of the chosen slots; 0 for none. No gradient: a choice is no number."""
    slots = objects.shape[1]
    at = chosen.clamp(max=slots - 1)
    rows = at[:, None, None].expand(-1, 1, objects.shape[-1])
    found = objects.gather(1, rows)[:, 0, [DX, DY]]
    return (found * (chosen < slots)[:, None]).detach()
