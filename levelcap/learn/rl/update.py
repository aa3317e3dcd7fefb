"""One update of reinforcement learning: targets, loss and gradients of one part of a batch.

loss = - rho A log pi(a)            V-trace policy gradient, A + upgo_coef * UPGO advantage
       + value_coef / 2 (V - G)^2   G = TD(lambda) target
       + kl_coef KL(pi || pi_sup) - entropy_coef H(pi)

With `clip` a step pushes only until its chance has changed by that share since its batch was
begun (PPO, Schulman et al. 2017), which is what makes it safe to learn from a batch twice.
While the value warms up only the value's term is used and the torso is left alone.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from levelcap.learn.maths.fused import (
    HeadLayout,
    hold_back,
    log_softmax_rows,
    logit_gradients,
    row_statistics,
    traces,
)
from levelcap.learn.rl.actor import Batch
from levelcap.learn.rl.config import RlConfig
from levelcap.nets.meta import Meta

F32 = np.float32


class Learner:
    """Computes gradients of `net`; keeps its working arrays between calls."""

    def __init__(self, net: nn.Module, meta: Meta, config: RlConfig) -> None:
        self.net, self.meta, self.config = net, meta, config
        self.entropy_coef = config.entropy_coef  # falls during a run (`RlTask.meet`)
        self._layout = HeadLayout.of(meta.head_sizes, meta.aim_heads, meta.aim_users)
        self._arrays: dict[str, NDArray[np.float32]] = {}
        self._anchors: list[NDArray[np.float32]] = []

    def begin(self, batch: Batch) -> None:
        """Before the first update of a batch: log pi(a) of every part, which `clip` refers to.

        Not those of the policy that acted, which is a batch older: what it has changed since would
        count against this batch (Hilton et al. 2021).
        """
        self._anchors.clear()
        for part in range(len(batch.rewards) if self.config.clip > 0 else 0):
            inputs = batch.inputs[part, :-1].reshape(-1, self.meta.input_size)
            with torch.no_grad():
                logits, _ = self.net(torch.from_numpy(inputs))
            self._anchors.append(self._statistics(batch, part, logits.numpy())[0].copy())

    def backward(self, batch: Batch, part: int, *, value_only: bool = False) -> dict[str, float]:
        """Add the gradients of one part to the net's parameters; returns what to log."""
        config = self.config
        length, lanes = batch.rewards.shape[1:]
        rows = length * lanes
        inputs = torch.from_numpy(batch.inputs[part, :length].reshape(rows, -1))
        logits, values = self.net(inputs)
        value = values.detach().numpy().reshape(length, lanes)
        following = self._next_values(batch, part, value)
        stats = self._statistics(batch, part, logits.detach().numpy())
        log_prob, entropy, kl, p, log_p, reference = stats
        log_rhos = (log_prob - batch.log_probs[part].reshape(-1)).reshape(length, lanes)
        targets, advantages, upgo = (self._array(n, (length, lanes)) for n in "tau")
        traces(
            log_rhos, batch.rewards[part], value, following, batch.terminated[part],
            batch.truncated[part], F32(config.gamma), F32(config.lambda_), F32(config.rho_bar),
            F32(config.c_bar), targets, advantages, upgo,
        )  # fmt: skip
        weights = batch.alive[part].reshape(-1).astype(F32)
        value_weights = batch.active[part].astype(F32)
        count = max(float(weights.sum()), 1.0)
        advantage = (advantages + F32(config.upgo_coef) * upgo).reshape(-1) * weights
        if config.centre_advantage:
            advantage = (advantage - F32(advantage.sum() / count)) * weights
        spread = float(np.sqrt(np.square(advantage).sum() / count)) + 1e-6
        if config.advantage_scale > 0:
            advantage *= F32(config.advantage_scale / spread)
        clipped = 0
        if config.clip > 0:
            clipped = hold_back(advantage, log_prob - self._anchors[part], F32(config.clip))
        errors = (value - targets) * value_weights
        value_count = max(float(value_weights.sum()), 1.0)
        value_grad = torch.from_numpy((errors * F32(config.value_coef / value_count)).reshape(-1))
        if value_only:
            torch.autograd.backward([values], [value_grad])
        else:
            slopes = self._array("slopes", p.shape)
            share = weights / F32(count)
            logit_gradients(
                p, log_p, reference, batch.actions[part].reshape(rows, -1), *self._heads(),
                advantage / F32(count), F32(self.entropy_coef), F32(config.kl_coef), share,
                slopes,
            )  # fmt: skip
            torch.autograd.backward([logits, values], [torch.from_numpy(slopes), value_grad])
        variance = float((targets * value_weights).var()) + 1e-6
        return {
            "policy_loss": -float((advantage * log_prob).sum()) / count,
            "value_loss": 0.5 * float(np.square(errors).sum()) / value_count,
            "entropy": float((entropy * weights).sum()) / count,
            "kl": float((kl * weights).sum()) / count,
            "explained": 1.0 - float(errors.var()) / variance,
            "advantage_spread": spread,
            "clipped": clipped / count,
            "rho": float((np.exp(np.minimum(log_rhos, 10)).reshape(-1) * weights).sum()) / count,
        }

    def _heads(self) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]:
        return self._layout.sizes, self._layout.aim, self._layout.users

    def _array(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        if name not in self._arrays or self._arrays[name].shape != shape:
            self._arrays[name] = np.zeros(shape, F32)
        return self._arrays[name]

    def _next_values(self, batch: Batch, part: int, value: NDArray[np.float32]) -> NDArray[F32]:
        """V of the state each step leads to; of the cut-off match's last state where one was."""
        following = self._array("following", value.shape)
        following[:-1] = value[1:]
        with torch.no_grad():
            following[-1] = self.net(torch.from_numpy(batch.inputs[part, -1]))[1].numpy()
            cuts = [cut for cut in batch.cuts if cut[0] == part]
            if cuts:
                last = self.net(torch.from_numpy(np.stack([cut[3] for cut in cuts])))[1].numpy()
                following[[cut[1] for cut in cuts], [cut[2] for cut in cuts]] = last
        return following

    def _statistics(
        self, batch: Batch, part: int, logits: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], ...]:
        rows = logits.shape[0]
        p, log_p = self._array("p", logits.shape), self._array("log_p", logits.shape)
        reference = batch.reference[part].reshape(-1, logits.shape[1])
        log_softmax_rows(
            logits, batch.mask[part].reshape(logits.shape), self._layout.sizes, p, log_p
        )
        log_prob, entropy, kl = (self._array(name, (rows,)) for name in ("log_prob", "ent", "kl"))
        actions = batch.actions[part].reshape(rows, -1)
        row_statistics(p, log_p, reference, actions, *self._heads(), log_prob, entropy, kl)
        return log_prob, entropy, kl, p, log_p, reference
