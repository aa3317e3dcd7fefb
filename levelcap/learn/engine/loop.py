"""The one training loop. Everything that happens in an iteration is a line in `_iterate`.

Gathering and learning overlap in two threads and meet after every iteration, so batch k + 1 is
always played with the weights after update k - 1, whatever the timing: a run that was killed and
continued computes the same bits as one that was not. Run the same command again to go on.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from levelcap.kit.errors import StateError, refuse
from levelcap.kit.publish import sweep
from levelcap.learn.engine.config import EngineConfig
from levelcap.learn.engine.folder import RunFolder
from levelcap.learn.engine.guard import Guard
from levelcap.learn.engine.memory import keep_freed_memory
from levelcap.learn.engine.optim import make_optimizer
from levelcap.learn.engine.schedule import Ema, lr_factor
from levelcap.learn.engine.state import State, keep_newest, load_newest, save_state
from levelcap.learn.engine.stops import Budget, Clock, Stops, signals
from levelcap.learn.engine.task import Hooks, Progress, Task
from levelcap.nets.checkpoint import save_snapshot

PAUSE_LOOK_S = 0.2


@dataclass(frozen=True)
class Outcome:
    """How a run ended: the last snapshot, why it stopped, and what it cost."""

    snapshot: Path
    reason: str
    progress: Progress
    seconds: float
    core_seconds: float
    metrics: dict[str, float]

    @property
    def interrupted(self) -> bool:
        """Did somebody end it before its time? Then it can go on."""
        return self.reason in ("interrupted", "stop file")


class Training:
    """One run of one task in one folder."""

    def __init__(
        self, task: Task, config: EngineConfig, stops: Stops, folder: RunFolder, hooks: Hooks
    ) -> None:
        self.task, self.config, self.stops, self.folder, self.hooks = (
            task,
            config,
            stops,
            folder,
            hooks,
        )
        self.optimizer = make_optimizer(
            task.net,
            config.optimizer,
            lr=config.lr,
            hidden_lr=config.hidden_lr,
            weight_decay=config.weight_decay,
            betas=(config.beta1, config.beta2),
            eps=config.eps,
        )
        self.optimizer.helper = task.helper
        # What is judged, snapshotted and served; actors use the raw weights.
        self.ema = Ema(task.net, config.ema)
        self.budget, self.guard, self.clock = Budget(stops), Guard(config.bad_updates), Clock()
        self.progress = Progress()
        self.metrics: dict[str, float] = {}
        # Torch counts threads for each thread of ours apart (levelcap/__init__.py says why one).
        self._thread = ThreadPoolExecutor(1, "gather", torch.set_num_threads, (1,))
        self._batch: Any = None
        self._saved_at = time.monotonic()
        self._next_evaluation_s = 0.0

    def run(self) -> Outcome:
        """Train until a stop is reached; leaves a checkpoint and a snapshot."""
        for place in (self.folder.checkpoints, self.folder.snapshots):
            place.mkdir(parents=True, exist_ok=True)
            sweep(place)
        found = load_newest(self.folder.checkpoints)
        if found is not None:
            self._restore(found[0])
            self.folder.event("resumed", update=self.progress.update, checkpoint=found[1].name)
        with signals() as asked:
            self.clock.start()
            # A new run: the first batch is played with the weights it starts from.
            if self._batch is None:
                self._batch = self.task.gather(0)
            while (reason := self._over(asked)) is None:
                self._wait_while_paused(asked)
                self._iterate()
            self.clock.stop()
            self._thread.shutdown()
            self.folder.event("stopped", reason=reason, **asdict(self.progress))
            if self.folder.asked_to_stop():
                self.folder.clear_stop()
            self._save()
            snapshot = self._publish()
        return Outcome(
            snapshot,
            reason,
            self.progress,
            self.clock.seconds,
            self.clock.core_seconds,
            self.metrics,
        )

    def _iterate(self) -> None:
        """One batch: learn from it while the next one is gathered."""
        began, progress, batch = time.monotonic(), self.progress, self._batch
        # From here until `_finish` both halves work; the acting weights do not change meanwhile.
        ahead = self._thread.submit(self.task.gather, progress.update)
        logged: list[dict[str, float]] = []
        for minibatch in range(self.task.minibatches):
            factor = self._set_rate()
            # None, not zeros: the optimizer skips what got no gradient (the torso while the value
            # warms up).
            self.optimizer.zero_grad(set_to_none=True)
            values = self.task.backward(batch, minibatch, progress.update)
            # The norm before clipping: the guard and the log want the true one.
            norm = float(clip_grad_norm_(self.task.net.parameters(), self.config.clip_norm))
            if self.guard.passes(values, norm):
                self.optimizer.step()
                self.ema.update(self.task.net, self.budget.total)
            logged.append({**values, "grad_norm": norm, "lr": self.config.lr * factor})
            progress.update += 1
        progress.skipped = self.guard.skipped
        progress.steps += self.task.steps(batch)
        self._batch = self._finish(ahead)
        # Not one more number of these weights may reach the actors.
        if self.guard.lost:
            self._roll_back()
            return
        # Both halves stand still: the only place where weights change hands.
        self.task.sync(progress.steps, progress.update / (self.budget.total or float("inf")))
        self._examine()
        self.budget.observe(
            progress.update, progress.steps, self.clock.now(), self.task.is_warm(progress.update)
        )
        self._report(logged, batch, time.monotonic() - began)
        if self.clock.now() >= progress.next_snapshot_s:
            progress.next_snapshot_s = self.clock.now() + self.config.snapshot_s
            if progress.update > self.task.minibatches:  # not the weights the run began with
                self._publish()
        # Last, so that what a checkpoint says has been reported and published before.
        if time.monotonic() - self._saved_at >= self.config.checkpoint_s:
            self._save()
        self._evaluate()

    def _finish(self, ahead: Future[Any]) -> Any:
        """The other half's batch; the two halves stand still together here."""
        return ahead.result()

    def _set_rate(self) -> float:
        config = self.config
        factor = lr_factor(
            self.progress.update,
            self.budget.total,
            name=config.schedule,
            warmup=config.warmup_updates,
            final_share=config.final_lr_share,
        )
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak_lr"] * factor
        return factor

    def _over(self, asked: Any) -> str | None:
        """Why the run ends now, or None."""
        if asked.is_set():
            return "interrupted"
        if self.folder.asked_to_stop():
            return "stop file"
        progress = self.progress
        spent = self.clock.now(), self.clock.core_now()
        if self.hooks.sitting is not None and self.hooks.sitting(progress, *spent):
            return "enough for now"
        return self.stops.reached(progress.update, progress.steps, self.clock.now(), progress.score)

    def _wait_while_paused(self, asked: Any) -> None:
        if not self.folder.paused():
            return
        self.clock.stop()
        self.folder.event("paused", update=self.progress.update)
        self._save()
        while self.folder.paused() and not asked.is_set() and not self.folder.asked_to_stop():
            time.sleep(PAUSE_LOOK_S)
        self.folder.event("unpaused", update=self.progress.update)
        self.clock.start()

    def _report(self, logged: list[dict[str, float]], batch: Any, took_s: float) -> None:
        mean = {name: float(np.mean([row[name] for row in logged])) for name in logged[0]}
        steps = self.task.steps(batch)
        # The lag is promised to be constant; a changed one shows as lag_min < lag_max.
        if "lag" in mean:
            lags = [row["lag"] for row in logged]
            mean.update(lag_min=min(lags), lag_max=max(lags))
        mean.update(
            steps=self.progress.steps,
            updates=self.progress.update,
            skipped=self.guard.skipped,
            seconds=self.clock.now(),
            core_seconds=self.clock.core_now(),
            steps_per_s=steps / took_s,
            total_updates=self.budget.total or 0,
            **self.task.summary(),
        )
        self.metrics = mean
        self.folder.metrics.write(self.progress.update, mean)
        if self.hooks.on_report:
            self.hooks.on_report(mean)

    def _evaluate(self) -> None:
        if self.hooks.evaluate is None or self.clock.now() < self._next_evaluation_s:
            return
        # Judging is not training: its time is not the run's.
        self.clock.stop()
        score = self.hooks.evaluate(self._weights(), self._meta())
        self.progress.score = score
        self.folder.event("evaluated", score=round(score, 4), update=self.progress.update)
        self.clock.start()
        self._next_evaluation_s = self.clock.now() + self.hooks.evaluate_s

    def _examine(self) -> None:
        if self.hooks.examine is None:
            return
        for event in self.hooks.examine(self._weights(), self.progress.update):
            self.folder.event(
                event.kind,
                **event.values,
                update=self.progress.update,
                seconds=round(self.clock.now(), 3),
                core_seconds=round(self.clock.core_now(), 3),
            )

    def _meta(self) -> Any:
        kept = {k: round(v, 6) for k, v in self.metrics.items() if np.isfinite(v)}
        kept.update(seconds=self.clock.now(), core_seconds=self.clock.core_now())
        return self.task.meta(self.progress.steps, kept)

    def _weights(self) -> dict[str, Tensor]:
        """What is judged and kept."""
        return self.task.published(self.ema.weights)

    def _publish(self) -> Path:
        """A snapshot of the slow weights; the same step twice is the same snapshot."""
        # Named by steps, so that the same moment twice is the same folder.
        place = self.folder.snapshots / f"step-{self.progress.steps:012d}"
        if not place.exists():
            save_snapshot(place, self._weights(), self._meta(), "engine")
            self.folder.event("snapshot", name=place.name, update=self.progress.update)
            if self.hooks.on_publish:
                self.hooks.on_publish(place)
        return place

    def _save(self) -> None:
        """A checkpoint of everything; nothing is running now."""
        state = State()
        state.put(
            "net", State({n: t.detach().numpy() for n, t in self.task.net.state_dict().items()})
        )
        state.put(
            "ema",
            State({n: t.numpy() for n, t in self.ema.weights.items()}, {"count": self.ema.count}),
        )
        state.put("optimizer", _optimizer_state(self.optimizer))
        # The batch that waits is saved too: it was played with weights that are gone.
        state.put("task", self.task.state(self._batch))
        state.values["progress"] = asdict(self.progress)
        state.values["loop"] = {
            "seconds": self.clock.now(),
            "core_seconds": self.clock.core_now(),
            "total": self.budget.total,
            "stops": asdict(self.stops),
        }
        save_state(self.folder.checkpoints, self.progress.update, state)
        # Two: the newest may be the one a power cut has torn.
        keep_newest(self.folder.checkpoints, self.config.keep_checkpoints)
        self._saved_at = time.monotonic()

    def _restore(self, state: State) -> None:
        net, ema = state.get("net"), state.get("ema")
        self.task.net.load_state_dict({n: torch.from_numpy(a) for n, a in net.arrays.items()})
        self.ema.load({n: torch.from_numpy(a) for n, a in ema.arrays.items()}, ema.values["count"])
        _load_optimizer(self.optimizer, state.get("optimizer"))
        self._batch = self.task.restore(state.get("task"))
        self.progress = Progress(**state.values["progress"])
        loop = state.values["loop"]
        self.clock.seconds, self.clock.core_seconds = loop["seconds"], loop["core_seconds"]
        # A run that is to end elsewhere than before gets a new length.
        same = loop["stops"] == asdict(self.stops)
        self.budget = Budget(self.stops, loop["total"] if same else None)
        # Counts of a run go on over restarts; bad updates in a row do not.
        self.guard.skipped = self.progress.skipped

    def _roll_back(self) -> None:
        """The weights are not trusted any more: take the last good checkpoint back."""
        found = load_newest(self.folder.checkpoints)
        skipped, rolled_back = self.guard.skipped, self.progress.rolled_back + 1
        if found is None or rolled_back > self.config.bad_updates:
            what = f"{self.guard.in_a_row} updates in a row were not finite"
            remedy = "Lower lr, or look at the data; metrics.jsonl has the losses"
            raise StateError(refuse(what, self.progress.update, remedy))
        seconds, core_seconds = self.clock.now(), self.clock.core_now()
        self._restore(found[0])
        self.clock.seconds, self.clock.core_seconds = seconds, core_seconds
        self.clock.start()
        self.progress.rolled_back, self.guard.in_a_row = rolled_back, 0
        self.guard.skipped = self.progress.skipped = skipped
        self.folder.event("rolled back", update=self.progress.update, checkpoint=found[1].name)


def _optimizer_state(optimizer: torch.optim.Optimizer) -> State:
    arrays = {
        f"{index}/{name}": tensor.numpy()
        for index, entry in optimizer.state_dict()["state"].items()
        for name, tensor in entry.items()
    }
    return State(arrays)


def _load_optimizer(optimizer: torch.optim.Optimizer, state: State) -> None:
    document = optimizer.state_dict()
    entries: dict[int, dict[str, torch.Tensor]] = {}
    for key, array in state.arrays.items():
        index, name = key.split("/", 1)
        entries.setdefault(int(index), {})[name] = torch.from_numpy(np.array(array))
    document["state"] = entries
    optimizer.load_state_dict(document)


def train(
    task: Task, config: EngineConfig, stops: Stops, folder: RunFolder, hooks: Hooks | None = None
) -> Outcome:
    """Run `task` in `folder` (which is open and claimed) until one of `stops`."""
    keep_freed_memory()
    return Training(task, config, stops, folder, hooks or Hooks()).run()
