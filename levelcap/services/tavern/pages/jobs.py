"""`/jobs`: every piece of work, page by page, what happened to it, and who works."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from levelcap.campaign.work.table import JOB_TYPES
from levelcap.jobs.job import OPEN, Job, Status
from levelcap.services.tavern import lore
from levelcap.services.tavern.fields import Field
from levelcap.services.tavern.page import Page, Pager, table
from levelcap.services.tavern.parts import chips, line, page_heading
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.tags import (
    Modal,
    Tag,
    button,
    card,
    div,
    heading,
    paragraph,
    span,
)

COLUMNS = (
    ("Work", ""), ("Status", ""), ("Priority", "optional"), ("Tries", "num optional"),
    ("Worker", "optional"), ("When", "optional"), ("", ""),
)  # fmt: skip
PAGE = 25
ANY = "any"


class JobsPage(Page):
    """One open page."""

    status = type = ANY
    cursors: tuple[str | None, ...] = (None,)  # `before` of every page up to this one
    rows: list[Job]
    workers: list[dict[str, Any]]
    counts: dict[str, int]
    _going: dict[str, str]  # job -> how far it is

    def _read(self) -> None:
        store = self.tavern.realm.store
        status = None if self.status == ANY else self.status
        kind = None if self.type == ANY else self.type
        self.rows = store.list(status, kind, PAGE + 1, self.cursors[-1])
        self.workers = store.workers()
        self.counts = self.tavern.pulse.recent("job counts", lambda: store.stats()["status"], 2.0)

    def build(self) -> None:
        """Counts, the queue with its filters, the workers, a window for one job."""
        page_heading("Jobs", "Every quest becomes work in a queue; a worker that dies loses none.")
        self._chips = div()
        with card(None, "jobs-card"):
            with div("row between"):
                heading("The queue")
                with div("row filters"):
                    self._filter("Status", "status", [s.value for s in Status])
                    self._filter("Kind of work", "type", JOB_TYPES)
            self._table = div("table-wrap")
            self._pager = Pager("Newer", "Older", self._turn)
        with card("Workers"):
            self._people = div("table-wrap")
        with Modal("Job") as self._window:
            self._inside = div("form")
        self._fill()

    def _filter(self, label: str, name: str, values: Iterable[str]) -> None:
        async def choose(value: str) -> None:
            setattr(self, name, value)
            self.cursors = (None,)
            await self.reload()

        Field(label, "choice", ANY, options=(ANY, *values), on_change=choose)

    async def _turn(self, way: int) -> None:
        if way > 0 and len(self.rows) > PAGE:
            self.cursors = (*self.cursors, self.rows[PAGE - 1].id)
        elif way < 0 and len(self.cursors) > 1:
            self.cursors = self.cursors[:-1]
        await self.reload()

    async def refresh(self, moment: Moment) -> None:
        """Follows what happens, on the first page only: others stay as they are read."""
        if moment.events and len(self.cursors) == 1:
            await self.reload()

    def _fill(self) -> None:
        rows, counts = self.rows[:PAGE], dict(self.counts)
        said = [(f"{count:,} {status}", status) for status, count in counts.items()]
        self._chips.redraw(counts, lambda: chips(said))
        self._going = {job.id: f"{100 * job.progress:.0f} % {job.message}" for job in rows}
        still = {job.id: replace(job, progress=0.0, message="") for job in rows}
        table(self._table, COLUMNS, still, self._row, nothing="No job is like that.")
        number = len(self.cursors)
        self._pager.show(f"page {number}", number == 1, len(self.rows) <= PAGE)
        self._people.redraw(self.workers, self._show_workers)

    def _row(self, job: Job) -> Tag:
        with Tag("tr", data_job=job.id) as row:
            with Tag("td"):
                span(text=job.type)
                Tag("div", "quest-sub mono", job.id)
            with Tag("td"):
                span(f"chip {job.status.value}", job.status.value)
                if job.status is Status.RUNNING:
                    self.tell(div("quest-sub"), lambda: self._going.get(job.id, ""))
            Tag("td", "optional", job.priority)
            Tag("td", "num optional", f"{job.attempts} / {job.max_attempts}")
            Tag("td", "optional", job.worker or "–")
            when = Tag("td", "optional", title=job.created)
            self.tell(when, lambda: lore.ago(job.created))
            with Tag("td", "num"):
                button("Details", self._open(job.id), "small")
        return row

    def _show_workers(self) -> None:
        if not self.workers:
            paragraph("No worker has come yet.", "empty")
        for row in self.workers:
            with div("row"):
                span("dot running" if row["alive"] else "dot stopped")
                span(text=row["name"])
                span("quest-sub", f"{row['device']} · {', '.join(row['roles'])}")
                span("chip plain", f"{len(row['jobs'])} in hand")

    def _open(self, job_id: str) -> Any:
        async def show() -> None:
            store = self.tavern.realm.store
            job = await asyncio.to_thread(store.get, job_id)
            events = await asyncio.to_thread(store.events, job_id)
            self._inside.redraw((job, events), lambda: self._details(job, events))
            self._window.open()

        return show

    def _details(self, job: Job, events: list[dict[str, Any]]) -> None:
        with div("row"):
            span(f"chip {job.status.value}", job.status.value)
            span("mono", job.id)
        if job.error:
            paragraph(job.error, "problem")
        Tag("pre", "mono", json.dumps(job.payload, indent=1, ensure_ascii=False))
        with Tag("ol", "feed"):
            for event in events:
                line(event["kind"], event["worker"] or "", lore.clock(event["time"]))
        with div("row"):
            if job.status in OPEN:
                button("Cancel", self._order(job, "cancel"), "danger", "cross")
            elif job.status is not Status.DONE:
                button("Try again", self._order(job, "retry"), "primary", "undo")
            if job.status is Status.QUEUED:
                self.priority(f"/api/jobs/{job.id}/priority", job.priority)

    def _order(self, job: Job, verb: str) -> Any:
        return self.order(f"/api/jobs/{job.id}/{verb}", then=lambda said: self._window.close())
