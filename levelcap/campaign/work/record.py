"""`record`: games of a bot, kept as a shard to be imitated later."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from levelcap.campaign.story import quests
from levelcap.campaign.story.events import say
from levelcap.campaign.story.runs import shard_folder
from levelcap.campaign.work.base import Bench, Desk, Limits, Recipe, Result, Work
from levelcap.campaign.work.fields import Family, Name, Ruleset, Seed
from levelcap.jobs.job import Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection
from levelcap.kit.publish import MANIFEST, sweep
from levelcap.nets.options import VIEWS
from levelcap.vault.assets import register
from levelcap.vault.zones import load_zones
from levelcap.world.players.bot_names import check_bot

Games = Annotated[int, Field(ge=2, le=200_000)]


class Record(Work):
    """Play games between two bots into a shard."""

    type: ClassVar[str] = "record"
    limits: ClassVar[Limits] = Limits(3600, 5, 20, 1, "reject", ("trainer", "data_forge"))
    trains: ClassVar[bool] = True

    shard: Name
    world: Ruleset = "duel"
    teacher: Name = "master"
    partner: Name = "veteran"
    games: Games = 3000
    seed: Seed = 0
    family: Family = "flat"
    """the kind of net whose views are kept"""

    def perform(self, bench: Bench) -> Result:
        """Play; a shard that was finished before is not played again."""
        from levelcap.lake.read import open_shards
        from levelcap.play.record.games import record

        place = shard_folder(self.shard)
        place.parent.mkdir(parents=True, exist_ok=True)
        sweep(place.parent)
        if not (place / MANIFEST).exists():
            record(
                list(dict.fromkeys((self.teacher, self.partner))),
                self.world,
                self.games,
                self.seed,
                place,
                keep=[self.teacher],
                views=VIEWS.get(self.family),
                on_progress=lambda done, of: bench.context.progress(done / of, f"{done} games"),
            )
        shards = open_shards((place,), world=self.world)
        return {"shard": self.shard, "steps": shards.num_steps, "games": self.games}

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """The shard becomes a dataset."""
        place = shard_folder(result["shard"])
        asset = register(connection, "dataset", place, zone=load_zones()["hot"])
        quests.end(connection, job.id, "done", {**result, "asset": asset})
        said = f"{result['steps']:,} steps in {result['shard']}"
        data = {"asset": asset, "job": job.id}
        say(connection, "data.recorded", said, severity="success", data=data)


class RecordRecipe(Recipe):
    """Record games of a bot, to be imitated later."""

    hero_kind: ClassVar[str | None] = "arena"

    quest: Literal["record"] = "record"
    world: Ruleset = "duel"
    teacher: Name = "master"
    partner: Name = "veteran"
    games: Games = 3000
    family: Family = "flat"

    def describe(self) -> str:
        """The title."""
        return f"Record {self.games} games of {self.teacher} in {self.world}"

    def check(self) -> None:
        """Both are bots that training may meet."""
        for name in (self.teacher, self.partner):
            check_bot(name, for_training=True)

    def order(self, desk: Desk) -> Record:
        """The work."""
        return Record(shard=f"demos-{desk.number}", **self.shared(Record))
