"""Cloning of stretches of play by autograd: any net, with a memory or without.

Shapes: T = burn_in + segment decisions, B segments, A bins of all heads, H heads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from levelcap.lake.read import Shards
from levelcap.lake.segments import SegmentBatch
from levelcap.learn.imitation.cloner import Cloner, Judged
from levelcap.learn.maths import heads, losses
from levelcap.nets.net import Inputs, State, Unrolled


@dataclass(frozen=True)
class Stretch:
    """B segments, ready to be learned from."""

    inputs: Tensor  # [T, B, D]
    reset: Tensor  # bool [T, B]
    mask: Tensor  # [T, B, A]
    actions: Tensor  # int16 [T, B, H]
    targets: Tensor  # [T, B] discounted outcome
    alive: Tensor  # [T, B] counts for the actions
    learned: Tensor  # [T, B] counts at all
    burn_in: int


class SegmentCloner(Cloner):
    """See `Cloner`."""

    def stream(self, shards: Shards, seed: int, first: int) -> Iterator[SegmentBatch]:
        """Batches of about as many decisions as `batch_size` says."""
        config = self.config
        count = max(1, config.batch_size // config.segment)
        return shards.segments(
            count,
            seed,
            first,
            length=config.segment,
            burn_in=config.burn_in,
            views=self.meta.views,
            window_mb=config.window_mb,
        )

    def prepare(self, batch: SegmentBatch) -> Stretch:
        """Tensors of a batch of the lake."""
        steps, count = batch.left.shape
        views = {n: a.reshape(steps * count, *a.shape[2:]) for n, a in batch.views.items()}
        # [T, B, D]
        packed = self.layout.pack(views).reshape(steps, count, -1)
        discount = np.power(self.config.gamma, batch.left.astype(np.float64))
        learned = batch.learned
        return Stretch(
            inputs=torch.from_numpy(np.ascontiguousarray(packed)),
            reset=torch.from_numpy(batch.reset.copy()),
            mask=torch.from_numpy(batch.mask),
            actions=torch.from_numpy(batch.actions.astype(np.int16)),
            targets=torch.from_numpy((batch.outcome * discount).astype(np.float32)),
            alive=torch.from_numpy((batch.alive & learned).astype(np.float32)),
            learned=torch.from_numpy(learned.astype(np.float32)),
            burn_in=batch.burn_in,
        )

    def steps(self, stretch: Stretch) -> int:
        """Decisions that are learned from."""
        return int(stretch.learned.sum())

    def backward(self, stretch: Stretch) -> dict[str, float]:
        """Add the gradients of a batch; returns what to log."""
        out = self._unroll(stretch)
        after = slice(stretch.burn_in, None)
        mask, actions = stretch.mask[after], stretch.actions[after]
        sizes = list(self.meta.head_sizes)
        log_p = heads.split_log_softmax(out.logits, mask, sizes)
        used = heads.used_heads(actions, self.meta.aim_heads, self.meta.aim_users)
        alive, learned = stretch.alive[after], stretch.learned[after]
        cloning = losses.smoothed_cross_entropy(
            log_p, mask.split(sizes, -1), actions, used, alive, self.config.smoothing
        )
        loss, valued = cloning, {}
        # What a critic with views of its own reads is not recorded: it learns in RL alone.
        if not self.net.critic_views:
            value_loss = losses.value_loss(out.values, stretch.targets[after], learned)
            loss = loss + self.config.value_coef * value_loss
            valued["value_loss"] = float(value_loss.detach())
        more, logged = self.extra_loss(stretch, out)
        loss = loss + more
        loss.backward()  # type: ignore[no-untyped-call]
        log_prob = heads.joint_log_prob(log_p, actions, used)
        return {
            "loss": -float(losses.masked_mean(log_prob.detach(), alive)),
            **valued,
            **logged,
        }

    def extra_loss(self, stretch: Stretch, out: Unrolled) -> tuple[Tensor, dict[str, float]]:
        """What a net learns besides actions and value, and what to log of it."""
        return torch.zeros(()), {}

    @torch.no_grad()
    def judge(self, stretch: Stretch) -> Judged:
        """How well the net predicts a batch."""
        out = self._unroll(stretch)
        after = slice(stretch.burn_in, None)
        mask, actions = stretch.mask[after], stretch.actions[after]
        log_p = heads.split_log_softmax(out.logits, mask, self.meta.head_sizes)
        used = heads.used_heads(actions, self.meta.aim_heads, self.meta.aim_users)
        log_prob = heads.joint_log_prob(log_p, actions, used)
        loss = -float(losses.masked_mean(log_prob, stretch.alive[after]))
        # [T * B, A]
        scores = torch.cat(log_p, -1).flatten(0, 1).numpy()
        counts = stretch.alive[after].flatten().numpy() > 0
        return self.judged(scores, actions.flatten(0, 1).numpy(), counts, loss)

    def _unroll(self, stretch: Stretch) -> Unrolled:
        """Warm the memory up without gradient, then the decisions to learn from."""
        # A stretch from the middle of a match starts empty; burn-in fills it.
        state: State = self.net.initial_state(stretch.inputs.shape[1])
        first = stretch.burn_in
        if first:
            with torch.no_grad():
                early = Inputs(stretch.inputs[:first], self.layout)
                state = self.net.unroll(early, state, stretch.reset[:first]).state
        late = Inputs(stretch.inputs[first:], self.layout)
        return self.net.unroll(late, state, stretch.reset[first:])
