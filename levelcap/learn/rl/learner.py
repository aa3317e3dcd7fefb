"""The learning half: gradients of one minibatch, by whichever path fits the net.

loss = - rho A log pi(a)            V-trace policy gradient, A + upgo_coef * UPGO advantage
       + value_coef / 2 (V - G)^2   G = TD(lambda) target
       + kl_coef KL(pi || pi_sup) - entropy_coef H(pi)

With `clip` a step pushes only while its probability has moved by less than that share since its
batch was begun (PPO, Schulman et al. 2017), which is what makes it safe to learn from a batch
twice. While the value warms up only the value's term is used. With a teacher the policy follows
what it would have done, and nothing else: - teacher_coef log pi(a_teacher).

`general.py` is autograd over `learn/maths` and takes any net. `fused.py` computes the same numbers
in one pass of compiled code where every decision stands alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from levelcap.learn.maths.fused import HeadLayout
from levelcap.learn.rl.batch import MODE, Batch
from levelcap.learn.rl.config import RlConfig
from levelcap.nets.meta import Meta
from levelcap.nets.net import Inputs, Net, State, Unrolled, ViewLayout

Floats = NDArray[np.float32]


class Learner(ABC):
    """Computes gradients of `net`; keeps what it needs between the updates of a batch."""

    def __init__(self, net: Net, meta: Meta, layout: ViewLayout, config: RlConfig) -> None:
        self.net, self.meta, self.config = net, meta, config
        self.entropy_coef = config.entropy_coef  # falls during a run (`RlTask.sync`)
        self._views = layout
        self._heads = HeadLayout.of(meta.head_sizes, meta.aim_heads, meta.aim_users)

    def begin(self, batch: Batch) -> None:
        """Before the first update of a batch: log pi(a) of every minibatch, which `clip` refers to.

        Not those of the policy that acted, which is a batch older: what it has changed since would
        count against this batch (Hilton et al. 2021).
        """
        if self.config.clip == 0:
            return
        batch.anchors = np.empty_like(batch.log_probs)
        for minibatch, anchors in enumerate(batch.anchors):
            # No gradient: these are the constants that `clip` compares with.
            with torch.no_grad():
                out = self.unroll(batch, minibatch)
            anchors[:] = self.log_prob(batch, minibatch, out).reshape(anchors.shape)

    def burn_in(self, batch: Batch, minibatch: int) -> tuple[Batch, int]:
        """A replayed minibatch as it can be learned from: its batch, and its place in that.

        The state it began with is that of older weights: the first `burn_in` decisions warm the
        memory up, without gradient, and only the rest is learned from (Kapturowski et al. 2019).
        What a match that was cut off had in mind stays as old as it is; its value goes on from it.
        """
        if not self.net.recurrent:  # nothing to warm up
            return batch, minibatch
        early, length = self.config.burn_in, batch.rewards.shape[1]
        state0 = None
        if early:
            with torch.no_grad():
                warmed = self.unroll(batch.stretch(minibatch, 0, early), 0).state
            state0 = {name: rows.numpy() for name, rows in warmed.items()}
        return batch.stretch(minibatch, early, length, state0), 0

    @abstractmethod
    def backward(
        self, batch: Batch, minibatch: int, *, value_only: bool = False
    ) -> dict[str, float]:
        """Add the gradients of one minibatch to the net's parameters; returns what to log."""

    @abstractmethod
    def log_prob(self, batch: Batch, minibatch: int, out: Unrolled) -> Floats:
        """log pi(a) [T * n] of what was done, as an array of its own."""

    def unroll(self, batch: Batch, minibatch: int) -> Unrolled:
        """The one unroll of an update: T decisions of n lanes from the state they began with."""
        length = batch.rewards.shape[1]
        # Stored by the actor; one batch old, like the log-probabilities beside it.
        state = {n: torch.from_numpy(a[minibatch]) for n, a in batch.state0.items()}
        choices = None
        if batch.choices is not None:
            chosen = batch.choices[minibatch]
            if batch.taught is not None:
                # What a teacher does belongs to what the teacher wants, not to what we wanted: else
                # the layers below would learn to ignore the goal.
                wanted = batch.taught[minibatch, ..., MODE].astype(np.int64)
                chosen = np.where(wanted >= 0, wanted, chosen)
            choices = torch.from_numpy(chosen)
        return self.net.unroll(
            Inputs(torch.from_numpy(batch.inputs[minibatch, :length]), self._views),
            state,
            torch.from_numpy(batch.reset[minibatch, :length]),
            choices,
        )

    def next_values(
        self, batch: Batch, minibatch: int, values: Floats, state: State, out: Floats
    ) -> Floats:
        """V of the moment each step leads to, [T, n], into `out`.

        values [T, n]; state: after the last decision. Where a match was cut off it is V of that
        match's own last moment, not of the next match's first.
        """
        # Within the batch the next decision's own value.
        out[:-1] = values[1:]
        with torch.no_grad():
            # Bootstrap: the values beyond the last decision carry no gradient.
            kept = {name: rows.detach() for name, rows in state.items()}
            inputs = torch.from_numpy(batch.inputs[minibatch, -1:])
            reset = torch.from_numpy(batch.reset[minibatch, -1:])
            out[-1] = self.net.unroll(Inputs(inputs, self._views), kept, reset).values[0].numpy()
            cuts = [cut for cut in batch.truncations if cut.minibatch == minibatch]
            if cuts:
                rows = torch.from_numpy(np.stack([cut.inputs for cut in cuts]))[None]
                kept = {n: _stack([cut.state[n] for cut in cuts]) for n in cuts[0].state}
                # The match was cut off, not begun: nothing is forgotten.
                goes_on = torch.zeros(1, len(cuts), dtype=torch.bool)
                last = self.net.unroll(Inputs(rows, self._views), kept, goes_on).values[0]
                out[[cut.t for cut in cuts], [cut.lane for cut in cuts]] = last.numpy()
        return out


def _stack(rows: list[Floats]) -> Tensor:
    return torch.from_numpy(np.stack(rows))


def make_learner(net: Net, meta: Meta, layout: ViewLayout, config: RlConfig) -> Learner:
    """The fused path where every decision stands alone and nobody teaches, else the general one."""
    from levelcap.learn.rl.fused import FusedLearner
    from levelcap.learn.rl.general import GeneralLearner

    if net.recurrent or config.teacher:
        return GeneralLearner(net, meta, layout, config)
    return FusedLearner(net, meta, layout, config)
