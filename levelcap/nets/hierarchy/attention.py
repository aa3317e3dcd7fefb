"""Attention over time and over objects: layers, positions, pooling by a learned query.

Shapes: N rows, T items of a row, C width, H heads. Masks are bool [N, T], True = exists. A row
without a single item gives zeros, not NaN.
"""

from __future__ import annotations

import math
import warnings

import torch
from torch import Tensor, nn
from torch.nn import functional

from levelcap.nets.hierarchy.norm import make_norm
from levelcap.nets.hierarchy.shape import Shape

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "gelu": nn.GELU,
    "relu": nn.ReLU,
    "silu": nn.SiLU,
    "mish": nn.Mish,
}


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, kind: str) -> Tensor:
    """softmax(q k^T / sqrt d) v over existing items; q [N, H, Q, d], k, v [N, H, T, d]."""
    # A row of nothing attends to everything and is zeroed after: softmax of all -inf is NaN.
    some = mask.any(-1)
    keys = mask | ~some[:, None]
    if kind == "fused":
        found = functional.scaled_dot_product_attention(q, k, v, attn_mask=keys[:, None, None])
    elif kind == "nested":
        found = _attend_nested(q, k, v, keys)
    else:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        found = scores.masked_fill(~keys[:, None, None], -math.inf).softmax(-1) @ v
    return found * some[:, None, None, None]


def _attend_nested(q: Tensor, k: Tensor, v: Tensor, keys: Tensor) -> Tensor:
    """The same over rows of their own length (nested tensors): nothing is masked, only left out."""
    every = keys.new_ones(len(q), q.shape[2])
    with warnings.catch_warnings():
        # "The API is in prototype stage": so is this option, and it says nothing of a run.
        warnings.simplefilter("ignore", UserWarning)
        found = functional.scaled_dot_product_attention(
            _nested(q, every), _nested(k, keys), _nested(v, keys)
        )
    flat: Tensor = found.transpose(1, 2).values()  # [N Q, H, d]
    return flat.unflatten(0, (len(q), -1)).transpose(1, 2)


def _nested(items: Tensor, mask: Tensor) -> Tensor:
    """Existing items of [N, H, T, d] as a nested tensor [N, H, lengths, d]."""
    lengths = mask.sum(1)
    packed = torch.nested.nested_tensor_from_jagged(
        items.transpose(1, 2)[mask],
        functional.pad(lengths.cumsum(0), (1, 0)),
        min_seqlen=int(lengths.min()),
        max_seqlen=int(lengths.max()),
    )
    return packed.transpose(1, 2)


class Attention(nn.Module):
    """Multi-head attention of queries [N, Q, C] over items [N, T, C]."""

    def __init__(self, width: int, heads: int, kind: str = "fused") -> None:
        super().__init__()
        self.heads, self.kind = heads, kind
        self.q = nn.Linear(width, width)
        self.kv = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)

    def forward(self, queries: Tensor, items: Tensor, mask: Tensor) -> Tensor:
        """[N, Q, C]."""
        q = self.q(queries).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.kv(items).chunk(2, -1)
        )
        found = attend(q, k, v, mask, self.kind)
        out: Tensor = self.out(found.transpose(1, 2).flatten(2))
        return out


class Layer(nn.Module):
    """One transformer layer, pre- or post-norm."""

    def __init__(self, width: int, heads: int, ffn: int, shape: Shape) -> None:
        super().__init__()
        self.pre = shape.norm == "pre"
        self.attention = Attention(width, heads, shape.attention)
        self.norm1, self.norm2 = (make_norm(width, shape.layer_norm) for _ in range(2))
        self.ffn = nn.Sequential(
            nn.Linear(width, ffn),
            ACTIVATIONS[shape.activation](),
            nn.Dropout(shape.dropout),
            nn.Linear(ffn, width),
        )
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x: Tensor, mask: Tensor, items: Tensor | None = None) -> Tensor:
        """x [N, T, C]; items: attend to these instead of to each other."""
        if self.pre:
            y = self.norm1(x)
            x = x + self.dropout(self.attention(y, y if items is None else items, mask))
            return x + self.dropout(self.ffn(self.norm2(x)))
        y = self.attention(x, x if items is None else items, mask)
        x = self.norm1(x + self.dropout(y))
        out: Tensor = self.norm2(x + self.dropout(self.ffn(x)))
        return out


class Positions(nn.Module):
    """Sinusoids of the age of each item, with a learnable time scale."""

    frequencies: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        powers = torch.arange(0, width, 2) / width
        # 10,000 as in the first transformer; ages are seconds.
        self.register_buffer("frequencies", 10_000.0**-powers, persistent=False)
        self.log_scale = nn.Parameter(torch.zeros(()))

    def forward(self, ages: Tensor) -> Tensor:
        """ages [T] -> [T, C]."""
        angles = ages[:, None] * self.log_scale.exp() * self.frequencies
        return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


class Pool(nn.Module):
    """A learned query's look at all items."""

    def __init__(self, width: int, heads: int, kind: str = "fused") -> None:
        super().__init__()
        self.query = nn.Parameter(torch.randn(width) / math.sqrt(width))
        self.attention = Attention(width, heads, kind)

    def forward(self, items: Tensor, mask: Tensor) -> Tensor:
        """items [N, T, C] -> [N, C]."""
        query = self.query.expand(items.shape[0], 1, -1)
        out: Tensor = self.attention(query, items, mask)[:, 0]
        return out
