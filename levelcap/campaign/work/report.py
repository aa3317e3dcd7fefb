"""`report`: gains and costs of a period, kept as the job's result."""

from __future__ import annotations

from typing import ClassVar, Literal

from levelcap.campaign.work.base import Bench, Limits, Result, Work


class Report(Work):
    """Gains and costs of a period as JSON."""

    type: ClassVar[str] = "report"
    limits: ClassVar[Limits] = Limits(120, 1, 10, 3, "allow", ("analytics",))

    report_type: Literal["weekly", "campaign"] = "weekly"

    def perform(self, bench: Bench) -> Result:
        """Make it."""
        from levelcap.campaign.realm import realm
        from levelcap.campaign.sheet.report import make_report

        with realm() as opened:
            return make_report(opened.engine, self.report_type).as_json()
