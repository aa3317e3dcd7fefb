"""Imitation as a task of the one loop: shards in seeded order, cloning, accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor

from levelcap.lake.labels import Labels
from levelcap.lake.read import Shards
from levelcap.learn.engine.state import State
from levelcap.learn.imitation.cloner import make_cloner
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.nets.meta import Meta
from levelcap.nets.net import Net, ViewLayout
from levelcap.world.spec import WorldSpec

JUDGED_BATCHES = 8  # 8 x 2,048 decisions: accuracies to about half a point
JUDGED_LOOKS = 32  # a Strategist looks at every tenth, and some intents are one in a hundred


class ImitationTask:
    """See `levelcap.learn.engine.task.Task`. A batch is as many minibatches of the lake."""

    helper: Executor | None = None  # the second core reads the next batch

    def __init__(
        self,
        net: Net,
        meta: Meta,
        spec: WorldSpec,
        config: ImitationConfig,
        shards: Shards,
        seed: int,
        labels: Labels | None = None,
    ) -> None:
        """config.gamma must be set."""
        self.net, self.minibatches, self.config = net, config.minibatches, config
        self._meta, self._seed = meta, seed
        # By match seed: both players and both games of a pair fall on one side.
        self.training, self.validation = shards.split(config.validation)
        self.cloner = make_cloner(net, meta, ViewLayout.of(spec, meta.views), config, labels)
        self._next = 0
        self._stream: Iterator[Any] | None = None

    def gather(self, version: int) -> list[Any]:
        """The next minibatches; which ones follows from their number alone."""
        if self._stream is None:
            self._stream = self.cloner.stream(self.training, self._seed, self._next)
        found = [next(self._stream) for _ in range(self.minibatches)]
        # The only state of reading: which batch is number n follows from n.
        self._next += self.minibatches
        return [self.cloner.prepare(one) for one in found]

    def backward(self, batch: list[Any], minibatch: int, update: int) -> dict[str, float]:
        """Gradients of one minibatch."""
        return self.cloner.backward(batch[minibatch])

    def sync(self, steps: int, done: float) -> None:
        """Nobody acts."""

    def steps(self, batch: list[Any]) -> int:
        """Decisions."""
        return sum(self.cloner.steps(one) for one in batch)

    def is_warm(self, update: int) -> bool:
        """From the second batch on."""
        return update >= self.minibatches

    def meta(self, steps: int, metrics: dict[str, float]) -> Meta:
        """The net's description."""
        return replace(self._meta, steps=steps, metrics=metrics)

    def published(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """With a steady aim, where that is asked for."""
        return self.net.steadied(weights, self.config.steady_aim)

    def summary(self) -> dict[str, float]:
        """Passes over the data so far."""
        return {"epochs": self._next * self.config.batch_size / max(1, self.training.num_steps)}

    def state(self, batch: list[Any]) -> State:
        """The number of the batch that waits is all there is to keep."""
        return State({}, {"next": self._next - self.minibatches})

    def restore(self, state: State) -> list[Any]:
        """Read the batch that waited again."""
        self._next, self._stream = int(state.values["next"]), None
        return self.gather(0)


def accuracy(
    net: Net,
    meta: Meta,
    spec: WorldSpec,
    shards: Shards,
    config: ImitationConfig,
    labels: Labels | None = None,
    batches: int = 0,
) -> dict[str, float]:
    """Loss and share of right bins per head (where the head is used) on seeded batches.

    batches: how many; 0: enough for this kind of net.
    """
    batches = batches or (JUDGED_LOOKS if net.num_choices else JUDGED_BATCHES)
    cloner = make_cloner(net, meta, ViewLayout.of(spec, meta.views), config, labels)
    stream = cloner.stream(shards, 1, 0)
    seen = [cloner.prepare(next(stream)) for _ in range(batches)]
    judged = [cloner.judge(one) for one in seen]
    right = np.sum([one.right for one in judged], axis=0)
    used = np.sum([one.used for one in judged], axis=0)
    found = dict(zip(meta.head_names, (right / np.maximum(used, 1)).tolist(), strict=True))
    loss = float(np.mean([one.loss for one in judged]))
    heads = {f"accuracy_{n}": v for n, v in found.items()}
    return {"loss": loss, **heads, **cloner.layers(seen)}
