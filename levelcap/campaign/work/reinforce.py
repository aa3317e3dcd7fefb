"""`reinforce`: let a checkpoint play and learn, in a run that can go on."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from levelcap.campaign.story import runs
from levelcap.campaign.story.runs import NewRun
from levelcap.campaign.work.base import Bench, Desk, Limits, Recipe, Result
from levelcap.campaign.work.fields import (
    Family,
    Knobs,
    Minutes,
    Name,
    NetOptions,
    Ruleset,
    Size,
    net_words,
    pairs,
)
from levelcap.campaign.work.snapshots import meta_of
from levelcap.campaign.work.training import Training
from levelcap.kit.db import reading
from levelcap.kit.errors import BadValue, refuse
from levelcap.learn.engine.overrides import apply
from levelcap.learn.rl.config import RlConfig, for_world, taught_by
from levelcap.nets.options import check_options, read_options
from levelcap.vault.ask import resolve
from levelcap.world.players.bot_names import check_bot, refuse_sealed


def _defaults(world: str, family: str, teacher: str | None) -> RlConfig:
    """Of a run that learns from results, or from a teacher."""
    return for_world(world, family) if teacher is None else taught_by(teacher, world, family)


class Reinforce(Training):
    """Continue (or begin) a run of reinforcement learning."""

    type: ClassVar[str] = "reinforce"
    limits: ClassVar[Limits] = Limits(86_400 * 31, 50, 20, 1, "reject", ("trainer",))

    world: Ruleset = "duel"
    start: Name | None = None
    family: Family = "flat"
    net: NetOptions = []
    size: Size = "slim"
    teacher: Name | None = None

    def new_run(self) -> NewRun:
        """A run in a world, from a checkpoint or from nothing."""
        words = ["reinforce", "--world", self.world, "--seed", str(self.seed), "--size", self.size]
        words += ["--minutes", f"{self.minutes:g}"]
        words += ["--teacher", self.teacher] if self.teacher else []
        words += ["--from", self.start] if self.start else net_words(self.family, self.net)
        said = self.command(*words)
        return NewRun(self.run, self.type, self.seed, said, world=self.world, start=self.start)

    def perform(self, bench: Bench) -> Result:
        """Train."""
        from levelcap.learn.engine.folder import as_begun
        from levelcap.learn.engine.stops import Stops
        from levelcap.learn.rl.run import Request, reinforce

        start = None if self.start is None else bench.locate(self.start)
        request = Request(
            self.world,
            self.place,
            start,
            self.size,
            self.seed,
            family=self.family,
            options=tuple(self.net),
        )
        family = self.family if start is None else meta_of(start).architecture
        config = apply(
            as_begun(self.place, _defaults(self.world, family, self.teacher)), pairs(self.knobs)
        )
        stops = Stops(minutes=self.minutes)
        return self.outcome(reinforce(request, config, stops, self.hooks(bench)))


class ReinforceRecipe(Recipe):
    """Let a checkpoint play and learn; or let a run go on until it has had `minutes` in all."""

    hero_kind: ClassVar[str | None] = "arena"

    quest: Literal["reinforce"] = "reinforce"
    world: Ruleset = "duel"
    start: Name | None = Field(default=None, alias="from")
    """a checkpoint: its id, champion, best, latest; nothing = from untrained weights"""
    run: Name | None = None
    minutes: Minutes = 1.5
    family: Family = "flat"
    net: NetOptions = []
    size: Size = "slim"
    teacher: Name | None = None
    """a bot: do what it would do in the hero's seats, whatever the results (DAgger)"""
    knobs: Knobs = Field(default={}, alias="set")

    def describe(self) -> str:
        """The title."""
        how = f"under the eyes of {self.teacher} " if self.teacher else ""
        return f"Reinforce {how}in {self.world} up to {self.minutes:g} minutes"

    def check(self) -> None:
        """The overrides, the parts of the net and the teacher exist and are in range."""
        apply(_defaults(self.world, self.family, self.teacher), pairs(self.knobs))
        if self.teacher is not None:
            refuse_sealed(self.teacher)
            check_bot(self.teacher)
        check_options(self.family, read_options(self.net))

    def order(self, desk: Desk) -> Reinforce:
        """The work; a run goes on only in its world and from its own start."""
        start = None if self.start is None else resolve(desk.store.engine, self.start).id
        if self.run is not None:
            start = self._check_run(desk, self.run, start)
        run = self.run or f"reinforce-{desk.number}"
        return Reinforce(**self.shared(Reinforce) | {"run": run, "start": start})

    def _check_run(self, desk: Desk, run: str, start: str | None) -> str | None:
        """The start of the run that is to go on."""
        with reading(desk.store.engine) as connection:
            known = runs.get(connection, run)
        if known.kind != self.quest or known.world != self.world:
            remedy = "Name a run of reinforcement in this world, or leave run out"
            raise BadValue(refuse(f"this run is {known.kind} in {known.world}", run, remedy))
        if start not in (None, known.start):
            remedy = "Leave from out, or leave run out to begin another"
            raise BadValue(refuse(f"this run started from {known.start}", start, remedy))
        return known.start
