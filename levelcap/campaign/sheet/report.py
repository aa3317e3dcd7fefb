"""Gains and costs over time: Elo a training day, what a point of Elo cost, what failed, who was
crowned; this period beside the one before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import sqrt

import numpy as np

from levelcap.campaign.story import events, runs
from levelcap.campaign.story.rows import Row
from levelcap.kit.db import Connection, Database, reading
from levelcap.kit.stats import Z95
from levelcap.trials.cost import MODEL, Prices, prices
from levelcap.trials.verdict import Figure
from levelcap.vault.champion import history
from levelcap.vault.evals import CONFIRMED, evaluations
from levelcap.vault.lookup import Day, days

WEEK = timedelta(days=7)
DAY_S = 86_400.0
# What people ask for first; an event of another kind is "other".
FAMILIES = {
    "failures": ("job.failed", "job.dead", "job.requeued"),
    "breaker": ("training.halted",),
    "divergences": ("training.diverged",),
    "dead processes": ("job.expired", "service.down", "service.flapping"),
}


@dataclass(frozen=True)
class RunCost:
    """What a run gained for certain, with its interval, and what a point of Elo cost there."""

    run: str
    gain: float | None
    low: float | None
    high: float | None
    cost_per_elo: float | None


@dataclass(frozen=True)
class Crowned:
    """A promotion of the period; saving: what it needs of the time and bytes of its predecessor."""

    time: str
    hero: str
    checkpoint: str
    reason: str
    saving: str | None
    confirmed: str | None
    """Elo in fresh games"""


@dataclass(frozen=True)
class Totals:
    """What runs that began in one period gained and took."""

    runs: int = 0
    core_seconds: float = 0.0
    training_days: float = 0.0
    gain: Figure | None = None
    """Elo of all runs added up; None: nothing was measured"""
    elo_per_day: Figure | None = None
    """of training"""
    cost_per_elo: Figure | None = None
    """core-seconds; None: the gain may be none"""
    joules: float = 0.0
    price: float | None = None
    """None: nobody has said what a core-hour or a kWh costs"""
    incidents: int = 0


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
    families: dict[str, int]
    """incidents by what went wrong"""
    now: Totals
    before: Totals | None
    """the same time before; None: the report goes back to the beginning"""
    trend: Figure | None
    """factor by which a point of Elo becomes dearer from one run to the next; None: too few runs"""
    crowned: list[Crowned]
    energy_source: str
    price_source: str

    def table(self) -> list[tuple[str, str, str]]:
        """Rows of name, this period, the one before."""
        both = (self.now, self.before or Totals())
        rows = [
            ("Elo gained", *(_text(t.gain, "+.0f") for t in both)),
            ("Elo per training day", *(_text(t.elo_per_day, "+.0f") for t in both)),
            ("core-seconds", *(f"{t.core_seconds:,.0f}" for t in both)),
            ("core-seconds per Elo", *(_text(t.cost_per_elo, ".1f", "∞") for t in both)),
            (f"energy, kJ ({self.energy_source})", *(f"{t.joules / 1e3:,.1f}" for t in both)),
            (f"price ({self.price_source})", *(str(t.price) for t in both)),
            ("incidents", *(str(t.incidents) for t in both)),
        ]
        return [(name, now, before if self.before else "–") for name, now, before in rows]

    def block(self) -> str:
        """To be copied."""
        found = [f"{self.type} report since {(self.since or 'the beginning')[:16]}"]
        found += [f"{name}: {now} (before: {before})" for name, now, before in self.table()]
        found.append(f"price of an Elo from run to run: × {_text(self.trend, '.2f')}")
        found += [f"{count} {name}" for name, count in self.families.items()]
        for row in self.crowned:
            found.append(f"crowned {row.checkpoint}: {row.reason}; fresh games: {row.confirmed}")
        found += [f"saving of {row.checkpoint}: {row.saving}" for row in self.crowned if row.saving]
        return "\n".join(found)


def make_report(engine: Database, report_type: str = "weekly") -> GainReport:
    """Read it from ledger, runs and events."""
    until = datetime.now(UTC)
    since = "" if report_type == "campaign" else (until - WEEK).isoformat()
    costs = prices()
    with reading(engine) as connection:
        known = runs.list_runs(connection, limit=1000)
        spent = [run for run in known if run.started >= since]
        incidents = events.count_incidents(connection, since)
        rows = days(connection, since)
        crowned = _crowned(connection, since)
        now = _totals(spent, sum(incidents.values()), costs)
        before = None
        if since:
            earlier = (until - 2 * WEEK).isoformat()
            failed = events.count_incidents(connection, earlier, since)
            old = [run for run in known if earlier <= run.started < since]
            before = _totals(old, sum(failed.values()), costs)
    worth = [run for run in spent if run.cost_per_elo is not None]
    return GainReport(
        type=report_type,
        since=since or None,
        days=rows,
        incidents=incidents,
        runs=len(spent),
        runs_with_gain=len(worth),
        core_seconds=now.core_seconds,
        cost_per_elo=[
            RunCost(run.id, run.gain, run.gain_low, run.gain_high, run.cost_per_elo)
            for run in worth
        ],
        families=_families(incidents),
        now=now,
        before=before,
        trend=trend_of([run.cost_per_elo for run in worth[::-1] if run.cost_per_elo]),
        crowned=crowned,
        energy_source=MODEL[1],
        price_source=costs.text(),
    )


def _totals(spent: list[runs.Run], incidents: int, costs: Prices) -> Totals:
    core_seconds = round(sum(run.core_seconds for run in spent), 1)
    training_days = sum(run.seconds for run in spent) / DAY_S
    joules = core_seconds * MODEL[0]
    gains = np.array([(r.gain, r.gain_low, r.gain_high) for r in spent if r.gain is not None])
    gain = daily = cost = None
    if len(gains):
        # Runs are measured apart: their errors add up as squares.
        half = Z95 * sqrt(float((((gains[:, 2] - gains[:, 1]) / 2 / Z95) ** 2).sum()))
        middle = float(gains[:, 0].sum())
        gain = (middle, middle - half, middle + half)
        if training_days:
            daily = (gain[0] / training_days, gain[1] / training_days, gain[2] / training_days)
        if gain[1] > 0:
            cost = (core_seconds / middle, core_seconds / gain[2], core_seconds / gain[1])
    price = costs.of(core_seconds, joules)
    price = None if price is None else round(price, 6)
    took = (core_seconds, training_days, gain, daily, cost, joules, price, incidents)
    return Totals(len(spent), *took)


def trend_of(costs: list[float]) -> Figure | None:
    """Factor from one run to the next: least squares on logarithms, with a 95 % interval."""
    from scipy.stats import linregress, t  # half a second to import, and few need it

    if len(costs) < 3:
        return None
    line = linregress(range(len(costs)), np.log(costs))
    half = float(t.ppf(0.975, len(costs) - 2)) * float(line.stderr)
    low, middle, high = (float(np.exp(line.slope + part)) for part in (-half, 0.0, half))
    return middle, low, high


def _families(incidents: dict[str, int]) -> dict[str, int]:
    found = dict.fromkeys((*FAMILIES, "other"), 0)
    for kind, count in incidents.items():
        family = next((name for name, kinds in FAMILIES.items() if kind in kinds), "other")
        found[family] += count
    return found


def _crowned(connection: Connection, since: str) -> list[Crowned]:
    found = []
    for line in history(connection, None, 1000):
        if line.time >= since:
            saving = line.verdict.get("parts", {}).get("strength", {}).get("saving", {})
            said = None
            if saving.get("is_saving"):
                new, old = saving["bytes"]
                said = f"time × {saving['time_ratio'][0]:.2f}, bytes {old:,} -> {new:,}"
            fresh = [row["text"] for row in evaluations(connection, line.checkpoint, [CONFIRMED])]
            named = (line.time, line.hero, line.checkpoint, line.reason)
            found.append(Crowned(*named, said, fresh[-1] if fresh else None))
    return found


def _text(figure: Figure | None, form: str, none: str = "not measured") -> str:
    if figure is None:
        return none
    return f"{figure[0]:{form}} ({figure[1]:{form}} to {figure[2]:{form}})"
