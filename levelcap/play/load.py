"""The only place that turns a checkpoint into a Policy (this is where torch comes in)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from levelcap.nets.checkpoint import load_snapshot
from levelcap.nets.meta import Meta, check_fits
from levelcap.play.sample import Sampler


def flatten(views: dict[str, NDArray[Any]], names: tuple[str, ...]) -> NDArray[np.float32]:
    """Rows of the named views side by side, float32 [n, D]."""
    rows = len(views["key"])
    parts = [views[name].reshape(rows, -1) for name in names]
    return np.concatenate(parts, axis=1, dtype=np.float32)


class NetPolicy:
    """A net at the table; satisfies `levelcap.world.policy.Policy`. Samples unless `greedy`."""

    def __init__(self, net: Any, meta: Meta, content_hash: str, greedy: bool = False) -> None:
        self.net, self.meta, self.content_hash, self.greedy = net, meta, content_hash, greedy
        self.views = meta.views
        self.decision_ticks = meta.decision_ticks
        self._sampler: Sampler | None = None

    def bind(self, world: Any) -> None:
        """Refuse a world the net was not made for."""
        check_fits(self.meta, world.spec)
        self._sampler = Sampler(world.spec)

    def initial_state(self, num_rows: int) -> None:
        """The flat net remembers nothing."""

    def act(self, views: dict[str, NDArray[Any]], state: Any) -> tuple[NDArray[Any], Any]:
        """Bins [n, heads] for n rows."""
        actions, _, _, state = self.act_full(views, state)
        return actions, state

    def act_full(
        self, views: dict[str, NDArray[Any]], state: Any
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Any]:
        """Bins, log-probabilities [n], values [n] and the state."""
        assert self._sampler is not None, "bind(world) comes before act"
        with torch.inference_mode():
            logits, values = self.net(torch.from_numpy(flatten(views, self.views)))
        picked = self._sampler(logits.numpy(), views["mask"], views["key"], self.greedy)
        return *picked, values.numpy(), state


def load_checkpoint(folder: Path, greedy: bool = False) -> NetPolicy:
    """The policy of a snapshot folder, verified byte by byte."""
    net, meta, digest = load_snapshot(folder)
    return NetPolicy(net, meta, digest, greedy)
