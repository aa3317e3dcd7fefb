"""A text hero answers: batched generation with a cache, and exact match without generating.

A text is prompt + newline + answer + end mark. Greedy decoding gives exactly a wanted answer if
and only if, with that answer fed in, every next token is the likeliest one: so one forward pass
over prompt and answer tells whether the hero would have answered exactly this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from levelcap.kit.errors import BadFile, BadValue, refuse
from levelcap.nets.checkpoint import load_snapshot
from levelcap.nets.meta import Meta
from levelcap.nets.text.qwen3 import Qwen3Net
from levelcap.nets.text.rows import lay_out
from levelcap.nets.text.tokens import Tokens, character_tokens

BETWEEN = "\n"
BATCH_TOKENS = 16_384


@dataclass(frozen=True)
class SamplingParams:
    """How the next token is chosen. temperature 0: the likeliest; top_k 0: among all."""

    temperature: float = 0.0
    top_k: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature <= 10 or self.top_k < 0:
            what = "temperature is from 0 to 10, top_k at least 0"
            raise BadValue(refuse(what, (self.temperature, self.top_k), "Give others"))


GREEDY = SamplingParams()


class TextHero:
    """A net with its tokens, ready to answer."""

    def __init__(self, net: Qwen3Net, tokens: Tokens, meta: Meta, content_hash: str = "") -> None:
        self.net, self.tokens, self.meta, self.content_hash = net, tokens, meta, content_hash

    def answers(
        self, prompts: Sequence[str], longest: int = 256, taste: SamplingParams = GREEDY
    ) -> list[str]:
        """An answer to each prompt, of at most `longest` tokens."""
        found: list[list[int]] = [[] for _ in prompts]
        for row, token in self.stream(prompts, longest, taste):
            found[row].append(token)
        return [self.tokens.decode(tokens) for tokens in found]

    @torch.no_grad()
    def stream(
        self, prompts: Sequence[str], longest: int = 256, taste: SamplingParams = GREEDY
    ) -> Iterator[tuple[int, int]]:
        """(row, token) as they come, end marks left out; rows that ended leave the batch."""
        texts = self.tokens.encode_all([prompt + BETWEEN for prompt in prompts])
        if not texts:
            return
        lengths = torch.tensor([len(text) for text in texts])
        room = min(int(lengths.max()) + longest, self.net.shape.positions)
        self._check_room(int(lengths.max()))
        padded = torch.full((len(texts), int(lengths.max())), self.tokens.pad)
        for row, text in enumerate(texts):
            padded[row, : len(text)] = torch.tensor(text)
        choose = _chooser(taste)
        logits, cache = self.net.begin(padded, lengths, room)
        rows, places = torch.arange(len(texts)), lengths
        limits = torch.clamp(lengths + longest, max=room)
        while True:
            chosen = choose(_without(logits, self.tokens))
            going = (chosen != self.tokens.end) & (places < limits)
            for row, token in zip(rows[going].tolist(), chosen[going].tolist(), strict=True):
                yield row, token
            going &= places + 1 < limits
            if not going.any():
                return
            if not going.all():
                cache.keep(going)
                rows, places, limits, chosen = (a[going] for a in (rows, places, limits, chosen))
            logits = self.net.go_on(chosen, places, cache)
            places = places + 1

    def measure(self, prompts: Sequence[str]) -> list[int]:
        """Tokens of each prompt, without answering.

        Raises:
            BadValue: a character outside the alphabet, or a prompt that leaves no room to answer.
        """
        lengths = [len(t) for t in self.tokens.encode_all([p + BETWEEN for p in prompts])]
        self._check_room(max(lengths, default=0))
        return lengths

    def exact(self, prompts: Sequence[str], answers: Sequence[str]) -> NDArray[np.bool_]:
        """Would greedy decoding answer exactly this? One forward pass, no generation."""
        heads = self.tokens.encode_all([prompt + BETWEEN for prompt in prompts])
        tails = [[*tail, self.tokens.end] for tail in self.tokens.encode_all(answers)]
        return exact_tokens(self.net, heads, tails, self.tokens)

    def _check_room(self, length: int) -> None:
        if length >= self.net.shape.positions:
            most = self.net.shape.positions - 1
            what = f"a prompt has at most {most} tokens here"
            raise BadValue(refuse(what, length, "Shorten the prompt"))


@torch.no_grad()
def exact_tokens(
    net: Qwen3Net, heads: Sequence[list[int]], tails: Sequence[list[int]], tokens: Tokens
) -> NDArray[np.bool_]:
    """Is every token of each tail (end mark last) the likeliest after what precedes it?"""
    right = np.zeros(len(heads), np.bool_)
    for part in _portions([len(h) + len(t) for h, t in zip(heads, tails, strict=True)]):
        # The end mark is only predicted, never read.
        texts = [heads[i] + tails[i][:-1] for i in part]
        rows = lay_out(texts, tokens.pad)
        first = rows.starts + np.array([len(heads[i]) for i in part]) - 1
        counts = np.array([len(tails[i]) for i in part])
        at = np.concatenate([np.arange(f, f + c) for f, c in zip(first, counts, strict=True)])
        wanted = np.concatenate([np.asarray(tails[i]) for i in part])
        logits = _without(net(rows, torch.from_numpy(at)), tokens)
        hits = logits.argmax(-1).numpy() == wanted
        right[part] = np.logical_and.reduceat(hits, np.cumsum(counts) - counts)
    return right


def _without(logits: Tensor, tokens: Tokens) -> Tensor:
    """A pad is no answer, however likely an untrained net finds it."""
    if tokens.pad != tokens.end:
        logits[:, tokens.pad] = float("-inf")
    return logits


def _portions(lengths: list[int]) -> Iterator[list[int]]:
    """Numbers of the texts in portions of a bounded number of tokens."""
    part: list[int] = []
    total = 0
    for number, length in enumerate(lengths):
        if part and total + length > BATCH_TOKENS:
            yield part
            part, total = [], 0
        part.append(number)
        total += length
    if part:
        yield part


def _chooser(taste: SamplingParams) -> Callable[[Tensor], Tensor]:
    if taste.temperature == 0:
        return lambda logits: logits.argmax(-1)
    generator = torch.Generator().manual_seed(taste.seed)

    def sample(logits: Tensor) -> Tensor:
        scaled = logits / taste.temperature
        if 0 < taste.top_k < scaled.shape[-1]:
            least = scaled.topk(taste.top_k).values[:, -1:]
            scaled = scaled.masked_fill(scaled < least, float("-inf"))
        return torch.multinomial(scaled.softmax(-1), 1, generator=generator).squeeze(1)

    return sample


def load_text_hero(folder: Path) -> TextHero:
    """The hero of a snapshot folder, verified byte by byte.

    Raises:
        BadFile: the snapshot is of a net that reads no text.
    """
    net, meta, digest = load_snapshot(folder)
    if not isinstance(net, Qwen3Net) or meta.text is None:
        remedy = "Give a snapshot of a text run"
        raise BadFile(refuse("this checkpoint reads no text", meta.architecture, remedy))
    return TextHero(net, character_tokens(meta.text), meta, digest)
