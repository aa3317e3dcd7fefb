"""The only place that turns a checkpoint into a Policy (this is where torch comes in)."""

from __future__ import annotations

from pathlib import Path

import torch

from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.meta import Meta, check_fits
from levelcap.nets.net import Inputs, Net, Unrolled, ViewLayout
from levelcap.play.sample import Sampler
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World
from levelcap.world.spec import WorldSpec


class NetPolicy(Policy):
    """A net in a seat. Samples unless `greedy`."""

    def __init__(self, net: Net, meta: Meta, content_hash: str, greedy: bool = False) -> None:
        self.net, self.meta, self.greedy = net, meta, greedy
        self.views = meta.views
        self.decision_ticks = meta.decision_ticks
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
        with torch.inference_mode():
            return self.net.unroll(Inputs(packed[None], self._layout), carried, reset)

    def act(self, views: Views, state: PolicyState) -> Decision:
        """Bins, log-probabilities and values of n rows."""
        assert self._sampler is not None, "bind comes before act"
        out = self.think(views, state)
        actions, log_probs = self._sampler(
            out.logits[0].numpy(), views["mask"], views["key"], self.greedy
        )
        kept = {name: rows.numpy() for name, rows in out.state.items()}
        return Decision(
            actions,
            kept or None,
            log_probs=log_probs,
            values=out.values[0].numpy(),
            mind={name: rows[0].numpy() for name, rows in out.mind.items()},
        )


def load_checkpoint(folder: Path, greedy: bool = False) -> NetPolicy:
    """The policy of a snapshot folder, verified byte by byte."""
    net, meta, digest = load_world_net(folder)
    return NetPolicy(net, meta, digest, greedy)
