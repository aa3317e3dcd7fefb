"""`export`: a checkpoint as a bundle under `exports/`, with its report as the job's result."""

from __future__ import annotations

from typing import ClassVar, Literal

from levelcap.campaign.story import quests
from levelcap.campaign.story.events import say
from levelcap.campaign.work.base import Bench, Desk, Limits, Recipe, Result, Work
from levelcap.campaign.work.fields import Name
from levelcap.jobs.job import Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection
from levelcap.kit.paths import folder
from levelcap.vault.ask import resolve

Target = Literal["onnx", "torchserve", "tensorrt", "mobile"]


class ExportWork(Work):
    """Trace a checkpoint, compare, publish."""

    type: ClassVar[str] = "export"
    limits: ClassVar[Limits] = Limits(1800, 2, 10, 1, "reject", ("eval_worker",))

    checkpoint: Name
    to: Target = "onnx"

    def perform(self, bench: Bench) -> Result:
        """Export it; what a try before published is kept."""
        from levelcap.export.bundle import REPORT, bundle_name
        from levelcap.export.exporter import ModelExporter
        from levelcap.kit.files import read_json

        name = bundle_name(self.checkpoint, self.to)
        place = folder("exports") / name
        if not place.is_dir():
            bench.context.progress(0.1, "traces the net and compares decisions")
            ModelExporter(bench.locate(self.checkpoint)).export(self.to, place)
        return {"bundle": name, **read_json(place / REPORT)}

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """Say where it is."""
        quests.end(connection, job.id, "done", result)
        same = result["parity"]["action_agreement"]
        name = result["bundle"]
        said = f"{self.checkpoint} is exported as {name}: {same:.2%} of decisions alike"
        data = {"checkpoint": self.checkpoint, "bundle": name}
        say(connection, "vault.exported", said, severity="success", data=data)


class ExportRecipe(Recipe):
    """Export a checkpoint."""

    quest: Literal["export"] = "export"
    checkpoint: Name = "champion"
    to: Target = "onnx"

    def describe(self) -> str:
        """The title."""
        return f"Export {self.checkpoint} to {self.to}"

    def order(self, desk: Desk) -> ExportWork:
        """The work."""
        entry = resolve(desk.store.engine, self.checkpoint, desk.hero)
        return ExportWork(checkpoint=entry.id, to=self.to)
