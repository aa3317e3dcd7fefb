"""Job type -> the function that carries it out. The torch side; run by workers.

A handler gets ids, finds the folders, does the work, and returns plain values; what is written
into the database because of them is in `effects.py`. Training handlers can be interrupted, killed
and run again: they continue.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from levelcap.campaign.story.runs import run_folder, shard_folder
from levelcap.campaign.wheel.control import SKIP
from levelcap.campaign.work import teaching
from levelcap.campaign.work.recipes import pairs
from levelcap.jobs.job import Interrupted, Job, JobFailed
from levelcap.jobs.worker import Context, Handler
from levelcap.kit.errors import Corrupt, NoSpace, UserError
from levelcap.kit.paths import without_paths
from levelcap.kit.publish import MANIFEST, sweep
from levelcap.learn.engine.loop import Outcome
from levelcap.learn.engine.overrides import apply
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.run import Request as ImitationRequest
from levelcap.learn.imitation.run import imitate
from levelcap.learn.rl.config import for_world
from levelcap.learn.rl.run import Request as RlRequest
from levelcap.learn.rl.run import reinforce
from levelcap.nets.checkpoint import read_meta
from levelcap.play.record import record
from levelcap.trials.evaluate import evaluate
from levelcap.trials.exam import examine

Locate = Callable[[str], Path]
OnPublish = Callable[[str, Path], None]


class Workshop:
    """The handlers of one worker process.

    locate: id of a checkpoint or dataset -> its folder. on_publish: told (run id, folder) of every
    snapshot as soon as it is on disk; None when the worker does not own the database.
    """

    def __init__(self, locate: Locate, on_publish: OnPublish | None = None) -> None:
        self.locate, self.on_publish = locate, on_publish

    def handlers(self) -> dict[str, Handler]:
        """Everything this process can do."""
        return {
            "record": guarded(self.record), "imitate": guarded(self.imitate),
            "reinforce": guarded(self.reinforce), "study": guarded(self.study),
            "sparring": guarded(self.sparring), "eval": guarded(self.evaluate),
            "unpack": guarded(self.unpack), "retention": guarded(self.retention),
            "report": guarded(self.report), "health_check": guarded(self.health_check),
        }  # fmt: skip

    def record(self, job: Job, context: Context) -> dict[str, Any]:
        """Play games into a shard; one that was finished before is not played again."""
        given = job.payload
        place = shard_folder(given["shard"])
        place.parent.mkdir(parents=True, exist_ok=True)
        sweep(place.parent)
        if not (place / MANIFEST).exists():
            names = list(dict.fromkeys((given["teacher"], given["partner"])))
            record(
                names, given["world"], given["games"], given["seed"], place,
                keep=[given["teacher"]],
                on_progress=lambda done, total: context.progress(done / total, f"{done} games"),
            )  # fmt: skip
        from levelcap.lake.read import open_shards

        shards = open_shards((place,), world=given["world"])
        return {"shard": given["shard"], "steps": shards.num_steps, "games": given["games"]}

    def imitate(self, job: Job, context: Context) -> dict[str, Any]:
        """Clone recorded play."""
        given = job.payload
        place = run_folder(given["run"])
        request = ImitationRequest(
            given["world"], tuple(shard_folder(s) for s in given["shards"]), place,
            tuple(given["policies"]), given["size"], given["seed"],
        )  # fmt: skip
        done = imitate(
            request, apply(ImitationConfig(), pairs(given["knobs"])),
            Stops(minutes=given["minutes"]), self._hooks(job, context),
        )  # fmt: skip
        return self._trained(job, place, done.outcome) | {"validation": done.validation}

    def reinforce(self, job: Job, context: Context) -> dict[str, Any]:
        """Continue a run of reinforcement until it has had the minutes asked for."""
        given = job.payload
        place = run_folder(given["run"])
        start = None if given["start"] is None else self.locate(given["start"])
        request = RlRequest(given["world"], place, start, given["size"], given["seed"])
        config = apply(for_world(given["world"]), pairs(given["knobs"]))
        hooks = self._hooks(job, context)
        outcome = reinforce(request, config, Stops(minutes=given["minutes"]), hooks)
        return self._trained(job, place, outcome)

    def study(self, job: Job, context: Context) -> dict[str, Any]:
        """Continue a run of study until it has had the minutes asked for."""
        given, place = job.payload, run_folder(job.payload["run"])
        taught = teaching.study(
            given, place, self.locate, pairs(given["knobs"]), self._hooks(job, context)
        )
        values = {"skill": given["preset"] or given["skill"], "level": taught.level}
        return self._trained(job, place, taught.outcome) | values

    def sparring(self, job: Job, context: Context) -> dict[str, Any]:
        """Wrong answers become lessons."""
        return teaching.sparring(self.locate(job.payload["checkpoint"]), job.payload)

    def _hooks(self, job: Job, context: Context) -> Hooks:
        run = job.payload["run"]
        goal = job.payload["minutes"] * 60

        def report(values: dict[str, float]) -> None:
            if context.cancelled.is_set():
                (run_folder(run) / "stop").touch()
            loss = values.get("loss", values.get("value_loss", float("nan")))
            context.progress(
                min(1.0, values["seconds"] / goal),
                f"{values['steps_per_s']:,.0f} steps/s, loss {loss:.4f}",
            )

        publish = self.on_publish
        told = None if publish is None else (lambda folder: publish(run, folder))
        return Hooks(on_report=report, on_publish=told)

    def _trained(self, job: Job, place: Path, outcome: Outcome) -> dict[str, Any]:
        """The result of a training job, or its return to the queue when it was broken off."""
        skipped = (place / SKIP).exists()
        (place / SKIP).unlink(missing_ok=True)
        if outcome.reason in ("interrupted", "stop file") and not skipped:
            raise Interrupted(outcome.reason)
        names = [p.name for p in sorted((place / "snapshots").glob("step-*"))]
        return {
            "run": job.payload["run"], "snapshots": names[-3:], "reason": outcome.reason,
            "skipped": skipped, "seconds": round(outcome.seconds, 2),
            "core_seconds": round(outcome.core_seconds, 2), "steps": outcome.progress.steps,
            "updates": outcome.progress.update, "bad_updates": outcome.progress.skipped,
        }  # fmt: skip

    def evaluate(self, job: Job, context: Context) -> dict[str, Any]:
        """Judge a checkpoint."""
        given = job.payload
        place = self.locate(given["checkpoint"])
        if read_meta(place).text is not None:
            return examine(
                place, skill=given["skill_id"], preset=given["preset"], level=given["level"],
                seed=given["seed"], passives=given["passives"],
            )  # fmt: skip
        return evaluate(
            place, games=given["games"], seed=given["seed"],
            on_progress=lambda done, total, what: context.progress(done / total, what),
        )  # fmt: skip

    def unpack(self, job: Job, context: Context) -> dict[str, Any]:
        """Let an uploaded archive in, or say what is wrong with it; the upload goes either way."""
        from levelcap.campaign.kinds.heroes import find_hero
        from levelcap.campaign.realm import realm
        from levelcap.vault.archive import take_in, upload_file

        given, upload = job.payload, upload_file(job.payload["upload"])
        reads = find_hero(given["hero"]).kind == "text"
        try:
            with realm() as opened:
                place = take_in(opened.engine, upload, reads=reads)
        except UserError:
            upload.unlink(missing_ok=True)
            raise
        return {"imported": place.name, "hero": given["hero"], "upload": given["upload"]}

    def retention(self, job: Job, context: Context) -> dict[str, Any]:
        """Remove what need not stay, after a backup of the database."""
        from levelcap.campaign.realm import realm
        from levelcap.vault.backups import back_up
        from levelcap.vault.retention import carry_out, plan_retention

        with realm() as opened:
            plan = plan_retention(opened.engine, job.payload["keep"])
            if plan.remove:
                back_up(opened.engine, "retention")
            removed = carry_out(opened.engine, plan)
        return {"removed": removed, "size_bytes": plan.size_bytes}

    def report(self, job: Job, context: Context) -> dict[str, Any]:
        """Gains and costs as plain values."""
        from levelcap.campaign.realm import realm
        from levelcap.campaign.sheet.report import make_report

        with realm() as opened:
            return make_report(opened.engine, job.payload["report_type"])

    def health_check(self, job: Job, context: Context) -> dict[str, Any]:
        """One decision of one match: the world and this worker work."""
        from levelcap.play.matchup import play_games
        from levelcap.play.roster import find

        result = play_games(find("rookie"), find("idle"), "duel", 2)
        return {"games": result.games}


def guarded(handler: Handler) -> Handler:
    """Errors that are nobody's bug become error codes; a full disk gives the job back."""

    def run(job: Job, context: Context) -> dict[str, Any]:
        try:
            return handler(job, context)
        except NoSpace as error:
            raise Interrupted(str(error)) from error
        except Corrupt as error:
            raise JobFailed("resource_unavailable", without_paths(str(error))) from error
        except UserError as error:
            raise JobFailed("validation_error", without_paths(str(error))) from error

    return run
