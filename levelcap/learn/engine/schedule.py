"""Learning rate over updates, and the slow copy of the weights that is judged and kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import cos, pi

import torch
from torch import Tensor, nn

from levelcap.kit.errors import unknown_name
from levelcap.learn.engine.config import SCHEDULES

MAX_EMA_SHARE = 0.05  # of the run's updates


def lr_factor(
    update: int, total: int | None, *, name: str, warmup: int, final_share: float
) -> float:
    """Share of the peak rate at `update`: linear warm-up, then cosine down to final_share.

    total None: the length of the run is not known yet, the rate stays at its peak.
    """
    if name not in SCHEDULES:
        raise unknown_name("schedule", name, SCHEDULES)
    # The first steps are small: the moments of the optimizer are guesses until then.
    if update < warmup:
        return (update + 1) / (warmup + 1)
    if name == "constant" or total is None or total <= warmup:
        return 1.0
    done = min(1.0, (update - warmup) / (total - warmup))
    return final_share + (1 - final_share) * 0.5 * (1 + cos(pi * done))


def ema_decay(count: int, decay: float, total: int | None) -> float:
    """Decay of the slow copy at its n-th update: warmed up, and never longer than 5 % of a run."""
    # A slow copy that is older than this share of the run would be judged as the past.
    longest = 1.0 if total is None else max(0.0, 1.0 - 1.0 / max(1.0, MAX_EMA_SHARE * total))
    return min(decay, longest, (1 + count) / (10 + count))


class Ema:
    """Exponential moving average of a net's weights."""

    def __init__(self, net: nn.Module, decay: float) -> None:
        self.decay, self.count = decay, 0
        self.weights = {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}

    @torch.no_grad()
    def update(self, net: nn.Module, total: int | None) -> None:
        """Move towards the net's weights; what is no float is copied."""
        keep = ema_decay(self.count, self.decay, total)
        self.count += 1
        for name, tensor in net.state_dict().items():
            # Counters and masks have no average.
            if tensor.is_floating_point():
                self.weights[name].lerp_(tensor, 1 - keep)
            else:
                self.weights[name].copy_(tensor)

    @contextmanager
    def average_parameters(self, net: nn.Module) -> Iterator[nn.Module]:
        """The net with the slow weights; afterwards, whatever happened, with its own again."""
        own = {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}
        net.load_state_dict(self.weights)
        try:
            yield net
        finally:
            net.load_state_dict(own)

    def load(self, weights: dict[str, Tensor], count: int) -> None:
        """Take back what a checkpoint kept."""
        self.weights = {name: tensor.clone() for name, tensor in weights.items()}
        self.count = count
