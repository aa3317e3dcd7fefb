"""What a finished job writes, in the same transaction in which it becomes done. No torch.

Whoever owns the database runs these: the worker itself when it is local, the Keeper when the
result came over HTTP. `handlers.py` has a function for each name here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from levelcap.campaign.story import campaigns, quests, runs
from levelcap.campaign.story.events import say
from levelcap.campaign.story.skills import take_exams
from levelcap.campaign.story.strength import store_eval
from levelcap.campaign.work import lessons
from levelcap.campaign.work.snapshots import enter_snapshot, judge_passives
from levelcap.guild.drill import SKILL as SCHOOL
from levelcap.jobs.job import Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection
from levelcap.vault import archive
from levelcap.vault.assets import find, register
from levelcap.vault.ledger import amend, rate, row_of, write_beside
from levelcap.vault.probes import remember
from levelcap.vault.zones import load_zones

Effect = Callable[[Connection, Job, dict[str, Any]], None]


def effects_of(store: Store) -> dict[str, Effect]:
    """Job type -> effect, for this queue."""

    def record(connection: Connection, job: Job, result: dict[str, Any]) -> None:
        place = runs.shard_folder(result["shard"])
        asset = register(connection, "dataset", place, zone=load_zones()["hot"])
        quests.end(connection, job.id, "done", {**result, "asset": asset})
        say(connection, "data.recorded", f"{result['steps']:,} steps in {result['shard']}",
            severity="success", data={"asset": asset, "job": job.id})  # fmt: skip

    def train(connection: Connection, job: Job, result: dict[str, Any]) -> None:
        run = runs.run_folder(result["run"])
        for name in result["snapshots"]:
            enter_snapshot(connection, store, result["run"], run / "snapshots" / name)
        runs.finish(connection, result["run"], result)
        _note_learning(connection, store, result)
        status = "skipped" if result["skipped"] else "done"
        quests.end(connection, job.id, status, result)
        steps, seconds = result["steps"], max(result["seconds"], 1e-9)
        say(connection, "training.completed",
            f"{job.type} {status}: {steps:,} steps, {steps / seconds:,.0f} a second",
            severity="success", data={"run": result["run"], "job": job.id})  # fmt: skip

    def evaluate(connection: Connection, job: Job, result: dict[str, Any]) -> None:
        checkpoint = job.payload["checkpoint"]
        store_eval(connection, checkpoint, job.id, job.payload["seed"], result)
        remember(connection, find(connection, checkpoint).sha256, "evaluation")
        if "passives" in result:
            _examined(connection, job, result)
            return
        elo, low, high = result["elo"]
        rate(connection, checkpoint, (elo, low, high), result.get("bound", ""))
        amend(connection, checkpoint, accuracy=result["accuracy"])
        entry = row_of(connection, checkpoint)
        assert entry is not None  # an evaluation belongs to a row
        if entry.val_loss is None:  # imitation has measured its own
            amend(connection, checkpoint, val_loss=result["value_loss"])
        if entry.campaign is not None:
            campaigns.advance(connection, entry.campaign, entry.step,
                              {"elo": elo, "accuracy": result["accuracy"]})  # fmt: skip
        quests.end(connection, job.id, "done", {"elo": result["elo"], "text": result["text"]})
        say(connection, "eval.completed", f"{checkpoint}: Elo {result['text']}",
            severity="success", data={"checkpoint": checkpoint, "elo": elo, "low": low,
                                      "high": high})  # fmt: skip

    def sparring(connection: Connection, job: Job, result: dict[str, Any]) -> None:
        name = result["lessons"]
        asset = None if name is None else lessons.keep(connection, name)
        quests.end(connection, job.id, "done", {**result, "asset": asset})
        say(connection, "data.sparred",
            f"{result['wrong']} of {result['asked']} answers in {result['skill']} level "
            f"{result['level']} were wrong: {result['rows']} lessons", severity="success",
            data={"asset": asset, "job": job.id, "weak": result["weak"]})  # fmt: skip

    def unpack(connection: Connection, job: Job, result: dict[str, Any]) -> None:
        place = archive.imported(result["imported"])
        entry = archive.enter(connection, place, result["hero"])
        write_beside(place, entry)
        archive.upload_file(result["upload"]).unlink(missing_ok=True)
        say(connection, "vault.checkpoint_saved", f"imported {entry.id}",
            severity="success", data={"checkpoint": entry.id, "job": job.id})  # fmt: skip

    def retention(connection: Connection, job: Job, result: dict[str, Any]) -> None:
        say(connection, "vault.retention", f"{len(result['removed'])} checkpoints removed",
            data=result)  # fmt: skip

    def quiet(connection: Connection, job: Job, result: dict[str, Any]) -> None:
        """The result itself is all there is to keep."""

    return {
        "record": record, "imitate": train, "reinforce": train, "study": train,
        "sparring": sparring, "eval": evaluate,
        "unpack": unpack, "retention": retention, "report": quiet, "health_check": quiet,
    }  # fmt: skip


def _note_learning(connection: Connection, store: Store, result: dict[str, Any]) -> None:
    """What one kind of training knows of itself beyond its loss."""
    if result.get("validation"):
        _note_validation(connection, result)
    take_exams(connection, runs.get(connection, result["run"]))
    if result.get("skill") == SCHOOL:
        judge_passives(connection, store, result["run"])


def _examined(connection: Connection, job: Job, result: dict[str, Any]) -> None:
    """What the exam of a text hero's checkpoint says, into its row and its campaign."""
    checkpoint = job.payload["checkpoint"]
    entry = row_of(connection, checkpoint)
    assert entry is not None  # an evaluation belongs to a row
    own = result["skill"] == (entry.skill_name or result["skill"])
    if own and result["level"] == (entry.skill_level or result["level"]):
        # An exam in another skill or at another level is kept, but is not what the row tells.
        amend(connection, checkpoint, accuracy=result["accuracy"], val_loss=result["val_loss"],
              skill_name=result["skill"], skill_level=result["level"])  # fmt: skip
    if entry.campaign is not None and result["val_loss"] is not None:
        figures = {f"{result['skill']}_val_loss": result["val_loss"]}
        campaigns.advance(connection, entry.campaign, entry.step, figures)
    quests.end(connection, job.id, "done", {"text": result["text"]})
    say(connection, "eval.completed", f"{checkpoint}: {result['text']}", severity="success",
        data={"checkpoint": checkpoint, "accuracy": result["accuracy"]})  # fmt: skip


def _note_validation(connection: Connection, result: dict[str, Any]) -> None:
    """Imitation knows how well it predicts matches it has not seen."""
    query = "SELECT id FROM ledger WHERE run = :r ORDER BY seq DESC LIMIT 1"
    newest = connection.execute(query, {"r": result["run"]}).scalar()
    if newest is not None:
        amend(connection, newest, val_loss=result["validation"]["loss"])
