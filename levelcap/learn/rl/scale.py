"""Rewards of outside games on one scale: divided by the spread of the discounted return so far.

Our rulesets pay +-1; others pay 1 a step or -1,000 at the end, and the value's gradient would then
drown the policy's or vanish beside it.
"""

from __future__ import annotations

import numpy as np

from levelcap.learn.rl.actor import Batch
from levelcap.world.moments import RunningMoments


class RewardScale:
    """Running spread of the discounted return of all lanes."""

    def __init__(self, parts: int, lanes: int, gamma: float) -> None:
        self.gamma = gamma
        self.returns = np.zeros((parts, lanes))
        self.moments = RunningMoments(1)

    @property
    def spread(self) -> float:
        """What rewards are divided by."""
        return max(1e-4, float(np.sqrt(self.moments.var[0])))

    def apply(self, batch: Batch) -> None:
        """Take in the batch's rewards and scale them in place."""
        seen = []
        for t in range(batch.rewards.shape[1]):
            self.returns = self.returns * self.gamma + batch.rewards[:, t]
            seen.append(self.returns[batch.active[:, t]])
            over = batch.terminated[:, t] | batch.truncated[:, t]
            self.returns = np.where(over, 0.0, self.returns)
        self.moments.update(np.concatenate(seen)[:, None])
        batch.rewards /= np.float32(self.spread)
