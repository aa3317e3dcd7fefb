"""Gains and costs over time: Elo per day, core-seconds a point of Elo, what failed."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from levelcap.campaign.story import events, runs
from levelcap.kit.db import Database, reading
from levelcap.vault.lookup import days

WEEK = timedelta(days=7)


def make_report(engine: Database, report_type: str = "weekly") -> dict[str, Any]:
    """Plain values; `days` has a row a day with the best Elo reached and what was spent."""
    since = "" if report_type == "campaign" else (datetime.now(UTC) - WEEK).isoformat()
    with reading(engine) as connection:
        rows = [asdict(day) for day in days(connection, since)]
        found = events.count_incidents(connection, since)
        spent = runs.list_runs(connection, limit=1000)
    worth = [run for run in spent if run.cost_per_elo is not None and run.started >= since]
    return {
        "type": report_type,
        "since": since or None,
        "days": rows,
        "incidents": found,
        "runs": len(spent),
        "runs_with_gain": len(worth),
        "core_seconds": round(sum(run.core_seconds for run in spent if run.started >= since), 1),
        "cost_per_elo": [
            {
                "run": run.id,
                "gain": run.gain,
                "low": run.gain_low,
                "high": run.gain_high,
                "cost_per_elo": run.cost_per_elo,
            }
            for run in worth
        ],
    }
