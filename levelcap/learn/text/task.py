"""Text training as a task of the one loop: lessons by number, one update, the hero's standing."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from levelcap.kit.config import load_settings
from levelcap.learn.engine.state import State
from levelcap.learn.text.exams import Examiner
from levelcap.learn.text.lessons import Lessons
from levelcap.learn.text.update import Batch, backward, halves
from levelcap.nets.meta import Meta
from levelcap.nets.text.qwen3 import Qwen3Net


@dataclass(frozen=True)
class LessonBatch:
    """The lessons of one update, in two halves, and what they were made from."""

    first: int
    level: int
    halves: tuple[Batch, ...]


class TextTask:
    """See `levelcap.learn.engine.task.Task`."""

    minibatches = 1

    def __init__(
        self, net: Qwen3Net, meta: Meta, lessons: Lessons, examiner: Examiner | None
    ) -> None:
        """examiner None: school, which has no levels."""
        self.net, self._meta, self.lessons, self.examiner = net, meta, lessons, examiner
        self._next = 0
        self.helper: Executor | None = None
        if load_settings().cores > 1:
            self.helper = ThreadPoolExecutor(1, "half", torch.set_num_threads, (1,))

    def gather(self, version: int) -> LessonBatch:
        """The next lessons, at the level the hero has now."""
        batch = self._make(self._next, self._level())
        self._next += self.lessons.config.batch
        return batch

    def _level(self) -> int:
        return 1 if self.examiner is None else self.examiner.level

    def _make(self, first: int, level: int) -> LessonBatch:
        both = halves(self.lessons.batch(first, level), self.lessons.tokens.pad)
        return LessonBatch(first, level, both)

    def backward(self, batch: LessonBatch, minibatch: int, update: int) -> dict[str, float]:
        """Gradients of the batch, which is one minibatch."""
        logged = backward(self.net, batch.halves, self.helper)
        # Lessons of the level before say nothing of this one.
        if self.examiner is not None and batch.level == self.examiner.level:
            self.examiner.heard(logged["exact"])
        return logged

    def sync(self, steps: int, done: float) -> None:
        """Nobody acts."""

    def steps(self, batch: LessonBatch) -> int:
        """Tokens read."""
        return sum(half.num_tokens for half in batch.halves)

    def is_warm(self, update: int) -> bool:
        """From the third batch on."""
        return update >= 2

    def meta(self, steps: int, metrics: dict[str, float]) -> Meta:
        """The net's description; the level is among its metrics."""
        return replace(self._meta, steps=steps, metrics=metrics)

    def published(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """As they are."""
        return weights

    def summary(self) -> dict[str, float]:
        """Level, last exam, and how long exams took so far."""
        found = {"too_long": float(self.lessons.too_long)}
        if (examiner := self.examiner) is not None:
            found.update(
                level=examiner.level,
                xp=examiner.progress.xp,
                exams=examiner.exams,
                exam_seconds=examiner.seconds,
                running_exact=examiner.running,
            )
            if examiner.progress.window:
                found["accuracy"] = examiner.progress.window[-1].accuracy
        return found

    def state(self, batch: LessonBatch) -> State:
        """Numbers of the batch that waits, and the hero's standing."""
        state = State({}, {"first": batch.first, "level": batch.level, "next": self._next})
        if self.examiner is not None:
            state.put("examiner", self.examiner.state())
        return state

    def restore(self, state: State) -> LessonBatch:
        """Make the batch that waited again."""
        if self.examiner is not None:
            self.examiner.restore(state.get("examiner"))
        self._next = int(state.values["next"])
        return self._make(int(state.values["first"]), int(state.values["level"]))
