"""The recurrent actor-critic of the extension drill: a GRU between the views and the heads.

Shapes: T decisions, B rows, D input numbers, H hidden, A bins of all heads together.

This file and one name in `_FILES` of `nets/family.py` are the whole of a new net family.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from levelcap.nets.meta import Meta
from levelcap.nets.net import Inputs, Net, State, Unrolled, reset_rows
from levelcap.nets.row import Family, world_meta
from levelcap.world.spec import WorldSpec

SIZES = {"dummy": 16, "slim": 48}


def gru_meta(
    spec: WorldSpec, size: str = "slim", standardise: bool = False, views: tuple[str, ...] = ()
) -> Meta:
    """The description of a new GRU net for this world."""
    views = views or spec.flat_views
    width = sum(spec.views[name].size for name in views)
    shape = {"input_size": width, "hidden": SIZES[size], "standardise": standardise}
    return world_meta("gru", spec, size, views, shape)


class GruNet(Net):
    """Views [.., D] -> GRU [.., H] -> logits [.., A] and value [..]; the state is the GRU's."""

    recurrent = True

    def __init__(self, meta: Meta) -> None:
        super().__init__()
        self.width = meta.shape["hidden"]
        self.cell = nn.GRUCell(meta.input_size, self.width)
        self.policy = nn.Linear(self.width, sum(meta.head_sizes))
        self.value = nn.Linear(self.width, 1)
        if meta.shape["standardise"]:
            self.keep_moments(meta.input_size)

    def initial_state(self, rows: int) -> State:
        """Nothing seen yet."""
        return {"hidden": torch.zeros(rows, self.width)}

    def shared_parameters(self):
        """The cell."""
        return self.cell.parameters()

    def unroll(
        self, views: Inputs, state: State, reset: Tensor, choices: Tensor | None = None
    ) -> Unrolled:
        """One decision after the other."""
        inputs, seen = self.standardised(views.packed), []
        fresh = self.initial_state(inputs.shape[1])
        for t in range(len(inputs)):
            state = reset_rows(state, fresh, reset[t])
            state = {"hidden": self.cell(inputs[t], state["hidden"])}
            seen.append(state["hidden"])
        hidden = torch.stack(seen)  # [T, B, H]
        return Unrolled(self.policy(hidden), self.value(hidden).squeeze(-1), state)


FAMILY = Family("gru", tuple(SIZES), GruNet, gru_meta)
