"""Nets as graphs of one decision: tensors in, tensors out, all memory explicit, no branches.

Shapes: B rows (players), D numbers of all views, A bins of all heads, M modes, G goal, W width.

A flat net is one graph. A hierarchy is three, because its layers have rates of their own: whoever
runs them asks the Strategist once a second, holds what it decided, and asks the others at every
decision. Rows whose match begins get a memory of zeros before a graph is run, so no graph knows of
beginnings. The Strategist's graph gives the goal of every mode; who runs it draws the mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from levelcap.kit.errors import BadValue, refuse
from levelcap.nets.flat import FlatNet
from levelcap.nets.hierarchy.memory import State
from levelcap.nets.hierarchy.net import DEED, PLAN, HierarchyNet
from levelcap.nets.hierarchy.shape import GOAL, TARGET, shape_of
from levelcap.nets.hierarchy.strategist import Reread, Window
from levelcap.nets.meta import Meta
from levelcap.nets.net import Net

REMEDY = "Export another net, or train this one with the part left at its default"


@dataclass(frozen=True)
class Graph:
    """A module to be traced, and the names of what goes in and comes out, rows first."""

    name: str
    module: nn.Module
    inputs: dict[str, Tensor]  # examples of two rows
    outputs: tuple[str, ...]
    memory: tuple[str, ...] = ()  # inputs that come back as outputs of the same name, `next_…`


class FlatGraph(nn.Module):
    """inputs [B, D] -> logits [B, A], value [B]."""

    def __init__(self, net: FlatNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """See the class."""
        found: tuple[Tensor, Tensor] = self.net(inputs)
        return found


class StrategistGraph(nn.Module):
    """summary [B, 192] and its memory -> plan, logits of modes, the goal of each mode, memory."""

    def __init__(self, net: HierarchyNet, names: Sequence[str]) -> None:
        super().__init__()
        self.net, self.names = net, tuple(names)

    def forward(self, summary: Tensor, *memory: Tensor) -> tuple[Tensor, ...]:
        """pooled [B, W], mode_logits [B, M], goals [B, M, G], confidence [B], memory."""
        state = dict(zip(self.names, memory, strict=True))
        plans, after = self.net.strategist(summary[None], state, None, None)
        pooled = plans[0]
        goals = self.net.goal_head(pooled)[:, None] + self.net.mode_goal.weight
        if not self.net.use_goal:
            goals = goals * 0.0
        sure = torch.sigmoid(self.net.confidence(pooled)).squeeze(-1)
        modes = self.net.mode_head(pooled)
        return pooled, modes, goals, sure, *(after[name] for name in self.names)


class TacticianGraph(nn.Module):
    """objects [B, S, O], goal [B, G] -> position, information, attention, target, approach."""

    def __init__(self, net: HierarchyNet) -> None:
        super().__init__()
        self.tactician = net.tactician

    def forward(self, objects: Tensor, goal: Tensor) -> tuple[Tensor, ...]:
        """position [B, 2], info [B, 32], attention [B, S + 1], target [B], approach [B, 4]."""
        seen = self.tactician(objects, goal)
        return seen.position, seen.info, seen.attention, seen.target, seen.approach


class ExecutorGraph(nn.Module):
    """body, goal, target, plan and its memory -> logits [B, A], value [B], memory."""

    def __init__(self, net: HierarchyNet, names: Sequence[str]) -> None:
        super().__init__()
        self.net, self.names = net, tuple(names)

    def forward(
        self, body: Tensor, goal: Tensor, position: Tensor, info: Tensor, pooled: Tensor, *m: Tensor
    ) -> tuple[Tensor, ...]:
        """See the class."""
        now = (part[None] for part in (body, goal, position, info))
        state = dict(zip(self.names, m, strict=True))
        logits, hidden, after = self.net.executor(*now, state, None)
        if self.net.critic_views:  # never in an exported graph: the value is unknown in play
            value = pooled.sum(-1) * torch.nan
        else:
            felt = (pooled, body * self.net.executor.sighted, hidden[0])
            value = self.net.critic(torch.cat(felt, -1)).squeeze(-1)
        return logits[0], value, *(after[name] for name in self.names)


def graphs_of(net: Net, meta: Meta) -> tuple[Graph, ...]:
    """What a net is exported as.

    Raises:
        BadValue: a part of it cannot be traced, or its family has no graphs.
    """
    rows = 2  # a batch of one would be taken for a constant
    if isinstance(net, FlatNet):
        inputs = {"inputs": torch.randn(rows, meta.input_size)}
        return (Graph("policy", FlatGraph(net), inputs, ("logits", "value")),)
    if not isinstance(net, HierarchyNet):
        raise BadValue(refuse("this family of nets has no graphs", meta.architecture, REMEDY))
    shape = shape_of(meta)
    for odd, there in (
        ("attention=nested", shape.attention == "nested"),
        ("executor=longconv", shape.executor == "longconv"),
        (f"window=2 of strategist={shape.strategist}", isinstance(_mixer(net), Reread)),
    ):
        if there:
            raise BadValue(refuse("this part of a hierarchy cannot be traced", odd, REMEDY))
    return _strategist(net, meta, rows), _tactician(net, meta, rows), _executor(net, meta, rows)


def _strategist(net: HierarchyNet, meta: Meta, rows: int) -> Graph:
    memory = _example(net.strategist.initial_state(rows))
    inputs = {"summary": torch.randn(rows, meta.shape["summary"])} | _named(PLAN, memory)
    made = ("pooled", "mode_logits", "goals", "confidence")
    return _remembering("strategist", StrategistGraph(net, list(memory)), inputs, made, PLAN)


def _tactician(net: HierarchyNet, meta: Meta, rows: int) -> Graph:
    inputs = {
        "objects": torch.randn(rows, meta.shape["slots"], meta.shape["columns"]),
        "goal": torch.randn(rows, GOAL),
    }
    outputs = ("position", "info", "attention", "target", "approach")
    return Graph("tactician", TacticianGraph(net), inputs, outputs)


def _executor(net: HierarchyNet, meta: Meta, rows: int) -> Graph:
    memory = _example(net.executor.initial_state(rows))
    inputs = {
        "body": torch.randn(rows, meta.shape["body"]),
        "goal": torch.randn(rows, GOAL),
        "position": torch.rand(rows, 2),
        "info": torch.randn(rows, TARGET),
        "pooled": torch.randn(rows, net.width),
    }
    module = ExecutorGraph(net, list(memory))
    return _remembering(
        "executor", module, inputs | _named(DEED, memory), ("logits", "value"), DEED
    )


def _remembering(
    name: str, module: nn.Module, inputs: dict[str, Tensor], made: tuple[str, ...], prefix: str
) -> Graph:
    memory = tuple(key for key in inputs if key.startswith(prefix))
    return Graph(name, module, inputs, (*made, *(f"next_{key}" for key in memory)), memory)


def _mixer(net: HierarchyNet) -> nn.Module | None:
    return net.strategist.mixer if isinstance(net.strategist, Window) else None


def _named(prefix: str, memory: State) -> State:
    return {prefix + name: rows for name, rows in memory.items()}


def _example(memory: State) -> State:
    """Memory that something has happened to: zeros might be taken for constants."""
    return {n: torch.randn(r.shape) if r.is_floating_point() else r + 1 for n, r in memory.items()}
