"""Gains and costs over time: Elo per day, core-seconds a point of Elo, what failed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from levelcap.campaign.story import events, runs
from levelcap.campaign.story.rows import Row
from levelcap.kit.db import Database, reading
from levelcap.vault.lookup import Day, days

WEEK = timedelta(days=7)


@dataclass(frozen=True)
class RunCost:
    """What a run gained for certain, with its interval, and what a point of Elo cost there."""

    run: str
    gain: float | None
    low: float | None
    high: float | None
    cost_per_elo: float | None


@dataclass(frozen=True)
class GainReport(Row):
    """`days` has a row a day with the best Elo reached and what was spent; incidents by kind."""

    type: str
    since: str | None
    days: list[Day]
    incidents: dict[str, int]
    runs: int
    runs_with_gain: int
    core_seconds: float
    cost_per_elo: list[RunCost]


def make_report(engine: Database, report_type: str = "weekly") -> GainReport:
    """Read it from ledger, runs and events."""
    since = "" if report_type == "campaign" else (datetime.now(UTC) - WEEK).isoformat()
    with reading(engine) as connection:
        rows = days(connection, since)
        found = events.count_incidents(connection, since)
        spent = runs.list_runs(connection, limit=1000)
    worth = [run for run in spent if run.cost_per_elo is not None and run.started >= since]
    return GainReport(
        type=report_type,
        since=since or None,
        days=rows,
        incidents=found,
        runs=len(spent),
        runs_with_gain=len(worth),
        core_seconds=round(sum(run.core_seconds for run in spent if run.started >= since), 1),
        cost_per_elo=[
            RunCost(run.id, run.gain, run.gain_low, run.gain_high, run.cost_per_elo)
            for run in worth
        ],
    )
