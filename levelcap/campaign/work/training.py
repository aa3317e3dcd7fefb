"""What kinds of work with a run folder share: the run's row, hooks, the result, and its effect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from levelcap.campaign.story import quests, runs
from levelcap.campaign.story.events import say
from levelcap.campaign.story.runs import SKIP, NewRun, run_folder
from levelcap.campaign.work.base import Bench, Result, Work
from levelcap.campaign.work.fields import Knobs, Minutes, Name, Seed, pairs
from levelcap.campaign.work.snapshots import enter_snapshot
from levelcap.jobs.job import Interrupted, Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection

if TYPE_CHECKING:
    from levelcap.learn.engine.loop import Outcome
    from levelcap.learn.engine.task import Hooks

NEWEST = 3  # snapshots entered with the result, too: the row of one may be missing


class Training(Work):
    """Train in a run folder until it has had `minutes` in all; the same work again continues."""

    trains: ClassVar[bool] = True

    run: Name
    minutes: Minutes = 1.5
    seed: Seed = 0
    knobs: Knobs = {}

    @property
    def run_id(self) -> str | None:
        """The run."""
        return self.run

    @property
    def place(self) -> Path:
        """The run's folder."""
        return run_folder(self.run)

    def new_run(self) -> NewRun:
        """What the run's row says of it."""
        raise NotImplementedError

    def begin(self, connection: Connection, campaign: str, step: int) -> None:
        """Enter the run."""
        runs.begin(connection, self.new_run(), campaign, step)

    def command(self, *words: str) -> str:
        """The command a person would type to do the same without a realm."""
        sets = [word for setting in pairs(self.knobs) for word in ("--set", setting)]
        return " ".join(["levelcap", *words, *sets, "--out", f"$LEVELCAP_HOME/runs/{self.run}"])

    def hooks(self, bench: Bench) -> Hooks:
        """What the training loop tells the worker: progress, and every snapshot."""
        from levelcap.learn.engine.task import Hooks

        goal_s, publish = self.minutes * 60, bench.on_publish

        def report(values: dict[str, float]) -> None:
            if bench.context.cancelled.is_set():
                (self.place / "stop").touch()
            loss = values.get("loss", values.get("value_loss", float("nan")))
            said = f"{values['steps_per_s']:,.0f} steps/s, loss {loss:.4f}"
            bench.context.progress(min(1.0, values["seconds"] / goal_s), said)

        told = None if publish is None else (lambda folder: publish(self.run, folder))
        return Hooks(on_report=report, on_publish=told)

    def outcome(self, outcome: Outcome) -> Result:
        """The result of a training job, or its return to the queue when it was broken off."""
        skip = self.place / SKIP
        skipped = skip.exists()
        skip.unlink(missing_ok=True)
        if outcome.interrupted and not skipped:
            raise Interrupted(outcome.reason)
        names = [p.name for p in sorted((self.place / "snapshots").glob("step-*"))]
        return {
            "run": self.run,
            "snapshots": names[-NEWEST:],
            "reason": outcome.reason,
            "skipped": skipped,
            "seconds": round(outcome.seconds, 2),
            "core_seconds": round(outcome.core_seconds, 2),
            "steps": outcome.progress.steps,
            "updates": outcome.progress.update,
            "bad_updates": outcome.progress.skipped,
        }

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """Rows of its snapshots, what it has cost, what it has learned."""
        for name in result["snapshots"]:
            enter_snapshot(connection, store, self.run, self.place / "snapshots" / name)
        runs.finish(connection, self.run, result)
        self.note_learning(connection, store, result)
        status = "skipped" if result["skipped"] else "done"
        quests.end(connection, job.id, status, result)
        steps, seconds = result["steps"], max(result["seconds"], 1e-9)
        said = f"{job.type} {status}: {steps:,} steps, {steps / seconds:,.0f} a second"
        data = {"run": self.run, "job": job.id}
        if bad := result["bad_updates"]:
            skipped = f"{bad} updates of {self.run} were not finite and left out"
            say(connection, "training.diverged", skipped, severity="warning", data=data)
        say(connection, "training.completed", said, severity="success", data=data)

    def note_learning(self, connection: Connection, store: Store, result: Result) -> None:
        """What one kind of training knows of itself beyond its loss."""
