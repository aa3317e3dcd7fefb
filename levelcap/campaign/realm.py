"""The realm: one database for jobs, vault and campaign, and the queue on it. No torch.

realm = open_realm()
realm.store.submit(…), get_ledger(realm.engine), …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from levelcap.campaign.story import campaigns, quests, schema
from levelcap.campaign.story.events import say
from levelcap.campaign.work.table import JOB_TYPES, effects_of
from levelcap.jobs import schema as jobs_schema
from levelcap.jobs.job import Job
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, Database, migrate, open_db, reading, transaction
from levelcap.kit.paths import folder
from levelcap.vault import schema as vault_schema
from levelcap.vault.ledger import DATABASE

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Realm:
    """The database and the queue in it."""

    engine: Database
    store: Store

    def read(
        self, look: Callable[Concatenate[Connection, P], R], *args: P.args, **more: P.kwargs
    ) -> R:
        """What a function of the story reads, of one moment."""
        with reading(self.engine) as connection:
            return look(connection, *args, **more)

    def write(
        self, change: Callable[Concatenate[Connection, P], R], *args: P.args, **more: P.kwargs
    ) -> R:
        """What a function of the story changes, in one transaction."""
        with transaction(self.engine) as connection:
            return change(connection, *args, **more)

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()


def open_realm() -> Realm:
    """Open (and create or update) the realm's database.

    Raises:
        Corrupt: not a database. Conflict: a newer levelcap wrote it.
    """
    engine = open_db(folder("state") / DATABASE)
    try:
        migrate(engine, jobs_schema.MIGRATIONS, scope=jobs_schema.SCOPE)
        migrate(engine, vault_schema.MIGRATIONS, scope=vault_schema.SCOPE)
        migrate(engine, schema.MIGRATIONS, scope=schema.SCOPE)
    except BaseException:
        engine.dispose()
        raise
    store = Store(engine, JOB_TYPES, on_event=_tell, waiting=campaigns.waiting)
    store.effects = effects_of(store)
    return Realm(engine, store)


@contextmanager
def realm() -> Iterator[Realm]:
    """The realm for the length of a block."""
    opened = open_realm()
    try:
        yield opened
    finally:
        opened.close()


# Events of the queue that people should see in the battle log, and how they read.
_TOLD = {
    "dead": ("error", "{type} gave up after {attempts} crashed attempts"),
    "failed": ("error", "{type} failed: {error}"),
    "expired": ("warning", "{type} lost its worker and is queued again"),
    "requeued": ("warning", "{type} failed and is queued again: {error}"),
    "cancelled": ("info", "{type} was cancelled"),
    "retried": ("info", "{type} is queued again"),
}


_BACK = ("released", "expired", "requeued", "retried")


def _tell(connection: Connection, kind: str, job: Job) -> None:
    """Whatever happens to a job happens to its quest, in the same transaction."""
    if kind in _TOLD:
        severity, form = _TOLD[kind]
        message = form.format(type=job.type, attempts=job.attempts, error=job.error)
        say(connection, f"job.{kind}", message, severity=severity, data={"job": job.id})
    if kind == "claimed":
        quests.set_status(connection, job.id, "running")
    elif kind == "prioritised":
        quests.note_priority(connection, job.id, job.priority)
    elif kind in _BACK:
        quests.set_status(connection, job.id, "queued")
    elif kind in ("dead", "failed", "cancelled"):
        quests.end(connection, job.id, kind, {"error": job.error, "code": job.error_code})
