"""Imitation as a task of the one loop: shards in seeded order, cloning, accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from levelcap.lake.batch import Batch
from levelcap.lake.read import Shards
from levelcap.learn.engine.state import State
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.update import Cloner, Rows
from levelcap.nets.flat import FlatNet
from levelcap.nets.meta import Meta

JUDGED_BATCHES = 8


def to_rows(batch: Batch, views: tuple[str, ...], gamma: float) -> Rows:
    """What the cloner needs of a batch of the lake."""
    discount = np.power(gamma, batch.left.astype(np.float64))
    return Rows(
        inputs=batch.inputs(views),
        mask=batch.mask,
        actions=batch.actions.astype(np.int16),
        targets=(batch.outcome * discount).astype(np.float32),
        alive=batch.alive,
    )


class ImitationTask:
    """See `levelcap.learn.engine.task.Task`. A batch is `parts` lots of rows."""

    helper: Executor | None = None  # the second core reads the next batch

    def __init__(
        self, net: FlatNet, meta: Meta, config: ImitationConfig, shards: Shards, seed: int
    ) -> None:
        """config.gamma must be set."""
        self.net, self.parts, self.config = net, config.parts, config
        self._meta, self._seed = meta, seed
        self.training, self.validation = shards.split(config.validation)
        self.cloner = Cloner(net, meta, config.smoothing, config.value_coef)
        self._next = 0
        self._stream: Iterator[Batch] | None = None

    def gather(self, version: int) -> list[Rows]:
        """The next `parts` batches; which ones follows from their number alone."""
        if self._stream is None:
            self._stream = self.training.batches(
                self.config.batch_size, self._seed, self._next, views=self._meta.views,
                window_mb=self.config.window_mb,
            )  # fmt: skip
        lots = [next(self._stream) for _ in range(self.parts)]
        self._next += self.parts
        return [to_rows(lot, self._meta.views, self.config.gamma) for lot in lots]

    def backward(self, batch: list[Rows], part: int, update: int) -> dict[str, float]:
        """Gradients of one lot."""
        return self.cloner.backward(batch[part])

    def meet(self, steps: int, done: float) -> None:
        """Nobody acts."""

    def steps(self, batch: list[Rows]) -> int:
        """Rows."""
        return sum(len(rows.inputs) for rows in batch)

    def warm(self, update: int) -> bool:
        """From the second batch on."""
        return update >= self.parts

    def meta(self, steps: int, metrics: dict[str, float]) -> Meta:
        """The net's description."""
        return replace(self._meta, steps=steps, metrics=metrics)

    def summary(self) -> dict[str, float]:
        """Passes over the data so far."""
        return {"epochs": self._next * self.config.batch_size / max(1, self.training.num_steps)}

    def state(self, batch: list[Rows]) -> State:
        """The number of the batch that waits is all there is to keep."""
        return State({}, {"next": self._next - self.parts})

    def restore(self, state: State) -> list[Rows]:
        """Read the batch that waited again."""
        self._next, self._stream = int(state.values["next"]), None
        return self.gather(0)


def accuracy(
    net: FlatNet, meta: Meta, shards: Shards, config: ImitationConfig, batches: int = JUDGED_BATCHES
) -> dict[str, float]:
    """Loss and share of right bins per head (where the head is used) on seeded batches."""
    cloner = Cloner(net, meta, 0.0, 0.0)
    stream = shards.batches(config.batch_size, 1, views=meta.views, window_mb=config.window_mb)
    right = np.zeros(len(meta.head_sizes))
    count = np.zeros(len(meta.head_sizes))
    loss: list[float] = []
    for _ in range(batches):
        rows = to_rows(next(stream), meta.views, config.gamma)
        with torch.inference_mode():
            logits = net(torch.from_numpy(rows.inputs))[0].numpy()
        p, _, log_prob = cloner.statistics(logits, rows)
        loss.append(-float(log_prob[rows.alive].mean()))
        hits, used = _hits(p, rows, cloner)
        right += hits
        count += used
    found = dict(zip(meta.head_names, (right / np.maximum(count, 1)).tolist(), strict=True))
    return {"loss": float(np.mean(loss)), **{f"accuracy_{n}": v for n, v in found.items()}}


def _hits(
    p: NDArray[np.float32], rows: Rows, cloner: Cloner
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Right bins and used heads, per head."""
    layout = cloner.layout
    in_use = (rows.actions[:, layout.users == 1] != 0).any(1)
    hits, used = np.zeros(len(layout.sizes)), np.zeros(len(layout.sizes))
    first = 0
    for head, size in enumerate(layout.sizes.tolist()):
        counts = rows.alive & (in_use if layout.aim[head] else True)
        chosen = p[:, first : first + size].argmax(1)
        hits[head] = ((chosen == rows.actions[:, head]) & counts).sum()
        used[head] = counts.sum()
        first += size
    return hits, used
