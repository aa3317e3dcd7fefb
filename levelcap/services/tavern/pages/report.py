"""`/report`: what was gained, what it cost, what went wrong; as a picture and as JSON too."""

from __future__ import annotations

from levelcap.campaign.sheet.report import GainReport, make_report
from levelcap.services.tavern import charts, lore
from levelcap.services.tavern.fields import Field
from levelcap.services.tavern.page import Page
from levelcap.services.tavern.parts import chips, figures, page_heading
from levelcap.services.tavern.tags import Icon, card, div, link, paragraph, span

PERIODS = {"weekly": "the last seven days", "campaign": "from the beginning"}
MAX_BARS = 60


class ReportPage(Page):
    """One open page."""

    period = "weekly"
    found: GainReport

    def _read(self) -> None:
        self.found = make_report(self.tavern.realm.engine, self.period)

    def build(self) -> None:
        """The period, then what was found in it."""
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
        await self.reload()

    def _fill(self) -> None:
        self._json.put(href=f"/download/report/{self.period}")
        self._body.redraw((self.period, self.found), self._draw)

    def _draw(self) -> None:
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
        rows = (
            ("Best Elo", lore.elo_of(best) if best else "–", "highest Elo of the period"),
            ("Checkpoints", f"{saved:,}", "rows of the ledger in the period"),
            ("Spent", lore.lasting(found.core_seconds), "core-seconds of all training runs"),
            ("Runs that gained", gained, "runs whose gain in Elo is certain (95 %)"),
        )
        figures(rows)

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
            chips(
                (f"{count} × {lore.event_words(kind)[0]} ({kind})", "plain")
                for kind, count in self.found.incidents.items()
            )
