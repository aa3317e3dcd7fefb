"""`spar`: let a text hero answer fresh problems; its wrong answers become lessons."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.story.events import say
from levelcap.campaign.story.runs import lesson_folder
from levelcap.campaign.story.skills import level_of, track
from levelcap.campaign.work.base import Bench, Desk, Limits, Recipe, Result, Work
from levelcap.campaign.work.fields import Level, Name, Priority, Seed
from levelcap.campaign.work.lessons import checkpoint_of, keep, publish_lessons
from levelcap.jobs.job import Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, reading
from levelcap.kit.publish import MANIFEST, sweep

Count = Annotated[int, Field(ge=4, le=5000)]


class Spar(Work):
    """Answer fresh problems; wrong answers become lessons of this name."""

    type: ClassVar[str] = "sparring"
    limits: ClassVar[Limits] = Limits(1800, 1, 10, 1, "reject", ("trainer", "data_forge"))

    lessons: Name
    skill_id: Name
    checkpoint: Name
    preset: Name | None = None
    level: Level = 1
    count: Count = 400
    seed: Seed = 0

    def perform(self, bench: Bench) -> Result:
        """Spar and publish the lessons; nothing is published when every answer was right."""
        from levelcap.guild.engine import get_engine
        from levelcap.learn.text.spar import spar
        from levelcap.play.answers import load_text_hero

        target = lesson_folder(self.lessons)
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target.parent)
        hero = load_text_hero(bench.locate(self.checkpoint))
        found = spar(
            get_engine(),
            hero,
            self.skill_id,
            self.level,
            self.count,
            seed=self.seed,
            preset=self.preset,
        )
        if found.rows:
            publish_lessons(self.lessons, found.rows, self.type)
        return {
            "lessons": self.lessons if (target / MANIFEST).exists() else None,
            "skill": self.preset or self.skill_id,
            "level": self.level,
            "asked": found.asked,
            "wrong": found.wrong,
            "rows": len(found.rows),
            "weak": list(found.weak),
            "primitives": found.by_primitive,
        }

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """The lessons become a dataset."""
        name = result["lessons"]
        asset = None if name is None else keep(connection, name)
        quests.end(connection, job.id, "done", {**result, "asset": asset})
        said = (
            f"{result['wrong']} of {result['asked']} answers in {result['skill']} level "
            f"{result['level']} were wrong: {result['rows']} lessons"
        )
        data = {"asset": asset, "job": job.id, "weak": result["weak"]}
        say(connection, "data.sparred", said, severity="success", data=data)


class SparRecipe(Recipe):
    """Let a text hero answer fresh problems and make lessons of its wrong answers."""

    hero_kind: ClassVar[str | None] = "text"

    quest: Literal["spar"] = "spar"
    skill: Name = "bin"
    checkpoint: Name = "latest"
    level: Level | None = None
    count: Count = 400
    priority: Priority = "high"

    def describe(self) -> str:
        """The title."""
        return f"Spar: {self.count} problems of {self.skill}"

    def order(self, desk: Desk) -> Spar:
        """The work."""
        skill, preset = track(self.skill)
        with reading(desk.store.engine) as connection:
            campaign = campaigns.get(connection, desk.campaign)
            level = self.level or level_of(connection, campaign, self.skill)
        skill.check(level, preset)
        asked = {"checkpoint": checkpoint_of(desk, self.checkpoint).id, "level": level}
        of = {"lessons": f"spar-{desk.number}", "skill_id": skill.id, "preset": preset}
        return Spar(**self.shared(Spar) | asked | of)
