"""What a trainer brings to the loop: data, one update, its own state. The loop brings the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor, nn

from levelcap.learn.engine.state import State
from levelcap.nets.meta import Meta


class Task(Protocol):
    """A trainer. `gather` may run in another thread while `backward` does; nothing else may.

    net: the weights that learn. minibatches: updates a batch.
    helper: a core that nobody else uses during an update, for half of the optimizer's matrices.
    """

    net: nn.Module
    minibatches: int
    helper: Executor | None

    def gather(self, version: int) -> Any:
        """The next batch; version: number of updates its weights have seen."""

    def backward(self, batch: Any, minibatch: int, update: int) -> dict[str, float]:
        """Add the gradients of one minibatch; what to log."""

    def sync(self, steps: int, done: float) -> None:
        """Both halves stand still: hand new weights to whoever acts. done: share of the run."""

    def steps(self, batch: Any) -> int:
        """Trained steps in a batch."""

    def is_warm(self, update: int) -> bool:
        """Is the run past its preparation, so that its speed can be measured?"""

    def meta(self, steps: int, metrics: dict[str, float]) -> Meta:
        """The description of a snapshot taken now."""

    def published(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """What a snapshot holds, of the slow weights."""

    def summary(self) -> dict[str, float]:
        """Numbers to show beside the losses, e.g. running win rates."""

    def state(self, batch: Any) -> State:
        """Everything of the task that a resumed run needs, the batch that waits included."""

    def restore(self, state: State) -> Any:
        """Take it back; returns the batch that waits."""


@dataclass
class Progress:
    """Where a run stands: counters of the loop, all of them in the checkpoint."""

    update: int = 0
    steps: int = 0
    skipped: int = 0
    rolled_back: int = 0
    next_snapshot_s: float = 0.0
    score: float | None = None  # of the last evaluation


@dataclass(frozen=True)
class Event:
    """Something that happened in a run, for events.jsonl; the loop adds the time."""

    kind: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Hooks:
    """What the caller wants to hear; all optional."""

    on_publish: Callable[[Any], None] | None = None
    """called with the folder of every snapshot"""
    on_report: Callable[[dict[str, float]], None] | None = None
    """called once an iteration with the numbers of the progress bar"""
    evaluate: Callable[[Any, Meta], float] | None = None
    """(weights, meta) -> Elo or another score, for a run with a goal; its time does not count"""
    evaluate_s: float = 60.0
    """training seconds between two evaluations"""
    examine: Callable[[dict[str, Any], int], Sequence[Event]] | None = None
    """(slow weights, update) -> events for the run's folder; after every batch, while both halves
    stand still, so that what it changes is the same whatever the timing; its time counts"""
    sitting: Callable[[Progress, float, float], bool] | None = None
    """(progress, training seconds, core-seconds) -> enough for this call; the run itself, and so
    its schedule, is not over"""
