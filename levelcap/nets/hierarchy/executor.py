"""The Executor: body, goal and target -> the action, at every decision.

Shapes: T decisions, B rows, C width, A bins of all heads, M bins of the mouse's heads.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from levelcap.nets.aim import bin_edges, logistic_bins, target_logit
from levelcap.nets.hierarchy.attention import ACTIVATIONS
from levelcap.nets.hierarchy.longconv import LongConvolution
from levelcap.nets.hierarchy.lstm import Lstm
from levelcap.nets.hierarchy.memory import State
from levelcap.nets.hierarchy.norm import make_norm
from levelcap.nets.hierarchy.shape import GOAL, TARGET, Shape
from levelcap.nets.hierarchy.ssd import SsdStack
from levelcap.world.mouse import MOUSE_SIZES
from levelcap.world.spec import BODY

NEAR_EVEN = 0.01  # gain of the last layer: an untrained hero presses every button alike


class Executor(nn.Module):
    """[body, goal, target position, target information] -> logits of all heads."""

    sighted: Tensor  # [64] 1 where the body's number is read

    def __init__(
        self, body: int, heads: tuple[int, ...], aim: tuple[int, ...], shape: Shape
    ) -> None:
        """heads: bins of each; aim: the heads that point (they get a centre and a scale)."""
        super().__init__()
        self.head_sizes, self.aim = heads, aim
        self._edges = bin_edges(heads[aim[0]])  # all heads that point have as many bins
        width = shape.deed
        # A clone that sees its last action leans on it (Codevilla et al. 2019 warn of that): erased
        # in play, a siege hero's .40 against veteran fell to .02. benchmarks/log has both forms.
        seen = [shape.last == "seen" or not name.startswith("last_") for name in BODY]
        self.register_buffer("sighted", torch.tensor(seen, dtype=torch.float32), persistent=False)
        activation = ACTIVATIONS[shape.activation]
        self.encode = nn.Sequential(
            nn.Linear(body + GOAL + 2 + TARGET, width),
            make_norm(width, shape.layer_norm),
            activation(),
        )
        self.memory: Lstm | SsdStack | LongConvolution
        if shape.executor == "lstm":
            self.memory = Lstm(width, shape.deed_layers, shape.dropout)
        elif shape.executor == "longconv":
            self.memory = LongConvolution(width, norm=shape.layer_norm)
        else:
            # "ssd" is as deep as its size says, "ssd2" two blocks in every size.
            layers = int(shape.executor.removeprefix("ssd") or shape.deed_layers)
            self.memory = SsdStack(width, layers, shape.state, shape.layer_norm)
        buttons = sum(size for head, size in enumerate(heads) if head not in aim)
        self.head = _head(shape, buttons, len(aim))
        # Where it walks is free, what it points at begins at the target, as its aim does.
        self._walk = sum(MOUSE_SIZES[:2])
        self.mouse: nn.Sequential | None = None
        if shape.mouse == "on":
            self.mouse = _head(shape, self._walk + sum(MOUSE_SIZES[4:]), 2)

    def initial_state(self, rows: int) -> State:
        """Of the memory."""
        return self.memory.initial_state(rows)

    def narrowed(self, bias: Tensor, factor: float) -> Tensor:
        """A head's last bias with the scales of the aim, which come last, this much smaller."""
        change = torch.zeros_like(bias)
        change[-len(self.aim) :] = math.log(factor)
        return bias - change

    def forward(
        self,
        body: Tensor,
        goal: Tensor,
        position: Tensor,
        info: Tensor,
        state: State,
        reset: Tensor | None,
    ) -> tuple[Tensor, Tensor, State]:
        """[T, B, ...] each -> logits [T, B, A], hidden [T, B, C], state."""
        x = self.encode(torch.cat((body * self.sighted, goal, position, info), -1))
        deed, state = self.memory(x, state, reset)
        # The straight way past the memory, as in a residual block.
        deed = deed + x
        out = self.head(deed)
        return self._logits(out, position), deed, state

    def mouse_logits(self, hidden: Tensor, position: Tensor) -> Tensor | None:
        """Logits [T, B, M] of the mouse's heads (`world.mouse`), if there are any."""
        if self.mouse is None:
            return None
        out = self.mouse(hidden)
        points = self._aimed(out, position).flatten(-2)
        walks, buttons = out[..., : self._walk], out[..., self._walk : -2 * len(self.aim)]
        return torch.cat((walks, points, buttons), -1)

    def _aimed(self, out: Tensor, position: Tensor) -> Tensor:
        """The last outputs as logistics around the target: [T, B, 2, bins]."""
        correction, scales = out[..., -2 * len(self.aim) :].chunk(2, -1)
        return logistic_bins(correction + target_logit(position), scales, self._edges)

    def _logits(self, out: Tensor, position: Tensor) -> Tensor:
        """Buttons as they are; aim heads as a logistic around the target."""
        parts, at = [], 0
        aimed = self._aimed(out, position)
        for head, size in enumerate(self.head_sizes):
            if head in self.aim:
                parts.append(aimed[..., self.aim.index(head), :])
            else:
                parts.append(out[..., at : at + size])
                at += size
        return torch.cat(parts, -1)


def _head(shape: Shape, buttons: int, aims: int) -> nn.Sequential:
    """Hidden [C] -> logits of buttons, then centre corrections and scales of what points."""
    first = nn.Linear(shape.deed, shape.deed_head)
    last = nn.Linear(shape.deed_head, buttons + 2 * aims)
    nn.init.orthogonal_(last.weight, NEAR_EVEN)
    nn.init.zeros_(last.bias)
    # Zero exactly: the centre of an untrained aim is the target itself.
    with torch.no_grad():
        last.weight[buttons:] = 0.0
    return nn.Sequential(first, ACTIVATIONS[shape.activation](), last)
