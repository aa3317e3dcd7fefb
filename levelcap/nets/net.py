"""What every net that plays a world can do: carry a state, unroll over time.

Shapes: T decisions, B rows (players), D numbers of all float views side by side, A bins of all
action heads together, K options of a sampled latent choice.

A learner, an actor and a policy know this class and no other: `unroll` over T decisions is what
they train with, `unroll` over one decision is how they play.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from levelcap.world.spec import WorldSpec

INPUT_LIMIT = 10.0  # standardised inputs beyond ten deviations are outliers; they are cut there

State = dict[str, Tensor]  # rows first; empty: the net remembers nothing


@dataclass(frozen=True)
class ViewLayout:
    """How the named views of one row lie side by side in D numbers."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    offsets: tuple[int, ...]  # one more than names: the last is D

    @classmethod
    def of(cls, spec: WorldSpec, names: Sequence[str]) -> ViewLayout:
        """The layout of these views of a world."""
        sizes = [spec.views[name].size for name in names]
        return cls(
            tuple(names),
            tuple(spec.views[name].shape for name in names),
            tuple(np.cumsum([0, *sizes]).tolist()),
        )

    @property
    def size(self) -> int:
        """D."""
        return self.offsets[-1]

    def pack(self, views: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Rows [n, …] of the views as one array [n, D].

        In memory that torch allocates: it begins at a multiple of 64 bytes. Matrix products add in
        another order where rows begin elsewhere, and the same rows must be answered with the same
        bits wherever they come from.
        """
        rows = len(views[self.names[0]])
        packed: NDArray[np.float32] = torch.empty(rows, self.size).numpy()
        parts = [views[name].reshape(rows, -1) for name in self.names]
        return np.concatenate(parts, axis=1, out=packed, casting="unsafe")


@dataclass(frozen=True)
class Inputs:
    """Views of T x B decisions: all of them packed, or one by its name."""

    packed: Tensor  # [T, B, D]
    layout: ViewLayout
    chance: Tensor | None = None  # [T, B] in [0, 1): what a choice is drawn with; None: likeliest
    pace: int = 1  # decisions in the time of one it was trained with (live play at every tick)
    order: Tensor | None = None  # [B, G] added to what the net wants, if it has a goal

    def __getitem__(self, name: str) -> Tensor:
        """One view, [T, B, …]; shares memory with `packed`."""
        at = self.layout.names.index(name)
        # A slice of the last axis: no copy.
        part = self.packed[..., self.layout.offsets[at] : self.layout.offsets[at + 1]]
        return part.unflatten(-1, self.layout.shapes[at])


@dataclass(frozen=True)
class Unrolled:
    """What a net made of T decisions."""

    logits: Tensor  # [T, B, A]
    values: Tensor  # [T, B], NaN where the net has `critic_views` and was not given them
    state: State  # after the last decision
    choices: Tensor | None = None  # int64 [T, B]: the sampled latent, given or drawn
    choice_logits: Tensor | None = None  # [T, B, K]
    choice_due: Tensor | None = None  # bool [T, B]: drawn at this decision, not carried over
    mind: dict[str, Tensor] = field(default_factory=dict)  # [T, B, …], worth drawing
    mouse: Tensor | None = None  # [T, B, 62] logits of the mouse's heads (`world.mouse`)


class Net(nn.Module):
    """Base of all net families that play a world. `unroll` must be written."""

    recurrent = False
    """does it carry a state from one decision to the next?"""
    num_choices = 0
    """options of the latent it samples; 0: it samples none"""
    goal_size = 0
    """G, numbers of the goal it holds, to which an order can be added; 0: it holds none"""
    critic_views: tuple[str, ...] = ()
    """views that its value reads besides, and its policy never does; without them values are NaN"""
    has_mouse = False
    """can it also say what it does with mouse and hotbar? RL learns nothing of that"""

    def initial_state(self, rows: int) -> State:
        """State of rows whose match begins."""
        return {}

    def unroll(
        self, views: Inputs, state: State, reset: Tensor, choices: Tensor | None = None
    ) -> Unrolled:
        """Go through T decisions of B rows.

        reset: bool [T, B]; where it is set the row's match begins and its state is forgotten
        before the decision. choices: int64 [T, B], what was drawn when acting; None: draw now, with
        `views.chance`.
        """
        raise NotImplementedError

    def recall(self, state: State, history: Tensor, valid: Tensor) -> State:
        """The state with a past that was not decided in: rows of a view, one a second.

        history [S, B, ...], oldest first; valid: bool [S, B], False before the match began.
        """
        return state

    def hidden_matrices(self) -> list[nn.Parameter]:
        """What Muon steps: matrices that are neither the first nor the last layer."""
        return []

    def shared_parameters(self) -> Iterable[nn.Parameter]:
        """What policy and value share: left alone while only the value's head warms up."""
        return []

    def steadied(self, weights: State, factor: float) -> State:
        """These weights of the net, aiming `factor` times as narrowly at the same points.

        A clone copies its teacher's error, and draws both axes of it apart: the spread of its aim
        is the teacher's mistakes, its middle the teacher's intention. A net that does not aim, or
        does not know how, returns what it was given.
        """
        return weights

    # Standardisation of inputs by running moments, for worlds whose scales nobody has chosen.

    def keep_moments(self, size: int) -> None:
        """Standardise inputs [.., size] from now on; the moments are part of the checkpoint."""
        self.register_buffer("shift", torch.zeros(size))
        self.register_buffer("scale", torch.ones(size))

    @torch.no_grad()
    def set_moments(self, mean: NDArray[np.float64], var: NDArray[np.float64]) -> None:
        """Standardise with these moments; a column that never changed is only centred."""
        scale = 1.0 / np.sqrt(np.where(var > 1e-12, var, 1.0))
        self.get_buffer("shift").copy_(torch.from_numpy(mean.astype(np.float32)))
        self.get_buffer("scale").copy_(torch.from_numpy(scale.astype(np.float32)))

    def standardised(self, inputs: Tensor) -> Tensor:
        """Inputs [.., size] by the moments kept, if any are."""
        if "shift" not in self._buffers:
            return inputs
        shift, scale = self.get_buffer("shift"), self.get_buffer("scale")
        return ((inputs - shift) * scale).clamp(-INPUT_LIMIT, INPUT_LIMIT)


def reset_rows(state: State, fresh: State, reset: Tensor) -> State:
    """The state with the rows of `reset` [B] replaced by fresh ones."""
    # Most decisions begin no match.
    if not reset.any():
        return state

    def pick(name: str) -> Tensor:
        rows = reset.view(-1, *[1] * (state[name].ndim - 1))
        return torch.where(rows, fresh[name], state[name])

    return {name: pick(name) for name in state}


def choice_log_prob(out: Unrolled) -> Tensor:
    """Log-probability [T, B] of the latents drawn; 0 where one was carried over."""
    assert out.choices is not None and out.choice_logits is not None and out.choice_due is not None
    chosen = torch.log_softmax(out.choice_logits, -1).gather(-1, out.choices[..., None])
    return chosen.squeeze(-1) * out.choice_due


def count_parameters(net: nn.Module) -> int:
    """Trainable numbers of a net."""
    return sum(p.numel() for p in net.parameters())
