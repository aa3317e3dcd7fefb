"""Norms by name: LayerNorm, and BatchNorm as it must be in a net that also acts alone.

Shapes: [..., C]; every axis but the last is the batch.

BatchNorm learns with the moments of the batch and acts with the running ones, so that one live
player and a batch of thousands decide alike. A batch of one row has no moments: it uses the running
ones in training too. Actor and learner see different moments, so it is for imitation.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

MOMENTUM = 0.05  # of the running moments: a run of minutes has a few hundred updates
EPS = 1e-5


class BatchNorm(nn.Module):
    """Each of C numbers by its mean and spread over the batch."""

    mean: Tensor
    var: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("var", torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """[..., C] -> [..., C]."""
        rows = x.reshape(-1, x.shape[-1])
        learns = self.training and len(rows) > 1
        # Copies where they are only read: a later batch of the same update changes the originals.
        moments = (self.mean, self.var) if learns else (self.mean.clone(), self.var.clone())
        y = functional.batch_norm(rows, *moments, self.weight, self.bias, learns, MOMENTUM, EPS)
        return y.view_as(x)


def make_norm(width: int, name: str) -> nn.Module:
    """The norm of this name: layer or batch."""
    return BatchNorm(width) if name == "batch" else nn.LayerNorm(width)
