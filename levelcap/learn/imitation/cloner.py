"""Behavioural cloning, whatever the net: what one update learns, and how well it predicts.

loss = - log pi(a) over used heads (smoothed) + value_coef / 2 (V - gamma^left * outcome)^2

`rows.py` clones single decisions, `segments.py` whole stretches of play for nets with a memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.lake.labels import Labels
from levelcap.lake.read import Shards
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.maths.fused import HeadLayout
from levelcap.nets.meta import Meta
from levelcap.nets.net import Net, ViewLayout


@dataclass(frozen=True)
class Judged:
    """Right bins and used heads, per head [H], and the mean loss of some decisions."""

    right: NDArray[np.float64]
    used: NDArray[np.float64]
    loss: float


class Cloner(ABC):
    """Computes gradients of `net` from recorded play."""

    def __init__(self, net: Net, meta: Meta, layout: ViewLayout, config: ImitationConfig) -> None:
        """config.gamma must be set."""
        self.labels: Labels | None = None  # what a coach said; only nets with layers ask
        self.net, self.meta, self.layout, self.config = net, meta, layout, config
        self.heads = HeadLayout.of(meta.head_sizes, meta.aim_heads, meta.aim_users)

    @abstractmethod
    def stream(self, shards: Shards, seed: int, first: int) -> Iterator[Any]:
        """Endless batches of the lake from number `first` on."""

    @abstractmethod
    def prepare(self, batch: Any) -> Any:
        """What an update needs of such a batch; another thread may be learning."""

    @abstractmethod
    def steps(self, prepared: Any) -> int:
        """Decisions that are learned from."""

    @abstractmethod
    def backward(self, prepared: Any) -> dict[str, float]:
        """Add the gradients of a batch; returns what to log."""

    @abstractmethod
    def judge(self, prepared: Any) -> Judged:
        """How well the net predicts a batch."""

    def layers(self, batches: Sequence[Any]) -> dict[str, float]:
        """What is known of the layers of a net that has some, over these batches."""
        return {}

    def judged(
        self,
        scores: NDArray[np.float32],
        actions: NDArray[Any],
        counts: NDArray[np.bool_],
        loss: float,
    ) -> Judged:
        """scores [n, A] (higher is likelier, masked lowest), actions [n, H], counts [n]."""
        # Aim is right or wrong only where something was aimed.
        in_use = (actions[:, self.heads.users == 1] != 0).any(1)
        right, used = (np.zeros(len(self.heads.sizes)) for _ in range(2))
        first = 0
        for head, size in enumerate(self.heads.sizes.tolist()):
            here = counts & (in_use if self.heads.aim[head] else True)
            chosen = scores[:, first : first + size].argmax(1)
            right[head] = ((chosen == actions[:, head]) & here).sum()
            used[head] = here.sum()
            first += size
        return Judged(right, used, loss)


def make_cloner(
    net: Net,
    meta: Meta,
    layout: ViewLayout,
    config: ImitationConfig,
    labels: Labels | None = None,
) -> Cloner:
    """Single decisions where every one stands alone, stretches of play for a net with a memory."""
    from levelcap.learn.imitation.layers import LayeredCloner
    from levelcap.learn.imitation.rows import RowCloner
    from levelcap.learn.imitation.segments import SegmentCloner

    if net.num_choices:
        layered = LayeredCloner(net, meta, layout, config)
        layered.labels = labels
        return layered
    kind = SegmentCloner if net.recurrent else RowCloner
    return kind(net, meta, layout, config)
