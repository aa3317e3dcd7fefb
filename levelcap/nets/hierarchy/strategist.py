"""The Strategist: what a minute of summaries means. Once a second: a plan, a mode, confidence.

Shapes: K looks (seconds), R rows, W width, H window.

Two kinds behind one face. A *streaming* one (ssd, lstm) reads one summary a look and carries the
rest as state. One with a *window* (transformer, perceiver, experts) keeps the last 60 summaries and
reads all of them at every look; what lies before the match began is masked. A window of 2 is a clip
without a past, for any of them: a stream then reads the two from the beginning at every look.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from levelcap.nets.hierarchy.attention import ACTIVATIONS, Layer, Pool, Positions
from levelcap.nets.hierarchy.lstm import Lstm
from levelcap.nets.hierarchy.memory import State, newest, segments
from levelcap.nets.hierarchy.norm import make_norm
from levelcap.nets.hierarchy.shape import Shape
from levelcap.nets.hierarchy.ssd import SsdStack

LATENTS = 64  # of the Perceiver: its cost is T x 64, not T x T
STREAMS, CLIP = ("ssd", "lstm"), 2
EXPERTS = 4  # combat, loot, flee, explore


def encoder(inputs: int, shape: Shape) -> nn.Sequential:
    """A summary [192] -> [W]."""
    return nn.Sequential(
        nn.Linear(inputs, shape.plan),
        make_norm(shape.plan, shape.layer_norm),
        ACTIVATIONS[shape.activation](),
        nn.Dropout(shape.dropout),
    )


def _memory(shape: Shape) -> SsdStack | Lstm:
    if shape.strategist == "ssd":
        return SsdStack(shape.plan, shape.plan_layers, shape.state, shape.layer_norm)
    return Lstm(shape.plan, 1)


class Stream(nn.Module):
    """One summary a look; the past is in the state."""

    def __init__(self, inputs: int, shape: Shape) -> None:
        super().__init__()
        self.encode = encoder(inputs, shape)
        self.memory = _memory(shape)
        self.norm = make_norm(shape.plan, shape.layer_norm)

    def initial_state(self, rows: int) -> State:
        """Of the memory."""
        return self.memory.initial_state(rows)

    def forward(
        self, summaries: Tensor, state: State, reset: Tensor | None, valid: Tensor | None
    ) -> tuple[Tensor, State]:
        """summaries [K, R, 192] -> plans [K, R, W] and the state after each row's last look."""
        out, state = self.memory(self.encode(summaries), state, reset, valid)
        return self.norm(out), state

    def remember(self, summaries: Tensor, state: State, reset: Tensor) -> State:
        """The state after looks nobody asks for a plan."""
        return self(summaries, state, reset, None)[1]


class Window(nn.Module):
    """The last minute of summaries at every look."""

    def __init__(self, inputs: int, shape: Shape) -> None:
        super().__init__()
        self.inputs, self.window = inputs, shape.window
        self.encode = encoder(inputs, shape)
        self.positions = Positions(shape.plan)
        self.mixer: nn.Module
        if shape.strategist == "perceiver":
            self.mixer = Perceiver(shape)
        elif shape.strategist == "experts":
            self.mixer = Experts(shape)
        elif shape.strategist in STREAMS:
            self.mixer = Reread(shape)
        else:
            self.mixer = Transformer(shape)
        self.pool = Pool(shape.plan, shape.plan_heads, shape.attention)
        self.norm = make_norm(shape.plan, shape.layer_norm)

    def initial_state(self, rows: int) -> State:
        """Nothing seen yet: the ring, oldest first, and how much of it is filled."""
        return {
            "ring": torch.zeros(rows, self.window, self.inputs),
            "seen": torch.zeros(rows, dtype=torch.int64),
        }

    def forward(
        self, summaries: Tensor, state: State, reset: Tensor | None, valid: Tensor | None
    ) -> tuple[Tensor, State]:
        """As `Stream.forward`."""
        looks, rows = summaries.shape[:2]
        if reset is None:
            reset = summaries.new_zeros((looks, rows), dtype=torch.bool)
        long, exists, number = self._line_up(summaries, state, reset)
        match = number[self.window :]
        # Look k sees the H entries that end with its own.
        at = torch.arange(looks)[:, None] + torch.arange(1, self.window + 1)  # [K, H]
        mask = exists[at] & (number[at] == match[:, None])  # [K, H, R]
        mask = mask.transpose(1, 2).reshape(looks * rows, self.window)
        items = self.encode(long)[at].transpose(1, 2).reshape(looks * rows, self.window, -1)
        items = items + self.positions(torch.arange(self.window - 1, -1, -1).float())
        found = self.mixer(items, mask)
        if found.shape[1] != self.window:  # latents: all of them exist
            mask = mask.new_ones(found.shape[:2])
        plans = self.norm(self.pool(found, mask)).view(looks, rows, -1)
        return plans, self._after(long, exists, number, valid)

    def remember(self, summaries: Tensor, state: State, reset: Tensor) -> State:
        """As `Stream.remember`: only the ring moves on."""
        return self._after(*self._line_up(summaries, state, reset), None)

    def _line_up(
        self, summaries: Tensor, state: State, reset: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The ring and what comes, [H + K, R, ...]: summaries, which exist, and their match."""
        long = torch.cat((state["ring"].transpose(0, 1), summaries))
        age = torch.arange(self.window, 0, -1)[:, None]
        exists = torch.cat((age <= state["seen"], torch.ones_like(reset)))
        return long, exists, functional.pad(segments(reset), (0, 0, self.window, 0))

    def _after(self, long: Tensor, exists: Tensor, number: Tensor, valid: Tensor | None) -> State:
        """The ring after each row's last look."""
        # A filled entry is marked, so that what is kept can be counted.
        marked = torch.cat((long, exists[..., None]), -1)
        ring = newest(marked, number[self.window :], valid)
        return {"ring": ring[..., :-1], "seen": ring[..., -1].sum(1).long()}


def _layers(shape: Shape, count: int, heads: int = 0) -> nn.ModuleList:
    heads = heads or shape.plan_heads
    layers = [Layer(shape.plan, heads, shape.plan_ffn, shape) for _ in range(count)]
    return nn.ModuleList(layers)


class Reread(nn.Module):
    """A stream's memory that begins anew with every window."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.memory = _memory(shape)

    def forward(self, items: Tensor, mask: Tensor) -> Tensor:
        """[N, H, W] -> [N, H, W]."""
        # What does not exist comes first and is forgotten where the rest begins.
        before = functional.pad(mask[:, :-1], (1, 0))
        reset = (mask & ~before).transpose(0, 1)
        state = self.memory.initial_state(items.shape[0])
        found: Tensor = self.memory(items.transpose(0, 1), state, reset, None)[0]
        return found.transpose(0, 1)


class Transformer(nn.Module):
    """Self-attention over the window."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.layers = _layers(shape, shape.plan_layers)

    def forward(self, items: Tensor, mask: Tensor) -> Tensor:
        """[N, H, W] -> [N, H, W]."""
        for layer in self.layers:
            items = layer(items, mask)
        return items


class Perceiver(nn.Module):
    """64 latents read the window once, then talk among themselves (Jaegle et al. 2021)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.randn(LATENTS, shape.plan) * 0.02)
        # One head for reading, eight for talking.
        self.read = Layer(shape.plan, 1, shape.plan_ffn, shape)
        self.layers = _layers(shape, shape.plan_layers, 8)

    def forward(self, items: Tensor, mask: Tensor) -> Tensor:
        """[N, H, W] -> [N, 64, W]."""
        latents = self.latents.expand(items.shape[0], -1, -1)
        found: Tensor = self.read(latents, mask, items)
        every = mask.new_ones(found.shape[:2])
        for layer in self.layers:
            found = layer(found, every)
        return found


class Experts(nn.Module):
    """A mixture of four: a shared first half, then one layer each, weighed by a router."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shared = _layers(shape, max(1, shape.plan_layers - 1))
        self.experts = _layers(shape, EXPERTS)
        self.router = nn.Linear(shape.plan, EXPERTS)

    def forward(self, items: Tensor, mask: Tensor) -> Tensor:
        """[N, H, W] -> [N, H, W]."""
        for layer in self.shared:
            items = layer(items, mask)
        # By the newest entry, which always exists: one decision a window.
        shares = self.router(items[:, -1]).softmax(-1)  # [N, 4]
        parts = [layer(items, mask) for layer in self.experts]
        return sum((shares[:, e, None, None] * part for e, part in enumerate(parts)), items * 0)


def make_strategist(inputs: int, shape: Shape) -> Stream | Window:
    """The Strategist this shape names."""
    kind = Stream if shape.strategist in STREAMS and shape.window > CLIP else Window
    return kind(inputs, shape)
