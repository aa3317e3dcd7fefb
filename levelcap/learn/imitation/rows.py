"""Cloning of single decisions in compiled code, for nets that remember nothing.

The same numbers as `segments.py` gives for them, without autograd's arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from levelcap.lake.batch import Batch
from levelcap.lake.read import Shards
from levelcap.learn.imitation.cloner import Cloner, Judged
from levelcap.learn.maths.fused import log_softmax_rows, logit_gradients, row_statistics
from levelcap.nets.net import Inputs, Unrolled

F32 = np.float32


@dataclass(frozen=True)
class Rows:
    """n rows to imitate."""

    inputs: NDArray[np.float32]  # [n, D]
    mask: NDArray[np.uint8]  # [n, bins]
    actions: NDArray[np.int16]  # [n, heads]
    targets: NDArray[np.float32]  # [n] discounted outcome
    alive: NDArray[np.bool_]  # [n] counts for the actions; all rows count for the value


class RowCloner(Cloner):
    """See `Cloner`."""

    def stream(self, shards: Shards, seed: int, first: int) -> Iterator[Batch]:
        """Batches of single decisions."""
        config = self.config
        return shards.batches(
            config.batch_size, seed, first, views=self.meta.views, window_mb=config.window_mb
        )

    def prepare(self, batch: Batch) -> Rows:
        """What an update needs of a batch of the lake."""
        # gamma^left: what the outcome is worth this far from the end.
        discount = np.power(self.config.gamma, batch.left.astype(np.float64))
        return Rows(
            inputs=batch.inputs(self.meta.views),
            mask=batch.mask,
            actions=batch.actions.astype(np.int16),
            targets=(batch.outcome * discount).astype(np.float32),
            alive=batch.alive,
        )

    def steps(self, rows: Rows) -> int:
        """Decisions."""
        return len(rows.inputs)

    def backward(self, rows: Rows) -> dict[str, float]:
        """Add the gradients of these rows; returns what to log."""
        smoothing = self.config.smoothing
        out = self._unroll(rows)
        logits, values = out.logits[0], out.values[0]
        p, log_p, log_prob = self._statistics(logits.detach().numpy(), rows)
        weights = rows.alive.astype(F32)
        share = weights / F32(max(float(weights.sum()), 1.0))
        gradients = np.empty_like(p)
        # Cloning is a policy gradient with advantage 1 for what the teacher did.
        advantage_weight = share * F32(1 - smoothing)
        logit_gradients(
            p,
            log_p,
            _none(p),
            rows.actions,
            *self.heads.arrays,
            advantage_weight,
            F32(0),
            F32(0),
            share,
            gradients,
        )
        if smoothing > 0:
            self._smooth(rows, p, share, gradients)
        # All rows count for the value, the dead ones too: their match goes on.
        errors = values.detach().numpy() - rows.targets
        value_grad = torch.from_numpy(errors * F32(self.config.value_coef / len(errors)))
        torch.autograd.backward([logits, values], [torch.from_numpy(gradients), value_grad])
        return {
            "loss": -float((log_prob * share).sum()),
            "value_loss": 0.5 * float(np.square(errors).mean()),
        }

    def judge(self, rows: Rows) -> Judged:
        """How well the net predicts these rows."""
        with torch.inference_mode():
            logits = self._unroll(rows).logits[0].numpy()
        p, _, log_prob = self._statistics(logits, rows)
        loss = -float(log_prob[rows.alive].mean())
        return self.judged(p, rows.actions, rows.alive, loss)

    def _unroll(self, rows: Rows) -> Unrolled:
        """All rows as one moment of as many players."""
        packed = torch.from_numpy(rows.inputs)[None]
        # [1, n]: nobody remembers anything.
        begins = torch.zeros(1, len(rows.inputs), dtype=torch.bool)
        return self.net.unroll(Inputs(packed, self.layout), {}, begins)

    def _statistics(
        self, logits: NDArray[np.float32], rows: Rows
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Probabilities, log-probabilities [n, bins], and the log-probability [n] of the action."""
        p, log_p = np.empty_like(logits), np.empty_like(logits)
        log_softmax_rows(logits, rows.mask, self.heads.sizes, p, log_p)
        log_prob, entropy, kl = (np.empty(len(logits), F32) for _ in range(3))
        row_statistics(
            p, log_p, _none(logits), rows.actions, *self.heads.arrays, log_prob, entropy, kl
        )
        return p, log_p, log_prob

    def _smooth(
        self,
        rows: Rows,
        p: NDArray[np.float32],
        share: NDArray[np.float32],
        gradients: NDArray[np.float32],
    ) -> None:
        """Label smoothing: every used head towards an even distribution over its allowed bins."""
        used = np.ones(rows.actions.shape, F32)
        in_use = (rows.actions[:, self.heads.users == 1] != 0).any(1)
        used[:, self.heads.aim == 1] *= in_use[:, None]
        first = 0
        for head, size in enumerate(self.heads.sizes.tolist()):
            here = slice(first, first + size)
            allowed = rows.mask[:, here].astype(F32)
            even = allowed / np.maximum(allowed.sum(1, keepdims=True), 1)
            weight = (share * F32(self.config.smoothing) * used[:, head])[:, None]
            gradients[:, here] += weight * (p[:, here] - even)
            first += size


def _none(like: NDArray[np.float32]) -> NDArray[np.float32]:
    """No reference policy: no rows."""
    return np.zeros((0, like.shape[1]), F32)
