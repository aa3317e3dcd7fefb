"""The only place that turns a checkpoint into a Policy (this is where torch comes in)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.meta import Meta, check_fits
from levelcap.nets.net import Inputs, Net, Unrolled, ViewLayout, choice_log_prob
from levelcap.play.orders import (
    ORDER,
    ORDER_LEFT,
    Ordered,
    aim_odds,
    load_orders,
    passed,
    standing,
)
from levelcap.play.sample import Sampler
from levelcap.world.actions import from_mouse
from levelcap.world.mouse import MOUSE_HEADS, from_heads, mouse_mask
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World
from levelcap.world.spec import TICK_HZ, WorldSpec


class NetPolicy(Ordered):
    """A net in a seat. Samples unless `greedy`."""

    def __init__(self, net: Net, meta: Meta, content_hash: str, greedy: bool = False) -> None:
        self.net, self.meta, self.greedy = net, meta, greedy
        self.views = meta.views
        self.decision_ticks, self.tick_hz = meta.decision_ticks, meta.tick_hz
        self.knows_log_probs = not greedy
        self._content_hash = content_hash
        self._sampler: Sampler | None = None
        self._mouse: Sampler | None = None
        self.by_mouse = False
        self._layout: ViewLayout | None = None

    @property
    def content_hash(self) -> str:
        """sha256 of the weights."""
        return self._content_hash

    def bind(self, world: World) -> None:
        """Refuse a world the net was not made for."""
        self.fit(world.spec)

    def fit(self, spec: WorldSpec) -> None:
        """The same by a world's sizes alone: a net needs no simulator."""
        check_fits(self.meta, spec)
        self._sampler, self._layout = Sampler(spec), ViewLayout.of(spec, self.views)
        if self.net.has_mouse:
            self._mouse = Sampler(replace(spec, heads=MOUSE_HEADS, aim_heads=(), aim_users=()))

    def initial_state(self, num_rows: int) -> PolicyState:
        """What the net carries from decision to decision; None: nothing."""
        state = self.net.initial_state(num_rows)
        found: dict[str, NDArray[Any]] = {name: rows.numpy() for name, rows in state.items()}
        return (found | self.order_state(num_rows)) or None

    def think(self, views: Views, state: PolicyState) -> Unrolled:
        """Logits and values of n rows: an unroll over one decision."""
        assert self._layout is not None, "bind comes before act"
        packed = torch.from_numpy(self._layout.pack(views))
        assert state is None or isinstance(state, dict)
        mine = ((n, rows) for n, rows in (state or {}).items() if n not in (ORDER, ORDER_LEFT))
        carried = {name: torch.from_numpy(rows) for name, rows in mine}
        added = standing(state)
        order = None if added is None else torch.from_numpy(added)
        reset = torch.from_numpy(views["reset"]).view(1, -1)
        chance = None
        if self.net.num_choices and not self.greedy:
            chance = torch.from_numpy(Sampler.chance(views["key"]))[None]
        views_ = Inputs(packed[None], self._layout, chance, self._pace, order)
        with torch.inference_mode():
            return self.net.unroll(views_, carried, reset)

    @property
    def _pace(self) -> int:
        """Decisions now in the time of one of training: 1 at the net's own rate."""
        trained_s = self.meta.decision_ticks / TICK_HZ
        return max(1, round(trained_s * self.tick_hz / self.decision_ticks))

    def draw_mouse(self, out: Unrolled, views: Views) -> NDArray[np.float64]:
        """Mouse rows [n, 4] of what `think` gave: cursor, click and hotkey."""
        assert self._mouse is not None and out.mouse is not None, "see use_mouse"
        mask = mouse_mask(views["mask"])
        return from_heads(self._mouse(out.mouse[0].numpy(), mask, views["key"], self.greedy)[0])

    def act(self, views: Views, state: PolicyState) -> Decision:
        """Bins, log-probabilities and values of n rows."""
        assert self._sampler is not None, "bind comes before act"
        out = self.think(views, state)
        log_probs: NDArray[np.float32] | None = None
        if self.by_mouse:
            actions: NDArray[Any] = from_mouse(self.draw_mouse(out, views))
        else:
            logits = out.logits[0].numpy()
            actions, log_probs = self._sampler(logits, views["mask"], views["key"], self.greedy)
        kept: dict[str, NDArray[Any]] = {name: rows.numpy() for name, rows in out.state.items()}
        kept |= passed(state)
        choices = None
        if out.choices is not None:
            choices = out.choices[0].numpy()
            if log_probs is not None:
                # The choice is part of what was decided, and so of its probability.
                log_probs += choice_log_prob(out)[0].numpy()
        return Decision(
            actions,
            kept or None,
            choices=choices,
            log_probs=log_probs,
            values=out.values[0].numpy(),
            intents=None if choices is None else choices.astype(np.int8),
            mind=self._mind(out, actions, views) if self.shows_mind else {},
        )

    def _mind(self, out: Unrolled, actions: NDArray[Any], views: Views) -> dict[str, NDArray[Any]]:
        """What the net tells of itself, and how likely the chosen aim was."""
        mind = {name: rows[0].numpy() for name, rows in out.mind.items()}
        if self.by_mouse:  # the aim heads did not choose this aim
            return mind
        heads = (self.meta.head_sizes, self.meta.aim_heads)
        odds = aim_odds(out.logits[0].numpy(), views["mask"], actions, heads)
        return mind | ({"aim_odds": odds} if self.meta.aim_heads else {})


def load_checkpoint(folder: Path, greedy: bool = False) -> NetPolicy:
    """The policy of a snapshot folder, verified byte by byte."""
    net, meta, digest = load_world_net(folder)
    policy = NetPolicy(net, meta, digest, greedy)
    policy.take_vectors(load_orders(folder, net.goal_size))
    return policy


def use_mouse(policy: Policy) -> Policy:
    """The same policy, acting with mouse and hotbar: it does nothing that a mouse cannot say.

    Raises:
        BadValue: no net, or one without heads for the mouse.
    """
    if not (isinstance(policy, NetPolicy) and policy.net.has_mouse):
        remedy = "Imitate a net that has: levelcap imitate --family hierarchy --net mouse=on"
        shown = policy.name or policy.content_hash[:12]
        raise BadValue(refuse("this player has no heads for the mouse", shown, remedy))
    # The log-probability of seven heads says nothing of what was drawn from the mouse's.
    policy.by_mouse, policy.knows_log_probs = True, False
    return policy
