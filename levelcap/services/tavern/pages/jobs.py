"""`/jobs`: every piece of work, page by page, what happened to it, and who works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from levelcap.campaign.work.table import JOB_TYPES
from levelcap.jobs.job import OPEN, PRIORITIES, Job, Status
from levelcap.services.tavern.orders import asks
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View

PAGE = 25
ANY = "any"


class JobsAsked(Asked):
    """Filters; cursors: the last job of every page before this one; job: which one is open."""

    path, one = "/jobs", "job"
    status: Literal["any"] | Status = "any"
    type: Annotated[str, Field(max_length=40)] = ANY
    cursors: Annotated[str, Field(max_length=4000)] = ""
    job: Annotated[str, Field(max_length=100)] = ""

    @property
    def past(self) -> list[str]:
        """The cursors one by one."""
        return [cursor for cursor in self.cursors.split(",") if cursor]


@dataclass(frozen=True)
class Shown:
    """What the template shows."""

    rows: list[Job]
    older: str  # the cursors of the next page; "": there is none
    workers: list[dict[str, Any]]
    counts: dict[str, int]
    job: Job | None
    events: list[dict[str, Any]]
    statuses: tuple[str, ...] = (ANY, *Status)
    types: tuple[str, ...] = (ANY, *JOB_TYPES)
    open: frozenset[Status] = frozenset(OPEN)
    priorities: tuple[str, ...] = tuple(PRIORITIES)


class JobsView(View[JobsAsked]):
    """Counts, the queue with its filters, the workers, a window for one job."""

    asked = JobsAsked
    orders = {
        "cancel": asks("POST", "/api/jobs/{id}/cancel", "Called off"),
        "retry": asks("POST", "/api/jobs/{id}/retry", "It is tried again"),
        "priority": asks("POST", "/api/jobs/{id}/priority", "Moved"),
    }

    def read(self, moment: Moment, asked: JobsAsked) -> Shown:
        """One page of the queue."""
        store, past = self.tavern.realm.store, asked.past
        status = None if asked.status == ANY else asked.status
        kind = None if asked.type == ANY else asked.type
        rows = store.list(status, kind, PAGE + 1, past[-1] if past else None)
        older = ",".join([*past, rows[PAGE - 1].id]) if len(rows) > PAGE else ""
        counts = self.tavern.pulse.recent("job counts", lambda: store.stats()["status"], 2.0)
        job = store.get(asked.job) if asked.job else None
        events = store.events(asked.job) if asked.job else []
        return Shown(rows[:PAGE], older, store.workers(), counts, job, events)
