"""Replay: the newest batches that were learned from, and which of their minibatches comes again.

Nothing is copied. The actor has as many batches as are kept, one that is learned from and one that
is filled, and fills the one that has left here. A step comes again with the log-probability of the
policy that acted, so V-trace corrects for all that the policy has changed since.

A decision takes 1.8 kB of a flat net and 3.6 kB of a hierarchy (`slim`, with pi_sup), in memory and
nearly as much in every checkpoint.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from levelcap.kit.seeds import chain
from levelcap.learn.rl.batch import Batch


@dataclass(frozen=True)
class Drawn:
    """One update from a batch of the past."""

    age: int  # updates since the weights that acted
    steps: int  # decisions learned from, without the burn-in
    rho: float  # mean importance weight


@dataclass
class Replay:
    """At most `size` batches, oldest first; `drawn` of them while the newest batch is learned."""

    size: int
    seed: int
    batches: deque[Batch] = field(init=False)
    drawn: list[Drawn] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.batches = deque(maxlen=self.size)

    def keep(self, batch: Batch) -> None:
        """Take a batch in whose own updates are done; with `size` of them the oldest leaves."""
        self.batches.append(batch)

    def draw(self, update: int) -> tuple[Batch, int]:
        """A kept batch and one of its minibatches, each as likely as any other.

        By the update's number alone, so that a continued run draws what an unbroken one does.
        """
        minibatches = len(self.batches[0].rewards)
        place = chain(self.seed, update) % (len(self.batches) * minibatches)
        return self.batches[place // minibatches], place % minibatches

    def report(self, fresh: int) -> dict[str, float]:
        """Age, importance weight and reuse of what came again beside `fresh` steps; for the log."""
        if not self.drawn:
            return {}
        ages = [one.age for one in self.drawn]
        return {
            "replay_age": float(np.mean(ages)),
            "replay_age_max": float(max(ages)),
            "replay_rho": float(np.mean([one.rho for one in self.drawn])),
            "replay_reuse": sum(one.steps for one in self.drawn) / max(fresh, 1),
            "replay_mb": sum(batch.nbytes for batch in self.batches) / 1e6,
        }
