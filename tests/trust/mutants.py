"""The queue with one protection switched off: what the harness must notice."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from levelcap.jobs import history, moves, store
from levelcap.jobs.job import Job
from levelcap.jobs.pressure import warnings_or_refuse
from levelcap.jobs.rows import Found
from levelcap.jobs.store import Store
from levelcap.kit import db, sqlite
from levelcap.kit.db import Connection


class EffectApart(Store):
    """Writes the effect in a transaction of its own, before the completion."""

    def complete(self, id: str, worker: str, fence: int, result: dict[str, Any]) -> Job:
        job = self.get(id)
        with db.transaction(self.engine) as connection:
            self.effects[job.type](connection, job, result)
        time.sleep(0.002)  # the queue is quick: without it a kill rarely falls between the two
        effects, self.effects = self.effects, {}
        try:
            return super().complete(id, worker, fence, result)
        finally:
            self.effects = effects


class NoTransaction(Store):
    """Every statement commits by itself."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        store.transaction = _statement_by_statement


@contextmanager
def _statement_by_statement(database: db.Database, group_commit: bool) -> Iterator[Connection]:
    with database.lend(db.Use.WRITE) as driver:
        driver.take_lock(database.path)
        driver.execute("COMMIT")
        yield Connection(driver)


class NoReaping(Store):
    """The lease of a dead worker never ends."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.moves = _Deaf(**vars(self.moves))


class _Deaf(moves.Moves):
    def reap(self, c: Connection, limit: int) -> int:
        return 0


class NoFence(Store):
    """Whoever reports is believed."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        store.check_held = lambda row, worker, fence: row


class NoCounting(Store):
    """A claim does not count as an attempt."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.moves = _Forgetful(**vars(self.moves))


class _Forgetful(moves.Moves):
    def begin(self, c: Connection, found: Found, worker: str) -> Found:
        row = super().begin(c, found, worker)
        c.execute("UPDATE jobs SET attempts = 0 WHERE seq = :seq", {"seq": found.seq})
        return row._replace(attempts=0)


class Impatient(Store):
    """Does not wait for a lock."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)

        sqlite.BUSY_ATTEMPTS = 0


class LooseLimit(Store):
    """Looks at the limit before the transaction, not inside it."""

    def submit(self, type: str, payload: Any, **named: Any) -> Any:
        with db.reading(self.engine) as connection:
            warnings_or_refuse(self.types[type], history.load_of(connection, type))
        time.sleep(0.002)  # the queue is quick: without it processes rarely meet here
        roomy = replace(self.types[type], when_full="allow")
        held, self.types = self.types, {type: roomy}
        try:
            return super().submit(type, payload, **named)
        finally:
            self.types = held


STORES: dict[str, Callable[..., Store]] = {
    "": Store,
    "noted_first": Store,  # the submitter's own fault, see roles.submit
    "effect_apart": EffectApart,
    "no_transaction": NoTransaction,
    "no_reaping": NoReaping,
    "no_fence": NoFence,
    "no_counting": NoCounting,
    "impatient": Impatient,
    "loose_limit": LooseLimit,
}
KILL_MUTANTS: Sequence[str] = ("effect_apart", "no_transaction", "no_reaping", "noted_first")
