"""One update in compiled code: the same numbers as `general.py`, without autograd's arrays.

For nets whose decisions stand alone (flat) and whose action heads are factorised. Held against the
general path by the tests.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from levelcap.learn.maths.fused import (
    clip_advantages,
    log_softmax_rows,
    logit_gradients,
    row_statistics,
    traces,
)
from levelcap.learn.rl.batch import Batch
from levelcap.learn.rl.config import RlConfig
from levelcap.learn.rl.learner import Floats, Learner
from levelcap.nets.meta import Meta
from levelcap.nets.net import Net, Unrolled, ViewLayout

F32 = np.float32


class FusedLearner(Learner):
    """See `Learner`; working arrays are kept between calls."""

    def __init__(self, net: Net, meta: Meta, layout: ViewLayout, config: RlConfig) -> None:
        super().__init__(net, meta, layout, config)
        self._arrays: dict[str, Floats] = {}

    def log_prob(self, batch: Batch, minibatch: int, out: Unrolled) -> Floats:
        """log pi(a) [T * n] of what was done."""
        logits = out.logits.flatten(0, 1).detach().numpy()
        return self._statistics(batch, minibatch, logits)[0].copy()

    def backward(
        self, batch: Batch, minibatch: int, *, value_only: bool = False
    ) -> dict[str, float]:
        """Add the gradients of one minibatch to the net's parameters; returns what to log."""
        config = self.config
        length, lanes = batch.rewards.shape[1:]
        rows = length * lanes
        out = self.unroll(batch, minibatch)
        logits, values = out.logits.flatten(0, 1), out.values.flatten()  # [T * n, A], [T * n]
        # [T, n] from here on: traces run over time.
        value = values.detach().numpy().reshape(length, lanes)
        next_values = self._array("next_values", value.shape)
        self.next_values(batch, minibatch, value, out.state, next_values)
        stats = self._statistics(batch, minibatch, logits.detach().numpy())
        log_prob, entropy, kl, p, log_p, reference = stats
        # log pi / mu: the policy now over the policy that acted, a batch older.
        log_rhos = (log_prob - batch.log_probs[minibatch].reshape(-1)).reshape(length, lanes)
        # Working arrays are kept between calls: they are megabytes, and allocated once.
        targets, advantages, upgo = (self._array(n, (length, lanes)) for n in "tau")
        traces(
            log_rhos,
            batch.rewards[minibatch],
            value,
            next_values,
            batch.terminated[minibatch],
            batch.truncated[minibatch],
            F32(config.gamma),
            F32(config.lambda_),
            F32(config.rho_bar),
            F32(config.c_bar),
            targets,
            advantages,
            upgo,
        )
        # Rows that count for the policy, and for the value.
        weights = batch.alive[minibatch].reshape(-1).astype(F32)
        value_weights = batch.active[minibatch].astype(F32)
        count = max(float(weights.sum()), 1.0)
        # [T * n]
        advantage = (advantages + F32(config.upgo_coef) * upgo).reshape(-1) * weights
        if config.centre_advantage:
            advantage = (advantage - F32(advantage.sum() / count)) * weights
        # About 0, not about the mean: an update in which all went well pushes all of it.
        std = float(np.sqrt(np.square(advantage).sum() / count)) + 1e-6
        if config.advantage_scale > 0:
            advantage *= F32(config.advantage_scale / std)
        clipped = 0
        if config.clip > 0:
            assert batch.anchors is not None, "begin comes first"
            moved = log_prob - batch.anchors[minibatch].reshape(-1)
            clipped = clip_advantages(advantage, moved, F32(config.clip))
        # d/dV of half the squared error.
        errors = (value - targets) * value_weights
        value_count = max(float(value_weights.sum()), 1.0)
        value_grad = torch.from_numpy((errors * F32(config.value_coef / value_count)).reshape(-1))
        if value_only:
            torch.autograd.backward([values], [value_grad])
        else:
            gradients = self._array("gradients", p.shape)
            # Every row its share in the mean.
            share = weights / F32(count)
            taken = batch.actions[minibatch].reshape(rows, -1)
            logit_gradients(
                p,
                log_p,
                reference,
                taken,
                *self._heads.arrays,
                advantage / F32(count),
                F32(self.entropy_coef),
                F32(config.kl_coef),
                share,
                gradients,
            )
            torch.autograd.backward([logits, values], [torch.from_numpy(gradients), value_grad])
        variance = float((targets * value_weights).var()) + 1e-6
        return {
            "policy_loss": -float((advantage * log_prob).sum()) / count,
            "value_loss": 0.5 * float(np.square(errors).sum()) / value_count,
            "entropy": float((entropy * weights).sum()) / count,
            "kl": float((kl * weights).sum()) / count,
            "explained": 1.0 - float(errors.var()) / variance,
            "advantage_spread": std,
            "clipped": clipped / count,
            "rho": float((np.exp(np.minimum(log_rhos, 10)).reshape(-1) * weights).sum()) / count,
        }

    def _array(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        if name not in self._arrays or self._arrays[name].shape != shape:
            self._arrays[name] = np.zeros(shape, F32)
        return self._arrays[name]

    def _statistics(
        self, batch: Batch, minibatch: int, logits: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], ...]:
        rows = logits.shape[0]
        p, log_p = self._array("p", logits.shape), self._array("log_p", logits.shape)
        reference = batch.reference[minibatch].reshape(-1, logits.shape[1])
        log_softmax_rows(
            logits, batch.mask[minibatch].reshape(logits.shape), self._heads.sizes, p, log_p
        )
        log_prob, entropy, kl = (self._array(name, (rows,)) for name in ("log_prob", "ent", "kl"))
        actions = batch.actions[minibatch].reshape(rows, -1)
        row_statistics(p, log_p, reference, actions, *self._heads.arrays, log_prob, entropy, kl)
        return log_prob, entropy, kl, p, log_p, reference
