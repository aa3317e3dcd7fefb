"""What carries a state through time: run over T steps in one pass, or one step after the other.

Shapes: T steps, B rows, C numbers a step.

A memory knows where a row's match begins (`reset`) and which steps exist at all (`valid`: rows of
a batch may have fewer steps than T; their state stops where they do).
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

State = dict[str, Tensor]  # rows first


class Memory(Protocol):
    """One layer or a stack of them."""

    def initial_state(self, rows: int) -> State:
        """State of rows whose match begins."""
        ...

    def __call__(
        self, x: Tensor, state: State, reset: Tensor | None, valid: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """x [T, B, C] -> [T, B, C] and the state after each row's last valid step.

        reset: bool [T, B], forget before this step; None, for one step: nobody does, so that the
        step has no branch and can be traced. valid: bool [T, B], a row's first steps.
        """
        ...


def part(state: State, prefix: str) -> State:
    """The entries of one layer, by their names without the prefix."""
    return {n.removeprefix(prefix): t for n, t in state.items() if n.startswith(prefix)}


def named(state: State, prefix: str) -> State:
    """The entries of one layer under their names in a larger state."""
    return {prefix + name: tensor for name, tensor in state.items()}


def segments(reset: Tensor) -> Tensor:
    """How many matches have begun up to each step, [T, B]: equal where nothing lies between."""
    return torch.cumsum(reset, 0)


def newest(long: Tensor, match: Tensor, valid: Tensor | None) -> Tensor:
    """The inputs that the next steps need, [B, n, ...]: the newest of each row's own match.

    long [n + T, B, ...]: n inputs that came with the state, oldest first, and those of T steps.
    match [T, B]: `segments`.
    """
    steps, before = len(match), len(long) - len(match)
    # The inputs that came before belong to the match that was going on: number 0.
    number = functional.pad(match, (0, 0, before, 0))
    if valid is None:
        kept, owner, now = long[steps:], number[steps:], match[-1]
    else:
        # A row's last inputs lie where its own steps end.
        ends = valid.sum(0)
        at = ends + torch.arange(before)[:, None]  # [n, B]
        rest = (1,) * (long.ndim - 2)
        kept = long.gather(0, at.view(*at.shape, *rest).expand(-1, -1, *long.shape[2:]))
        owner = number.gather(0, at)
        now = number.gather(0, (ends + before - 1)[None])[0]
    mine = (owner == now).view(before, -1, *[1] * (long.ndim - 2))
    return (kept * mine).transpose(0, 1)


def short_convolution(
    mixed: Tensor, before: Tensor, match: Tensor, layer: nn.Conv1d
) -> tuple[Tensor, Tensor]:
    """A causal convolution over a few steps, channel by channel; nothing crosses into a new match.

    mixed [T, B, M], before [B, taps - 1, M] -> [T, B, M], and both after each other for `newest`.
    """
    kernel = layer.weight[:, 0]  # [M, taps]
    taps, steps = kernel.shape[1] - 1, len(mixed)
    long = torch.cat((before.transpose(0, 1), mixed))  # [taps + T, B, M]
    number = functional.pad(match, (0, 0, taps, 0))
    assert layer.bias is not None
    out = mixed * kernel[:, -1] + layer.bias
    crossed = bool((match != 0).any())
    for back in range(1, taps + 1):
        at = slice(taps - back, taps - back + steps)
        term = long[at] * kernel[:, -1 - back]
        if crossed:
            term = term * (number[at] == match)[..., None]
        out = out + term
    return out, long
