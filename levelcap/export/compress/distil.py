"""Distillation: a pupil does as its teacher would, in matches that the pupil itself plays.

loss = sum of heads KL(teacher || pupil) + value_coef / 2 (V - V_teacher)^2

A head that aims counts as often as the teacher would press what needs an aim: elsewhere its bins
mean nothing, and a small net has nothing to spare for them.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from levelcap.export.compress.class_room import SEATS, ClassRoom, Lesson
from levelcap.kit.seeds import chain
from levelcap.learn.engine.config import EngineConfig
from levelcap.learn.engine.folder import RunFolder
from levelcap.learn.engine.loop import Outcome, train
from levelcap.learn.engine.state import State
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.nets.family import copy_net
from levelcap.nets.meta import Meta
from levelcap.nets.net import Net
from levelcap.play.load import NetPolicy

NEVER = -1e9  # a forbidden bin's logit: exp gives 0, and 0 times it is 0


@dataclass(frozen=True)
class DistilConfig:
    """How a pupil is taught."""

    seats: int = SEATS
    decisions: int = 8
    """of a lesson: rows = seats x decisions"""
    minibatches: int = 4
    """of a lesson"""
    kept: int = 32
    """older lessons that are repeated: one beside every new one"""
    value_coef: float = 0.1
    engine: EngineConfig = EngineConfig(lr=2e-3, ema=0.995, checkpoint_s=15.0, snapshot_s=3600.0)


def divergence(logits: Tensor, lesson: Lesson, meta: Meta) -> Tensor:
    """KL(teacher || pupil) [N], summed over the heads that are used."""
    sizes = list(meta.head_sizes)
    mine = logits.masked_fill(~lesson.mask, NEVER).split(sizes, -1)
    theirs = lesson.logits.masked_fill(~lesson.mask, NEVER).split(sizes, -1)
    chances = [part.softmax(-1) for part in theirs]
    idle = torch.ones(len(logits))
    for head in meta.aim_users:
        idle = idle * chances[head][:, 0]  # bin 0: not pressed
    total = torch.zeros(len(logits))
    for head, p in enumerate(chances):
        gap = theirs[head].log_softmax(-1) - mine[head].log_softmax(-1)
        weight = 1 - idle if head in meta.aim_heads else 1.0
        total = total + (p * gap).sum(-1) * weight
    return total


class DistilTask:
    """See `levelcap.learn.engine.task.Task`. A batch is a new lesson and an old one."""

    helper: Executor | None = None

    def __init__(
        self, net: Net, meta: Meta, teacher: NetPolicy, config: DistilConfig, seed: int
    ) -> None:
        self.net, self.config = net, config
        self.minibatches = 2 * config.minibatches
        self._meta, self._teacher, self._seed = meta, teacher, seed
        # A copy acts while the net learns.
        self._pupil = NetPolicy(copy_net(net, meta), meta, "pupil")
        self._lessons: deque[Lesson] = deque(maxlen=config.kept)
        self._count = 0
        self._room: ClassRoom | None = None

    def gather(self, version: int) -> list[Lesson]:
        """The next lesson, and one that was had before."""
        if self._room is None:
            # A run that goes on begins new matches: what it has learned is in the weights.
            own = chain(self._seed, self._count)
            self._room = ClassRoom(self._teacher, self._pupil, own, self.config.seats)
        fresh = self._room.lesson(self.config.decisions)
        self._count += 1
        self._lessons.append(fresh)
        chosen = chain(self._seed, self._count, 3) % len(self._lessons)
        return [fresh, self._lessons[chosen]]

    def backward(self, batch: list[Lesson], minibatch: int, update: int) -> dict[str, float]:
        """Gradients of every n-th row of one of the lessons."""
        which, first = divmod(minibatch, self.config.minibatches)
        lesson = batch[which]
        rows = slice(first, None, self.config.minibatches)
        part = Lesson(*(getattr(lesson, name)[rows] for name in Lesson.__dataclass_fields__))
        logits, values = self.net(part.inputs)
        share = part.alive / part.alive.sum().clamp(min=1.0)
        kl = (divergence(logits, part, self._meta) * share).sum()
        gap = (values - part.values).square().mean() / 2
        (kl + self.config.value_coef * gap).backward()  # type: ignore[no-untyped-call]
        return {"loss": float(kl.detach()), "value_loss": float(gap.detach())}

    def sync(self, steps: int, done: float) -> None:
        """The acting copy gets the new weights."""
        self._pupil.net.load_state_dict(self.net.state_dict())

    def steps(self, batch: list[Lesson]) -> int:
        """New rows."""
        return len(batch[0].inputs)

    def is_warm(self, update: int) -> bool:
        """From the second lesson on."""
        return update >= self.minibatches

    def meta(self, steps: int, metrics: dict[str, float]) -> Meta:
        """The pupil's description."""
        return replace(self._meta, steps=steps, metrics=metrics)

    def published(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """As they are."""
        return weights

    def summary(self) -> dict[str, float]:
        """Nothing besides the losses."""
        return {}

    def state(self, batch: list[Lesson]) -> State:
        """How many lessons there were."""
        return State({}, {"count": self._count})

    def restore(self, state: State) -> list[Lesson]:
        """Go on with new matches, played by the weights that were taken back."""
        self._count, self._room = int(state.values["count"]), None
        self.sync(0, 0.0)
        return self.gather(0)


def distil(
    net: Net,
    meta: Meta,
    teacher: NetPolicy,
    out: Path,
    stops: Stops,
    *,
    config: DistilConfig,
    seed: int,
    hooks: Hooks | None = None,
) -> Outcome:
    """Teach a net in a run folder; the same call again continues where the last one ended.

    Raises:
        KeyboardInterrupt: somebody ended it; it can go on.
    """
    torch.set_num_threads(1)
    with RunFolder(out) as folder:
        folder.claim({"kind": "distil", "teacher": teacher.content_hash, "shape": meta.shape})
        outcome = train(
            DistilTask(net, meta, teacher, config, seed), config.engine, stops, folder, hooks
        )
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome
