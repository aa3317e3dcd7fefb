"""Qwen3 in plain torch: the text hero of any size.

Same weights and names as `transformers.Qwen3ForCausalLM`, held against it by the tests. Written
again because a net of 0.6 M parameters on two cores spends most of a general forward pass in
masks, caches and checks it does not need, and because loading that library takes five seconds.

Shapes: N tokens of all texts, B texts, T tokens of a text, C hidden, H heads, K key heads, D per
head, V tokens of the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from levelcap.nets.meta import Meta
from levelcap.nets.row import Family
from levelcap.nets.text.rows import Block, TextRows
from levelcap.nets.text.shape import SIZES, TextShape

SPREAD = 0.02  # of fresh weights


@dataclass
class Cache:
    """Keys and values of the tokens so far, per layer [B, K, T, D]; filled per row."""

    keys: list[Tensor]
    values: list[Tensor]

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows only."""
        self.keys = [array[rows] for array in self.keys]
        self.values = [array[rows] for array in self.values]


def _norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return functional.rms_norm(x, weight.shape, weight, eps)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions: the two halves of a head turn together. x [..., D]."""
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Norm(nn.Module):
    """The weight of a root-mean-square norm."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x: Tensor) -> Tensor:
        return _norm(x, self.weight, self.eps)


class Attention(nn.Module):
    """Grouped attention with normed queries and keys."""

    def __init__(self, shape: TextShape) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.dim = shape.heads, shape.kv_heads, shape.head_dim
        self.q_proj = nn.Linear(shape.hidden, shape.heads * shape.head_dim, bias=False)
        self.k_proj = nn.Linear(shape.hidden, shape.kv_heads * shape.head_dim, bias=False)
        self.v_proj = nn.Linear(shape.hidden, shape.kv_heads * shape.head_dim, bias=False)
        self.o_proj = nn.Linear(shape.heads * shape.head_dim, shape.hidden, bias=False)
        self.q_norm = Norm(shape.head_dim, shape.norm_eps)
        self.k_norm = Norm(shape.head_dim, shape.norm_eps)

    def project(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x [N, C] -> queries [N, H, D], keys and values [N, K, D]."""
        count = len(x)
        q = self.q_norm(self.q_proj(x).view(count, self.heads, self.dim))
        k = self.k_norm(self.k_proj(x).view(count, self.kv_heads, self.dim))
        v = self.v_proj(x).view(count, self.kv_heads, self.dim)
        return _rotate(q, cos, sin), _rotate(k, cos, sin), v

    def forward(
        self, x: Tensor, cos: Tensor, sin: Tensor, rows: TextRows, at: Tensor | None = None
    ) -> Tensor:
        """Every token (or those `at` these places) looks at the tokens before it in its text."""
        found = self.look(*self.project(x, cos, sin), rows)
        return self.o_proj(found if at is None else found.index_select(0, at))

    def look(self, q: Tensor, k: Tensor, v: Tensor, rows: TextRows) -> Tensor:
        """Block by block -> [N, H * D]."""
        found = []
        for block in rows.blocks:
            here = slice(block.first, block.first + block.rows * block.length)
            size = (block.rows, block.length, -1, self.dim)
            queries, keys, values = (part[here].view(size).transpose(1, 2) for part in (q, k, v))
            out = functional.scaled_dot_product_attention(
                queries, keys, values, is_causal=True, enable_gqa=self.heads != self.kv_heads
            )
            found.append(out.transpose(1, 2).reshape(block.rows * block.length, -1))
        return found[0] if len(found) == 1 else torch.cat(found)


class FeedForward(nn.Module):
    """The gated unit."""

    def __init__(self, shape: TextShape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden, shape.ffn, bias=False)
        self.up_proj = nn.Linear(shape.hidden, shape.ffn, bias=False)
        self.down_proj = nn.Linear(shape.ffn, shape.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """Attention, then the gated unit, each after a norm and added to what came in."""

    def __init__(self, shape: TextShape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = FeedForward(shape)
        self.input_layernorm = Norm(shape.hidden, shape.norm_eps)
        self.post_attention_layernorm = Norm(shape.hidden, shape.norm_eps)

    def forward(
        self, x: Tensor, cos: Tensor, sin: Tensor, rows: TextRows, at: Tensor | None = None
    ) -> Tensor:
        seen = self.self_attn(self.input_layernorm(x), cos, sin, rows, at)
        x = (x if at is None else x.index_select(0, at)) + seen
        return x + self.mlp(self.post_attention_layernorm(x))


class Trunk(nn.Module):
    """Embedding, layers, last norm; the name of its weights begins with `model.`."""

    def __init__(self, shape: TextShape) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocab, shape.hidden)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.hidden, shape.norm_eps)


class Qwen3Net(nn.Module):
    """See the module. `forward` trains and judges whole texts; `begin` and `go_on` generate."""

    cos: Tensor
    sin: Tensor

    def __init__(self, meta: Meta) -> None:
        super().__init__()
        assert meta.text is not None, "a text net needs a text shape"
        self.shape = meta.text
        self.model = Trunk(self.shape)
        if not self.shape.tied:
            self.lm_head = nn.Linear(self.shape.hidden, self.shape.vocab, bias=False)
        half = torch.arange(0, self.shape.head_dim, 2, dtype=torch.float32) / self.shape.head_dim
        angles = torch.outer(
            torch.arange(self.shape.positions, dtype=torch.float32), self.shape.rope_theta**-half
        )
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        for parameter in self.parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=SPREAD)

    def hidden_matrices(self) -> list[nn.Parameter]:
        """What Muon steps: every matrix but the embedding and the last layer."""
        return [p for p in self.model.layers.parameters() if p.ndim == 2]

    def _angles(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.cos[positions].unsqueeze(-2), self.sin[positions].unsqueeze(-2)

    def forward(self, rows: TextRows, at: Tensor) -> Tensor:
        """Logits [len(at), V] of the token after each of the flat places `at`."""
        cos, sin = self._angles(rows.positions)
        x = self.model.embed_tokens(rows.tokens)
        for layer in self.model.layers[:-1]:
            x = layer(x, cos, sin, rows)
        # What the last layer makes of the other tokens would be thrown away.
        x = self.model.layers[-1](x, cos, sin, rows, at)
        return self.logits(self.model.norm(x))

    def logits(self, hidden: Tensor) -> Tensor:
        """hidden [..., C] -> [..., V]."""
        weight = self.model.embed_tokens.weight if self.shape.tied else self.lm_head.weight
        return functional.linear(hidden, weight)

    def begin(self, tokens: Tensor, lengths: Tensor, room: int) -> tuple[Tensor, Cache]:
        """Read prompts [B, T] padded at the end; logits [B, V] after each, and their cache."""
        count, width = tokens.shape
        size = (count, self.shape.kv_heads, room, self.shape.head_dim)
        cache = Cache([], [])
        cos, sin = self._angles(torch.arange(width).repeat(count))
        x = self.model.embed_tokens(tokens.reshape(-1))
        rows = _one_block(tokens)
        for layer in self.model.layers:
            q, k, v = layer.self_attn.project(layer.input_layernorm(x), cos, sin)
            for parts, kept in ((k, cache.keys), (v, cache.values)):
                kept.append(torch.zeros(size))
                kept[-1][:, :, :width] = parts.view(count, width, *parts.shape[1:]).transpose(1, 2)
            x = x + layer.self_attn.o_proj(layer.self_attn.look(q, k, v, rows))
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        last = x.view(count, width, -1)[torch.arange(count), lengths - 1]
        return self.logits(self.model.norm(last)), cache

    def go_on(self, tokens: Tensor, places: Tensor, cache: Cache) -> Tensor:
        """One more token a row: tokens [B] at places [B] -> logits [B, V]; fills the cache."""
        count, until = len(tokens), int(places.max()) + 1
        cos, sin = self._angles(places)
        seen = torch.arange(until) <= places[:, None]  # [B, T]
        each = torch.arange(count)
        x = self.model.embed_tokens(tokens)
        for layer, keys, values in zip(self.model.layers, cache.keys, cache.values, strict=True):
            q, k, v = layer.self_attn.project(layer.input_layernorm(x), cos, sin)
            keys[each, :, places], values[each, :, places] = k, v
            out = functional.scaled_dot_product_attention(
                q.unsqueeze(2),
                keys[:, :, :until],
                values[:, :, :until],
                seen[:, None, None],
                enable_gqa=self.shape.heads != self.shape.kv_heads,
            )
            x = x + layer.self_attn.o_proj(out.reshape(count, -1))
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return self.logits(self.model.norm(x))


def _one_block(tokens: Tensor) -> TextRows:
    count, width = tokens.shape
    flat, none = tokens.reshape(-1), torch.empty(0, dtype=torch.int64)
    return TextRows(flat, none, (Block(0, count, width),), none.numpy(), none.numpy())


FAMILY = Family("qwen3", tuple(SIZES), Qwen3Net)


def fresh_text_net(meta: Meta, seed: int = 0) -> Qwen3Net:
    """A fresh net whose weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen3Net(meta)
