"""The text net as one graph: T new tokens after P cached ones, and the logits of the next.

Shapes: B texts, T new tokens, P tokens in the cache, L layers, H heads, K key heads, D per head,
V tokens of the vocabulary.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

from levelcap.export.parity import Latency, Parity, Report
from levelcap.export.text import TextBundle, TextBundleHero, witness_of
from levelcap.export.to_onnx import traced
from levelcap.guild.engine import get_engine
from levelcap.kit.errors import BadValue, refuse
from levelcap.nets.text.qwen3 import Qwen3Net
from levelcap.play.answers import TextHero

PROBLEMS = 200
LONGEST = 128


class TextGraph(nn.Module):
    """See the module."""

    def __init__(self, net: Qwen3Net) -> None:
        super().__init__()
        self.net = net

    def forward(self, tokens: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, ...]:
        """tokens [B, T], keys and values [B, L, K, P, D] -> logits [B, V], both grown by T."""
        past, new = keys.shape[3], tokens.shape[1]
        places = torch.arange(new) + past
        cos, sin = (part[places][:, None] for part in (self.net.cos, self.net.sin))  # [T, 1, D/2]
        seen = torch.arange(past + new)[None] <= places[:, None]  # [T, P + T]
        x = self.net.model.embed_tokens(tokens)  # [B, T, C]
        grown: tuple[list[Tensor], list[Tensor]] = ([], [])
        for number, layer in enumerate(self.net.model.layers):
            attention = layer.self_attn
            shape = (*tokens.shape, -1, attention.dim)
            inner = layer.input_layernorm(x)
            q = _turn(attention.q_norm(attention.q_proj(inner).view(shape)), cos, sin)
            k = _turn(attention.k_norm(attention.k_proj(inner).view(shape)), cos, sin)
            v = attention.v_proj(inner).view(shape)
            both = []
            for fresh, old, kept in ((k, keys, grown[0]), (v, values, grown[1])):
                kept.append(torch.cat((old[:, number], fresh.transpose(1, 2)), 2))
                both.append(kept[-1].repeat_interleave(attention.heads // attention.kv_heads, 1))
            out = functional.scaled_dot_product_attention(q.transpose(1, 2), both[0], both[1], seen)
            x = x + attention.o_proj(out.transpose(1, 2).flatten(2))
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        logits = self.net.logits(self.net.model.norm(x[:, -1]))
        return logits, torch.stack(grown[0], 1), torch.stack(grown[1], 1)


def _turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions of [B, T, heads, D]."""
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


def text_bytes(net: Qwen3Net) -> bytes:
    """The graph as a model file; texts, new tokens and cached ones are free sizes."""
    shape = net.shape
    cache = torch.zeros(2, shape.layers, shape.kv_heads, 5, shape.head_dim)
    rows, new = Dim("rows", min=1, max=256), Dim("new", min=1, max=shape.positions)
    past = Dim("past", min=0, max=shape.positions)
    tokens = torch.randint(0, shape.vocab, (2, 3))
    sizes = {0: rows, 3: past}
    inputs = {"tokens": tokens, "keys": cache, "values": cache.clone()}
    outputs = ("logits", "next_keys", "next_values")
    return traced(TextGraph(net), inputs, outputs, ({0: rows, 1: new}, sizes, sizes))


def make_text(hero: TextHero) -> tuple[TextBundle, bytes, Report]:
    """A text net's bundle, compared with the original on problems of the guild.

    Raises:
        BadValue: a net with a tokenizer file, which a bundle cannot carry.
    """
    shape = hero.net.shape
    if not shape.characters:
        remedy = "Export a hero that reads characters; published models have exporters of their own"
        raise BadValue(refuse("this net needs a tokenizer file", f"{shape.vocab} tokens", remedy))
    data = text_bytes(hero.net)
    sizes = (shape.positions, shape.layers, shape.kv_heads, shape.head_dim)
    bundle = TextBundle(shape.characters, *sizes, hero.content_hash)
    made = TextBundleHero(bundle, data)
    seen = tuple(float(x) for x in witness_of(made).round(6))
    made.bundle = bundle = replace(bundle, witness=seen)
    return bundle, data, _report(hero, made, len(data))


def _report(original: TextHero, made: TextBundleHero, size: int) -> Report:
    """Equal answers to fresh problems, and the time of a token beside torch."""
    problems = get_engine().generate_eval_batch("bin", level=2, count=PROBLEMS, seed=20261118)
    prompts = [problem.prompt for problem in problems]
    theirs, mine = [], []
    spent: dict[str, float] = {}
    before = time.process_time()
    for prompt in prompts:
        theirs += original.answers([prompt], LONGEST)
    spent["torch"] = time.process_time() - before
    before = time.process_time()
    mine = [made.answer(prompt, LONGEST) for prompt in prompts]
    spent["bundle"] = time.process_time() - before
    tokens = max(1, sum(len(answer) + 1 for answer in mine))
    same = sum(a == b for a, b in zip(theirs, mine, strict=True)) / len(prompts)
    gap = _gap(original, made)
    parity = Parity(len(prompts), gap, same, "problems of the guild, likeliest answers")
    ms: dict[str, Any] = {n: {"1": round(1e3 * s / tokens, 4)} for n, s in spent.items()}
    latency = Latency(ms["bundle"], ms["bundle"], ms["torch"], None, "unknown; ms are of a token")
    return Report(parity, latency, {"text": size})


def _gap(original: TextHero, made: TextBundleHero) -> float:
    """Largest difference of logits after one prompt."""
    tokens = np.arange(2, 12)[None] % made.bundle.vocab
    with torch.no_grad():
        wanted, _ = original.net.begin(torch.from_numpy(tokens), torch.tensor([10]), 16)
    return float(np.abs(made.read(tokens, None)[0] - wanted.numpy()).max())
