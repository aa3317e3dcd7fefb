"""The only place that turns a checkpoint into a Policy (this is where torch comes in)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.meta import Meta, check_fits
from levelcap.nets.net import Inputs, Net, Unrolled, ViewLayout, choice_log_prob
from levelcap.play.sample import Sampler
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World
from levelcap.world.spec import TICK_HZ, WorldSpec


class NetPolicy(Policy):
    """A net in a seat. Samples unless `greedy`."""

    def __init__(self, net: Net, meta: Meta, content_hash: str, greedy: bool = False) -> None:
        self.net, self.meta, self.greedy = net, meta, greedy
        self.views = meta.views
        self.decision_ticks, self.tick_hz = meta.decision_ticks, meta.tick_hz
        self.knows_log_probs = not greedy
        self._content_hash = content_hash
        self._sampler: Sampler | None = None
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

    def initial_state(self, num_rows: int) -> PolicyState:
        """What the net carries from decision to decision; None: nothing."""
        state = self.net.initial_state(num_rows)
        return {name: rows.numpy() for name, rows in state.items()} or None

    def think(self, views: Views, state: PolicyState) -> Unrolled:
        """Logits and values of n rows: an unroll over one decision."""
        assert self._layout is not None, "bind comes before act"
        packed = torch.from_numpy(self._layout.pack(views))
        assert state is None or isinstance(state, dict)
        carried = {name: torch.from_numpy(rows) for name, rows in (state or {}).items()}
        reset = torch.from_numpy(views["reset"]).view(1, -1)
        chance = None
        if self.net.num_choices and not self.greedy:
            chance = torch.from_numpy(Sampler.chance(views["key"]))[None]
        views_ = Inputs(packed[None], self._layout, chance, self._pace)
        with torch.inference_mode():
            return self.net.unroll(views_, carried, reset)

    @property
    def _pace(self) -> int:
        """Decisions now in the time of one of training: 1 at the net's own rate."""
        trained_s = self.meta.decision_ticks / TICK_HZ
        return max(1, round(trained_s * self.tick_hz / self.decision_ticks))

    def act(self, views: Views, state: PolicyState) -> Decision:
        """Bins, log-probabilities and values of n rows."""
        assert self._sampler is not None, "bind comes before act"
        out = self.think(views, state)
        actions, log_probs = self._sampler(
            out.logits[0].numpy(), views["mask"], views["key"], self.greedy
        )
        kept = {name: rows.numpy() for name, rows in out.state.items()}
        choices = None
        if out.choices is not None:
            # The choice is part of what was decided, and so of its probability.
            log_probs += choice_log_prob(out)[0].numpy()
            choices = out.choices[0].numpy()
        return Decision(
            actions,
            kept or None,
            choices=choices,
            log_probs=log_probs,
            values=out.values[0].numpy(),
            intents=None if choices is None else choices.astype(np.int8),
            mind={name: rows[0].numpy() for name, rows in out.mind.items()},
        )


def load_checkpoint(folder: Path, greedy: bool = False) -> NetPolicy:
    """The policy of a snapshot folder, verified byte by byte."""
    net, meta, digest = load_world_net(folder)
    return NetPolicy(net, meta, digest, greedy)
