"""The table of job types: what each needs, how long it may take, how many may wait and run.

A type exists here when `handlers.py` can carry it out and `effects.py` knows what to write then.
Payloads hold ids, never paths.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from levelcap.jobs.job import JobType
from levelcap.kit.ids import check_id

Name = Annotated[str, Field(max_length=100), AfterValidator(check_id)]
Ruleset = Literal["duel", "lms", "siege", "crown"]
Knobs = Annotated[dict[str, str], Field(max_length=40)]
Minutes = Annotated[float, Field(gt=0, le=60 * 24 * 30, allow_inf_nan=False)]
Level = Annotated[int, Field(ge=1, le=100)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]

TRAINING = ("record", "imitate", "reinforce", "study")  # what pausing holds back


class Payload(BaseModel):
    """Strict: no unknown fields, no text where a number belongs."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Record(Payload):
    """Play games between two bots into a shard."""

    shard: Name
    world: Ruleset = "duel"
    teacher: Name = "master"
    partner: Name = "veteran"
    games: Annotated[int, Field(ge=2, le=200_000)] = 3000
    seed: Seed = 0


class Imitate(Payload):
    """Clone recorded play in a run of its own."""

    run: Name
    world: Ruleset = "duel"
    shards: Annotated[list[Name], Field(min_length=1, max_length=64)]
    policies: Annotated[list[Name], Field(max_length=16)] = []
    minutes: Minutes = 0.5
    size: Literal["dummy", "slim", "full"] = "slim"
    seed: Seed = 0
    knobs: Knobs = {}


class Reinforce(Payload):
    """Continue (or begin) a run of reinforcement until it has had `minutes` in all."""

    run: Name
    world: Ruleset = "duel"
    start: Name | None = None
    minutes: Minutes = 1.5
    size: Literal["dummy", "slim", "full"] = "slim"
    seed: Seed = 0
    knobs: Knobs = {}


class Study(Payload):
    """Teach a text hero a skill in a run that goes on until it has had `minutes` in all.

    The skill `school` is the primitives and passives, without levels. lessons: ids of datasets.
    """

    run: Name
    hero: Name = "dio-tiny"
    skill: Name = "bin"
    preset: Name | None = None
    start: Name | None = None
    level: Level = 1
    lessons: Annotated[list[Name], Field(max_length=16)] = []
    minutes: Minutes = 2.0
    seed: Seed = 0
    knobs: Knobs = {}


class Sparring(Payload):
    """Let a text hero answer fresh problems; wrong answers become lessons of this name."""

    lessons: Name
    skill_id: Name
    checkpoint: Name
    preset: Name | None = None
    level: Level = 1
    count: Annotated[int, Field(ge=4, le=5000)] = 400
    seed: Seed = 0


class Eval(Payload):
    """Judge a checkpoint: against the sealed panel and the bots, or, of a text hero, by an exam.

    skill_id, preset, level: what a text hero is asked besides the passives.
    """

    checkpoint: Name
    skill_id: Name | None = None
    preset: Name | None = None
    level: Level | None = None
    passives: Literal["lite", "full"] = "lite"
    games: Annotated[int, Field(ge=40, le=20_000, multiple_of=40)] = 400
    seed: Seed = 0


class Unpack(Payload):
    """Take in an uploaded archive as a base model of a hero, once its net has worked."""

    upload: Name
    hero: Name


class Retention(Payload):
    """Remove checkpoints that need not stay."""

    zone: Literal["hot"] = "hot"
    keep: Annotated[int, Field(ge=1, le=100_000)] = 20


class Report(Payload):
    """Gains and costs of a period as JSON."""

    report_type: Literal["weekly", "campaign"] = "weekly"


class HealthCheck(Payload):
    """Does a worker answer?"""


JOB_TYPES: dict[str, JobType] = {
    row.name: row
    for row in (
        JobType("record", Record, 3600, 5, 20, 1, "reject", ("trainer", "data_forge")),
        JobType("imitate", Imitate, 86_400, 50, 20, 1, "reject", ("trainer",)),
        JobType("reinforce", Reinforce, 86_400 * 31, 50, 20, 1, "reject", ("trainer",)),
        JobType("study", Study, 86_400 * 31, 50, 20, 1, "reject", ("trainer",)),
        JobType("sparring", Sparring, 1800, 1, 10, 1, "reject", ("trainer", "data_forge")),
        JobType("eval", Eval, 600, 2, 50, 3, "warn", ("eval_worker",)),
        JobType("unpack", Unpack, 600, 2, 10, 1, "reject", ("vault_worker",)),
        JobType("retention", Retention, 600, 1, 3, 1, "reject", ("vault_worker",)),
        JobType("report", Report, 120, 1, 10, 3, "allow", ("analytics",)),
        JobType("health_check", HealthCheck, 60, 1, 10, 5, "allow", ("eval_worker", "trainer")),
    )
}
