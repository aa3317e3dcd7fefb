"""`imitate`: clone recorded play (behaviour cloning) in a run of its own."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.story.demos import check_demos
from levelcap.campaign.story.runs import NewRun, shard_folder
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
from levelcap.campaign.work.training import Training
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection
from levelcap.learn.engine.overrides import apply
from levelcap.learn.imitation.config import for_family
from levelcap.nets.options import VIEWS, check_options, read_options
from levelcap.vault.ledger import amend
from levelcap.vault.lookup import newest_of_run

Shards = Annotated[list[Name], Field(min_length=1, max_length=64)]
Policies = Annotated[list[Name], Field(max_length=16)]


class Imitate(Training):
    """Clone recorded play."""

    type: ClassVar[str] = "imitate"
    limits: ClassVar[Limits] = Limits(86_400, 50, 20, 1, "reject", ("trainer",))

    world: Ruleset = "duel"
    shards: Shards
    policies: Policies = []
    minutes: Minutes = 0.5
    family: Family = "flat"
    net: NetOptions = []
    size: Size = "slim"

    def new_run(self) -> NewRun:
        """A run in a world, from nothing."""
        words = ["imitate", "--world", self.world, "--seed", str(self.seed), "--size", self.size]
        words += ["--minutes", f"{self.minutes:g}", "--shards"]
        words += [f"$LEVELCAP_HOME/lake/trajectories/{shard}" for shard in self.shards]
        words += ["--policies", *self.policies] if self.policies else []
        words += net_words(self.family, self.net)
        return NewRun(self.run, self.type, self.seed, self.command(*words), world=self.world)

    def perform(self, bench: Bench) -> Result:
        """Train."""
        from levelcap.learn.engine.folder import as_begun
        from levelcap.learn.engine.stops import Stops
        from levelcap.learn.imitation.run import Request, imitate

        request = Request(
            self.world,
            tuple(shard_folder(shard) for shard in self.shards),
            self.place,
            tuple(self.policies),
            self.size,
            self.seed,
            family=self.family,
            options=tuple(self.net),
        )
        config = apply(as_begun(self.place, for_family(self.family)), pairs(self.knobs))
        done = imitate(request, config, Stops(minutes=self.minutes), self.hooks(bench))
        return self.outcome(done.outcome) | {"validation": done.validation}

    def note_learning(self, connection: Connection, store: Store, result: Result) -> None:
        """How well it predicts matches it has not seen."""
        newest = newest_of_run(connection, self.run)
        if result["validation"] and newest is not None:
            amend(connection, newest.id, val_loss=result["validation"]["loss"])


class ImitateRecipe(Recipe):
    """Clone recorded play."""

    hero_kind: ClassVar[str | None] = "arena"

    quest: Literal["imitate"] = "imitate"
    world: Ruleset = "duel"
    shards: Shards
    policies: Policies = []
    minutes: Minutes = 0.5
    family: Family = "flat"
    net: NetOptions = []
    size: Size = "slim"
    base: bool = False
    """true: the campaign's rounds start from this clone; else it is a branch of its own"""
    knobs: Knobs = Field(default={}, alias="set")

    def describe(self) -> str:
        """The title."""
        return f"Imitate {', '.join(self.policies) or 'everybody'} in {self.world}"

    def check(self) -> None:
        """The overrides and the parts of the net exist and are in range."""
        apply(for_family(self.family), pairs(self.knobs))
        check_options(self.family, read_options(self.net))

    def order(self, desk: Desk) -> Imitate:
        """The work; shards without the players asked for are refused."""
        check_demos(self.shards, self.world, self.policies, VIEWS.get(self.family, ()))
        return Imitate(run=f"imitate-{desk.number}", **self.shared(Imitate))
