"""Gains and costs over time: Elo per day, core-seconds a point of Elo, what failed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from levelcap.campaign.story import runs
from levelcap.kit.db import Connection, Database, reading

WEEK = timedelta(days=7)


def make_report(engine: Database, report_type: str = "weekly") -> dict[str, Any]:
    """Plain values; `days` has a row a day with the best Elo reached and what was spent."""
    since = "" if report_type == "campaign" else (datetime.now(UTC) - WEEK).isoformat()
    with reading(engine) as connection:
        days = connection.execute(
            "SELECT substr(timestamp, 1, 10) AS day, count(*) AS checkpoints, max(elo) AS elo,"
            " max(cost_core_seconds) AS core_seconds FROM ledger WHERE timestamp >= :s"
            " GROUP BY day ORDER BY day",
            {"s": since},
        )
        rows = [row._asdict() for row in days]
        best = _best_of_days(connection, since)
        rows = [{**row, **best.get(row["day"], _UNJUDGED)} for row in rows]
        incidents = connection.execute(
            "SELECT kind, count(*) FROM events WHERE severity IN ('error', 'warning')"
            " AND time >= :s GROUP BY kind ORDER BY kind",
            {"s": since},
        )
        found = {kind: count for kind, count in incidents}
        spent = runs.list_runs(connection, limit=1000)
    worth = [run for run in spent if run.cost_per_elo is not None and run.started >= since]
    return {
        "type": report_type, "since": since or None, "days": rows, "incidents": found,
        "runs": len(spent), "runs_with_gain": len(worth),
        "core_seconds": round(sum(run.core_seconds for run in spent if run.started >= since), 1),
        "cost_per_elo": [
            {"run": run.id, "gain": run.gain, "low": run.gain_low, "high": run.gain_high,
             "cost_per_elo": run.cost_per_elo}
            for run in worth
        ],
    }  # fmt: skip


_UNJUDGED = {"elo_low": None, "elo_high": None, "elo_bound": None, "checkpoint": None}


def _best_of_days(connection: Connection, since: str) -> dict[str, dict[str, Any]]:
    """Day -> interval and id of that day's strongest checkpoint."""
    # With one max() SQLite takes the other columns from the row that has it.
    query = (
        "SELECT substr(timestamp, 1, 10) AS day, max(elo), elo_low, elo_high, elo_bound,"
        " id AS checkpoint FROM ledger WHERE timestamp >= :s AND elo IS NOT NULL GROUP BY day"
    )
    found = connection.execute(query, {"s": since})
    return {row.day: {name: getattr(row, name) for name in _UNJUDGED} for row in found}
