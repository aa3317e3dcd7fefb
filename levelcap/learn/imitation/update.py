"""One update of imitation: cross-entropy to the taken bins, and the value of the outcome.

loss = - log pi(a) over used heads (smoothed) + value_coef / 2 (V - gamma^left * outcome)^2
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from levelcap.learn.maths.fused import (
    HeadLayout,
    log_softmax_rows,
    logit_gradients,
    row_statistics,
)
from levelcap.nets.meta import Meta

F32 = np.float32


@dataclass(frozen=True)
class Rows:
    """n rows to imitate."""

    inputs: NDArray[np.float32]  # [n, D]
    mask: NDArray[np.uint8]  # [n, bins]
    actions: NDArray[np.int16]  # [n, heads]
    targets: NDArray[np.float32]  # [n] discounted outcome
    alive: NDArray[np.bool_]  # [n] counts for the actions; all rows count for the value


class Cloner:
    """Computes gradients of `net`; keeps its working arrays between calls."""

    def __init__(self, net: nn.Module, meta: Meta, smoothing: float, value_coef: float) -> None:
        self.net, self.smoothing, self.value_coef = net, smoothing, value_coef
        self.layout = HeadLayout.of(meta.head_sizes, meta.aim_heads, meta.aim_users)
        self._none = np.zeros((0, self.layout.bins), F32)

    def backward(self, rows: Rows) -> dict[str, float]:
        """Add the gradients of these rows; returns what to log."""
        logits, values = self.net(torch.from_numpy(rows.inputs))
        p, log_p, log_prob = self.statistics(logits.detach().numpy(), rows)
        weights = rows.alive.astype(F32)
        share = weights / F32(max(float(weights.sum()), 1.0))
        slopes = np.empty_like(p)
        pull = share * F32(1 - self.smoothing)
        logit_gradients(
            p, log_p, self._none, rows.actions, *self._heads(), pull, F32(0), F32(0), share, slopes
        )
        if self.smoothing > 0:
            self._smooth(rows, p, share, slopes)
        errors = values.detach().numpy() - rows.targets
        value_grad = torch.from_numpy(errors * F32(self.value_coef / len(errors)))
        torch.autograd.backward([logits, values], [torch.from_numpy(slopes), value_grad])
        return {
            "loss": -float((log_prob * share).sum()),
            "value_loss": 0.5 * float(np.square(errors).mean()),
        }

    def statistics(
        self, logits: NDArray[np.float32], rows: Rows
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Probabilities, log-probabilities [n, bins], and the log-probability [n] of the action."""
        p, log_p = np.empty_like(logits), np.empty_like(logits)
        log_softmax_rows(logits, rows.mask, self.layout.sizes, p, log_p)
        log_prob, entropy, kl = (np.empty(len(logits), F32) for _ in range(3))
        row_statistics(p, log_p, self._none, rows.actions, *self._heads(), log_prob, entropy, kl)
        return p, log_p, log_prob

    def _heads(self) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]:
        return self.layout.sizes, self.layout.aim, self.layout.users

    def _smooth(
        self, rows: Rows, p: NDArray[np.float32], share: NDArray[np.float32],
        slopes: NDArray[np.float32],
    ) -> None:  # fmt: skip
        """Pull every used head towards an even spread over its allowed bins."""
        used = np.ones(rows.actions.shape, F32)
        in_use = (rows.actions[:, self.layout.users == 1] != 0).any(1)
        used[:, self.layout.aim == 1] *= in_use[:, None]
        first = 0
        for head, size in enumerate(self.layout.sizes.tolist()):
            here = slice(first, first + size)
            allowed = rows.mask[:, here].astype(F32)
            even = allowed / np.maximum(allowed.sum(1, keepdims=True), 1)
            weight = (share * F32(self.smoothing) * used[:, head])[:, None]
            slopes[:, here] += weight * (p[:, here] - even)
            first += size
