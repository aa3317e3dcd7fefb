"""`Work` and `Recipe`: what every kind of work says of itself.

A recipe is what a person writes. `order` makes work of it: names become ids, and what does not
exist is refused. Work is the payload that a job carries (ids, never paths) together with what to do
with it: `perform` in a worker, with torch, and `effect` in the transaction in which the job becomes
done, without torch, by whoever owns the database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from levelcap.campaign.story import campaigns
from levelcap.campaign.work.fields import Priority, Seed
from levelcap.jobs.job import Job, JobType
from levelcap.jobs.store import Store
from levelcap.jobs.worker import Context
from levelcap.kit.db import Connection, reading
from levelcap.kit.ids import check_words

Result = dict[str, Any]  # JSON: it travels over HTTP and into the job's row


@dataclass(frozen=True)
class Limits:
    """How much of one kind of work there may be; see `levelcap.jobs.job.JobType`."""

    timeout_s: float
    tries: int
    max_pending: int
    max_running: int
    when_full: Literal["reject", "warn", "allow"]
    roles: tuple[str, ...]


@dataclass(frozen=True)
class Bench:
    """What a worker gives to `perform`.

    locate: id of a checkpoint or dataset -> its folder. on_publish: told (run id, folder) of every
    snapshot as soon as it is on disk; None when the worker does not own the database.
    """

    locate: Callable[[str], Path]
    on_publish: Callable[[str, Path], None] | None
    context: Context


class Work(BaseModel):
    """One job of one kind: the fields are its payload. Strict: no unknown ones, no coercion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    type: ClassVar[str]
    limits: ClassVar[Limits]
    trains: ClassVar[bool] = False
    """what pausing holds back"""

    @classmethod
    def job_type(cls) -> JobType:
        """The row of the queue's table."""
        return JobType(cls.type, cls, **asdict(cls.limits))

    @classmethod
    def of(cls, job: Job) -> Self:
        """The work that a job carries."""
        return cls.model_validate(job.payload)

    @property
    def run_id(self) -> str | None:
        """The run folder it trains in, if it does."""
        return None

    def begin(self, connection: Connection, campaign: str, step: int) -> None:
        """Write what has to be there before the job is (a run); `step`: the campaign's."""

    def perform(self, bench: Bench) -> Result:
        """Do it. Whatever was interrupted or killed is called again and goes on."""
        raise NotImplementedError

    def effect(self, connection: Connection, store: Store, job: Job, result: Result) -> None:
        """Write what follows from the result; by default the result itself is all there is."""


@dataclass(frozen=True)
class Desk:
    """What a recipe may look at when it is entered; `number` makes names of runs and shards."""

    store: Store
    campaign: str
    number: str

    @property
    def hero(self) -> str:
        """The hero whose campaign it is."""
        with reading(self.store.engine) as connection:
            return campaigns.get(connection, self.campaign).hero_id


class Recipe(BaseModel):
    """What a person writes; `quest` names the kind."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    hero_kind: ClassVar[str | None] = None
    """whose campaigns it can belong to; None: any hero's"""

    quest: str
    title: Annotated[str, Field(max_length=80), AfterValidator(check_words)] = ""
    priority: Priority = "normal"
    seed: Seed = 0

    def describe(self) -> str:
        """The title of a quest that was given none."""
        raise NotImplementedError

    def check(self) -> None:
        """Refuse now what a worker would refuse later: bots it may not meet, overrides it lacks.

        Raises:
            UnknownName: no such bot or override. BadValue: a sealed bot, a value out of range.
        """

    def shared(self, work: type[Work]) -> dict[str, Any]:
        """The fields that the work takes over as they are."""
        own = type(self).model_fields
        return {name: getattr(self, name) for name in work.model_fields if name in own}

    def order(self, desk: Desk) -> Work:
        """The work, names resolved to ids.

        Raises:
            UnknownName, BadValue: it names what does not exist, or does not fit.
        """
        raise NotImplementedError
