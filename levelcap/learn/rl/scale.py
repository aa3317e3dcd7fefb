"""Rewards of outside games on one scale: divided by the running std of the discounted return.

Our rulesets pay +-1; others pay 1 a step or -1,000 at the end, and the value's gradient would then
drown the policy's or vanish beside it.
"""

from __future__ import annotations

import numpy as np

from levelcap.learn.rl.batch import Batch
from levelcap.world.doors.moments import RunningMoments


class RewardScale:
    """Running std of the discounted return of all lanes."""

    def __init__(self, minibatches: int, lanes: int, gamma: float) -> None:
        self.gamma = gamma
        self.returns = np.zeros((minibatches, lanes))
        self.moments = RunningMoments(1)

    @property
    def std(self) -> float:
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
        batch.rewards /= np.float32(self.std)
