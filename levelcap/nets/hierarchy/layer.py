"""One layer of a hierarchy by itself, as it is published with its role. It plays no world alone.

    strategist  strategy   (summaries [K, R, 192], state, reset [K, R]) -> what is held, state
    tactician   decision   (objects [N, S, O], goal [N, 64]) -> `Sighted`
    executor    execution  (body, goal, position, info, state, reset) -> logits, hidden, state

Weights keep their names in the whole net. The critic serves learning and goes with none of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import nn

from levelcap.kit.errors import BadFile, refuse
from levelcap.nets.hierarchy.net import HierarchyNet, decided
from levelcap.nets.hierarchy.shape import REMEDY, SIZES
from levelcap.nets.meta import Meta
from levelcap.nets.row import Family

NAME = "hierarchy-layer"
ROLES = {"strategist": "strategy", "tactician": "decision", "executor": "execution"}
_HEADS = ("mode_head", "goal_head", "mode_goal", "confidence")
PARTS = {"strategist": ("strategist", *_HEADS), "tactician": ("tactician",)}
PARTS |= {"executor": ("executor",)}


def layer_meta(whole: Meta, layer: str, digest: str) -> Meta:
    """The description of one layer of a net with these weights."""
    shape = {**whole.shape, "layer": layer, "role": ROLES[layer]}
    return replace(whole, architecture=NAME, shape=shape, parents=(digest,))


class LayerNet(nn.Module):
    """See the module."""

    def __init__(self, meta: Meta) -> None:
        super().__init__()
        shape = dict(meta.shape)
        self.layer = str(shape.pop("layer", ""))
        if shape.pop("role", "") != ROLES.get(self.layer):
            raise BadFile(refuse("no layer of a hierarchy", self.layer, REMEDY))
        whole = HierarchyNet(replace(meta, shape=shape))
        for name in PARTS[self.layer]:
            self.add_module(name, whole.get_submodule(name))

    def initial_state(self, rows: int) -> Any:
        """What this layer remembers; the Tactician has no memory."""
        return {} if self.layer == "tactician" else self._part().initial_state(rows)

    def forward(self, *inputs: Any) -> Any:
        """See the module; the Strategist takes the likeliest mode."""
        if self.layer != "strategist":
            return self._part()(*inputs)
        pooled, state = self._part()(*inputs, None)
        logits = self.get_submodule("mode_head")(pooled)
        return decided(self, pooled, logits, logits.argmax(-1)), state

    def _part(self) -> Any:
        return self.get_submodule(self.layer)


FAMILY = Family(NAME, tuple(SIZES), LayerNet)
