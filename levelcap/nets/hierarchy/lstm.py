"""LSTM over time, with rows that begin anew in the middle. As `nn.LSTM`, whose names it keeps.

torch's own sequence kernel knows no beginnings inside a sequence, so steps are taken one by one;
the input's product, half of the work, is still one product over all T x B rows.

Shapes: T steps, B rows, C numbers a step (in and out).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from levelcap.nets.hierarchy.memory import State


class Lstm(nn.Module):
    """A stack of LSTM layers of one width. See `Memory`."""

    def __init__(self, width: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        self.width, self.layers = width, layers
        # Kept as one module, so that weights and initialisation are torch's own.
        self.lstm = nn.LSTM(width, width, layers)
        self.dropout = nn.Dropout(dropout)

    def initial_state(self, rows: int) -> State:
        """Zeros."""
        shape = (rows, self.layers, self.width)
        return {"h": torch.zeros(shape), "c": torch.zeros(shape)}

    def forward(
        self, x: Tensor, state: State, reset: Tensor | None, valid: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """See `Memory`."""
        hidden, cell = [], []
        for layer in range(self.layers):
            if layer:
                x = self.dropout(x)
            x, h, c = self._layer(layer, x, state, reset, valid)
            hidden.append(h)
            cell.append(c)
        return x, {"h": torch.stack(hidden, 1), "c": torch.stack(cell, 1)}

    def _layer(
        self, layer: int, x: Tensor, state: State, reset: Tensor | None, valid: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        w_in, w_h, b_in, b_h = (
            getattr(self.lstm, f"{name}_l{layer}")
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        gates_in = torch.nn.functional.linear(x, w_in, b_in + b_h)  # [T, B, 4C]
        h, c = state["h"][:, layer], state["c"][:, layer]
        # Most decisions begin no match and end no row: asked once, not once a step.
        begins = [False] * len(x) if reset is None else reset.any(1).tolist()
        partial = [False] * len(x) if valid is None else (~valid).any(1).tolist()
        out = []
        # `unbind`, not [t]: the gradient of an index is a whole array of zeros a step.
        for t, inflow in enumerate(gates_in.unbind(0)):
            if begins[t]:
                assert reset is not None
                goes_on = (~reset[t])[:, None].to(h.dtype)
                h, c = h * goes_on, c * goes_on
            gates = torch.addmm(inflow, h, w_h.t())
            i, f, g, o = gates.chunk(4, 1)
            new_c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            new_h = torch.sigmoid(o) * torch.tanh(new_c)
            out.append(new_h)
            if partial[t]:
                assert valid is not None
                here = valid[t][:, None]
                new_h, new_c = torch.where(here, new_h, h), torch.where(here, new_c, c)
            h, c = new_h, new_c
        return torch.stack(out), h, c
