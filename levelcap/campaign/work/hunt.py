"""`hunt`: what a fresh exploiter finds against a checkpoint; the bound is kept beside it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.story import quests
from levelcap.campaign.story.events import say
from levelcap.campaign.story.runs import run_folder
from levelcap.campaign.work.base import Bench, Desk, Limits, Recipe, Result, Work
from levelcap.campaign.work.fields import Knobs, Name, Ruleset, Seed, pairs
from levelcap.campaign.work.snapshots import meta_of
from levelcap.jobs.job import Interrupted, Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection
from levelcap.learn.engine.overrides import apply
from levelcap.learn.rl.config import for_world
from levelcap.vault.ask import resolve
from levelcap.vault.evals import HUNT, store_eval

CoreMinutes = Annotated[float, Field(gt=0, le=10_000)]


class HuntWork(Work):
    """Train an exploiter of a checkpoint and measure its best snapshot."""

    type: ClassVar[str] = "hunt"
    limits: ClassVar[Limits] = Limits(86_400, 50, 10, 1, "reject", ("trainer",))
    trains: ClassVar[bool] = True

    checkpoint: Name
    run: Name
    world: Ruleset = "duel"
    core_minutes: CoreMinutes = 20.0
    seed: Seed = 0
    knobs: Knobs = {}

    def perform(self, bench: Bench) -> Result:
        """Hunt; a hunt that was broken off goes on."""
        from dataclasses import asdict

        from levelcap.learn.engine.task import Hooks
        from levelcap.learn.league.hunt import Hunt, hunt

        champion, place = bench.locate(self.checkpoint), run_folder(self.run)

        def report(values: dict[str, float]) -> None:
            if bench.context.cancelled.is_set():
                (place / "stop").touch()
            spent = values["core_seconds"] / (60 * self.core_minutes)
            score = values["league_score"]
            bench.context.progress(min(1.0, spent), f"the exploiter wins {score:.0%}")

        config = apply(for_world(self.world, meta_of(champion).architecture), pairs(self.knobs))
        asked = Hunt(self.world, champion, place, core_minutes=self.core_minutes, seed=self.seed)
        found = hunt(asked, config, Hooks(on_report=report))
        if found is None:
            raise Interrupted("stop file")
        return {"run": self.run, **asdict(found), "words": found.sentence()}

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """Keep the bound beside the checkpoint's other evaluations."""
        store_eval(connection, self.checkpoint, HUNT, job.id, self.seed, result)
        quests.end(connection, job.id, "done", result)
        said = f"{self.checkpoint}: {result['words']}"
        data = {"checkpoint": self.checkpoint, "bound": result["bound"]}
        say(connection, "eval.completed", said, severity="success", data=data)


class HuntRecipe(Recipe):
    """Look for a checkpoint's holes with an exploiter of a fixed price."""

    hero_kind: ClassVar[str | None] = "arena"

    quest: Literal["hunt"] = "hunt"
    world: Ruleset = "duel"
    checkpoint: Name = "champion"
    core_minutes: CoreMinutes = 20.0
    knobs: Knobs = Field(default={}, alias="set")

    def describe(self) -> str:
        """The title."""
        return f"Hunt {self.checkpoint} for {self.core_minutes:g} core-minutes"

    def check(self) -> None:
        """The overrides exist and are in range."""
        apply(for_world(self.world), pairs(self.knobs))

    def order(self, desk: Desk) -> HuntWork:
        """The work."""
        entry = resolve(desk.store.engine, self.checkpoint, desk.hero)
        named = {"checkpoint": entry.id, "run": f"hunt-{desk.number}"}
        return HuntWork(**self.shared(HuntWork) | named)
