"""`/report`: what was gained, what it cost, what went wrong; as a picture and as JSON too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from levelcap.campaign.sheet.report import GainReport, make_report
from levelcap.services.tavern import plots
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View
from levelcap.vault.lookup import Day

MAX_BARS = 60


class ReportAsked(Asked):
    """Which days."""

    period: Literal["weekly", "campaign"] = "weekly"


@dataclass(frozen=True)
class Shown:
    """What the template shows."""

    found: GainReport
    best: Day | None
    strength: dict[str, Any] | None  # charts
    cost: dict[str, Any] | None


class ReportView(View[ReportAsked]):
    """The period, then what was found in it."""

    asked = ReportAsked

    def read(self, moment: Moment, asked: ReportAsked) -> Shown:
        """Gains and costs of the period."""
        found = make_report(self.tavern.realm.engine, asked.period)
        judged = [row for row in found.days if row.elo is not None]
        runs = found.cost_per_elo[:MAX_BARS][::-1]
        return Shown(
            found,
            max(judged, key=lambda row: row.elo or 0.0, default=None),
            plots.elo_per_day(found.days) if judged else None,
            plots.cost_per_elo(runs) if runs else None,
        )
