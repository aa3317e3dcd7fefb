"""The table of kinds of work. A new one is a file in this folder and its word in one line here."""

from __future__ import annotations

from importlib import import_module
from typing import TypeVar

from levelcap.campaign.work.base import Recipe, Work
from levelcap.jobs.job import Job, JobType
from levelcap.jobs.store import Effect, Store
from levelcap.kit.db import Connection

NAMES = (
    *("record", "imitate", "reinforce", "league", "hunt", "evaluate", "school", "study", "spar"),
    *("trial", "compare", "export", "unpack", "retention", "report", "health_check"),
)
FILES = [import_module(f"levelcap.campaign.work.{name}") for name in NAMES]


T = TypeVar("T")


def _classes(base: type[T]) -> list[type[T]]:
    """Classes that the files define, in the order of the table."""
    return [
        found
        for file in FILES
        for found in vars(file).values()
        if isinstance(found, type) and issubclass(found, base) and found.__module__ == file.__name__
    ]


WORKS: dict[str, type[Work]] = {work.type: work for work in _classes(Work)}
RECIPES: dict[str, type[Recipe]] = {
    recipe.model_fields["quest"].default: recipe for recipe in _classes(Recipe)
}
JOB_TYPES: dict[str, JobType] = {name: work.job_type() for name, work in WORKS.items()}
TRAINING = tuple(name for name, work in WORKS.items() if work.trains)  # what pausing holds back


def effects_of(store: Store) -> dict[str, Effect]:
    """Job type -> what a finished job writes, in the transaction in which it becomes done."""

    def effect(connection: Connection, job: Job, result: dict[str, object]) -> None:
        WORKS[job.type].of(job).effect(connection, store, job, result)

    return dict.fromkeys(WORKS, effect)
