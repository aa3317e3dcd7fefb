"""What carries a state through time: run over T steps in one pass, or one step after the other.

Shapes: T steps, B rows, C numbers a step.

A memory knows where a row's match begins (`reset`) and which steps exist at all (`valid`: rows of
a batch may have fewer steps than T; their state stops where they do).
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

State = dict[str, Tensor]  # rows first


class Memory(Protocol):
    """One layer or a stack of them."""

    def initial_state(self, rows: int) -> State:
        """State of rows whose match begins."""
        ...

    def __call__(
        self, x: Tensor, state: State, reset: Tensor, valid: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """x [T, B, C] -> [T, B, C] and the state after each row's last valid step.

        reset: bool [T, B], forget before this step. valid: bool [T, B], a row's first steps.
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
