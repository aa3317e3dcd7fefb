"""`/report`: what was gained, what it cost, what went wrong; as a picture and as JSON too."""

from __future__ import annotations

import asyncio

from nicegui import ui

from levelcap.campaign.sheet.report import GainReport, make_report
from levelcap.services.tavern import charts, lore
from levelcap.services.tavern.fields import Field
from levelcap.services.tavern.frame import Tavern, frame, page_heading
from levelcap.services.tavern.tags import Icon, Tag, card, div, link, paragraph, span, tip

PATH = "/report"
PERIODS = {"weekly": "the last seven days", "campaign": "from the beginning"}
MAX_BARS = 60


def build(tavern: Tavern) -> None:
    """Registers the page."""

    @ui.page(PATH, title=f"Report · {lore.TITLE_LINE}")
    async def report_page() -> None:
        moment = await tavern.pulse.now()
        page = ReportPage(tavern)
        await page.read()
        with frame(tavern, PATH, moment):
            page.build()


class ReportPage:
    """One open page."""

    def __init__(self, tavern: Tavern) -> None:
        self.tavern, self.period = tavern, "weekly"
        self.found: GainReport

    async def read(self) -> None:
        """Computes the report."""
        self.found = await asyncio.to_thread(make_report, self.tavern.realm.engine, self.period)

    def build(self) -> None:
        """Everything, top to bottom."""
        with div("row between"):
            page_heading("Report", "What was gained, and what it cost.")
            with div("row"):
                Field("Period", "choice", self.period, options=PERIODS, on_change=self._choose)
                with div("downloads"):
                    self._json = link("", "", "btn", download="report.json")
                    with self._json:
                        Icon("down")
                        span(text="JSON")
        self._body = div("form")
        self._fill()

    async def _choose(self, period: str) -> None:
        self.period = period
        await self.read()
        self._fill()

    def _fill(self) -> None:
        self._json.put(href=f"/download/report/{self.period}")
        self._body.clear()
        with self._body:
            self._figures()
            with div("split"):
                self._strength()
                self._cost()
            self._incidents()

    def _figures(self) -> None:
        found = self.found
        days = [row for row in found.days if row.elo is not None]
        best = max(days, key=lambda row: row.elo or 0.0, default=None)
        saved = sum(row.checkpoints for row in found.days)
        gained = f"{found.runs_with_gain} of {found.runs}"
        figures = (
            ("Best Elo", lore.elo_of(best) if best else "–", "highest Elo of the period"),
            ("Checkpoints", f"{saved:,}", "rows of the ledger in the period"),
            ("Spent", lore.lasting(found.core_seconds), "core-seconds of all training runs"),
            ("Runs that gained", gained, "runs whose gain in Elo is certain (95 %)"),
        )
        with div("figures"):
            for name, value, formula in figures:
                with div("figure"):
                    span("figure-name", name)
                    tip(value, formula, "figure-value")

    def _strength(self) -> None:
        with card("Elo per day"):
            rows = self.found.days
            if not any(row.elo is not None for row in rows):
                paragraph("No checkpoint was judged in this period.", "empty")
                return
            charts.Chart(charts.elo_per_day(rows), "Elo per day with 95 % intervals", "elo")
            paragraph("The best checkpoint of each day with its 95 % interval.", "quest-sub")

    def _cost(self) -> None:
        with card("Cost of a point of Elo"):
            rows = self.found.cost_per_elo[:MAX_BARS][::-1]
            if not rows:
                paragraph("No run has gained Elo for certain yet.", "empty")
                return
            charts.Chart(charts.cost_per_elo(rows), "Core-seconds per Elo of each run", "cost")
            paragraph("Core-seconds of a run divided by the Elo it gained.", "quest-sub")

    def _incidents(self) -> None:
        with card("Incidents"):
            if not self.found.incidents:
                paragraph("Nothing went wrong.", "empty")
            with Tag("ul", "chips"):
                for kind, count in self.found.incidents.items():
                    title, _ = lore.event_words(kind)
                    Tag("li", "chip plain", f"{count} × {title} ({kind})")
