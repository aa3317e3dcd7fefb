"""`study`: teach a text hero a skill, in a run that can go on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.kinds.heroes import get_text_hero
from levelcap.campaign.story import campaigns, quests, runs
from levelcap.campaign.story.runs import NewRun
from levelcap.campaign.story.skills import level_of, track
from levelcap.campaign.work.base import Bench, Desk, Limits, Recipe, Result
from levelcap.campaign.work.fields import Knobs, Level, Minutes, Name, pairs
from levelcap.campaign.work.lessons import FILE, checkpoint_of
from levelcap.campaign.work.snapshots import judge_passives, take_notes
from levelcap.campaign.work.training import Training
from levelcap.guild.drills.drill import SKILL as SCHOOL
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, reading
from levelcap.kit.errors import BadValue, Conflict, refuse
from levelcap.learn.engine.overrides import apply
from levelcap.learn.text.config import TextConfig
from levelcap.vault.assets import find

if TYPE_CHECKING:
    from levelcap.campaign.kinds.text import TextHeroFile

Lessons = Annotated[list[Name], Field(max_length=16)]


class Study(Training):
    """Teach a text hero a skill; the skill `school` is the primitives, without levels.

    lessons: ids of datasets that are trained on besides.
    """

    type: ClassVar[str] = "study"
    limits: ClassVar[Limits] = Limits(86_400 * 31, 50, 20, 1, "reject", ("trainer",))

    hero: Name = "dio-tiny"
    skill: Name = "bin"
    preset: Name | None = None
    start: Name | None = None
    level: Level = 1
    lessons: Lessons = []
    minutes: Minutes = 2.0

    @property
    def subject(self) -> str:
        """Skill or preset: what has a standing of its own."""
        return self.preset or self.skill

    def new_run(self) -> NewRun:
        """A run in a skill, from a checkpoint or from nothing."""
        words = ["text", "train", "--skill", self.skill]
        words += ["--preset", self.preset] if self.preset else []
        words += ["--level", str(self.level), "--seed", str(self.seed)]
        words += ["--minutes", f"{self.minutes:g}"]
        words += ["--from", self.start] if self.start else []
        words += ["--lessons", *self.lessons] if self.lessons else []
        said = self.command(*words)
        return NewRun(self.run, self.type, self.seed, said, skill=self.subject, start=self.start)

    def perform(self, bench: Bench) -> Result:
        """Train."""
        from levelcap.learn.engine.stops import Stops
        from levelcap.learn.text.run import Request, train_text

        hero = get_text_hero(self.hero)
        if hero.size is None:
            what = f"{hero.name} cannot train here: {hero.why_not()}"
            remedy = "Use dio-tiny, or a file of your own with a size"
            raise Conflict(refuse(what, hero.id, remedy))
        request = Request(
            self.skill,
            self.place,
            self.preset,
            hero.size,
            self.seed,
            None if self.start is None else bench.locate(self.start),
            self.level,
            tuple(bench.locate(name) / FILE for name in self.lessons),
        )
        config = apply(config_of(hero), pairs(self.knobs))
        taught = train_text(request, config, Stops(minutes=self.minutes), self.hooks(bench))
        return self.outcome(taught.outcome) | {"skill": self.subject, "level": taught.level}

    def note_learning(self, connection: Connection, store: Store, result: Result) -> None:
        """Exams; after school the passives of its last checkpoint, which drift is measured from."""
        take_notes(connection, runs.get(connection, self.run))
        if self.skill == SCHOOL:
            judge_passives(connection, store, self.run)


def config_of(hero: TextHeroFile) -> TextConfig:
    """The knobs a hero's file sets."""
    plain = TextConfig()
    engine = replace(
        plain.engine, optimizer=hero.optimizer, lr=hero.lr, hidden_lr=hero.hidden_lr, ema=hero.ema
    )
    return replace(plain, batch=hero.batch, engine=engine)


class StudyRecipe(Recipe):
    """Teach a text hero a skill (or preset); or let a run go on until it has had `minutes`."""

    hero_kind: ClassVar[str | None] = "text"

    quest: Literal["study"] = "study"
    skill: Name = "bin"
    start: Name | None = Field(default=None, alias="from")
    run: Name | None = None
    level: Level | None = None
    """nothing: where the hero stands"""
    lessons: Lessons = []
    """ids of datasets that are trained on besides"""
    minutes: Minutes = 2.0
    knobs: Knobs = Field(default={}, alias="set")

    def describe(self) -> str:
        """The title."""
        return f"Study {self.skill} up to {self.minutes:g} minutes"

    def check(self) -> None:
        """The overrides exist and are in range."""
        apply(TextConfig(), pairs(self.knobs))

    def order(self, desk: Desk) -> Study:
        """The work."""
        if self.run is not None:
            return self._going_on(desk, self.run)
        skill, preset = track(self.skill)
        with reading(desk.store.engine) as connection:
            campaign = campaigns.get(connection, desk.campaign)
            level = self.level or level_of(connection, campaign, self.skill)
            for name in self.lessons:
                find(connection, name)
        skill.check(level, preset)
        start = self.start and checkpoint_of(desk, self.start).id
        asked = {"run": f"study-{desk.number}", "hero": campaign.hero_id, "start": start}
        of = {"skill": skill.id, "preset": preset, "level": level}
        return Study(**self.shared(Study) | asked | of)

    def _going_on(self, desk: Desk, run: str) -> Study:
        """A run that goes on differs from before in its minutes only."""
        with reading(desk.store.engine) as connection:
            known, quest = runs.get(connection, run), quests.of_run(connection, run)
        if quest is None or quest.job is None or known.kind != Study.type:
            remedy = "Name a run of study, or leave run out"
            raise BadValue(refuse(f"this run of {known.kind} does not go on", run, remedy))
        before = Study.of(desk.store.get(quest.job))
        return before.model_copy(update={"minutes": self.minutes})
