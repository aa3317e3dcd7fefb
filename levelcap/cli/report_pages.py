"""A run, or a week of the realm, as one HTML file that can be sent to somebody."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from levelcap.campaign.realm import Realm
from levelcap.campaign.sheet.report import GainReport
from levelcap.campaign.story import events, runs
from levelcap.campaign.story.curves import new_rows
from levelcap.cli.curve import Curve, thin
from levelcap.cli.samples import COLUMNS
from levelcap.cli.samples import FILE as SAMPLES
from levelcap.kit.files import read_json, read_jsonl
from levelcap.kit.paths import without_paths
from levelcap.learn.engine.folder import CONFIG, EVENTS, METRICS, leaves
from levelcap.services.document import render, when
from levelcap.vault.ledger import elo_text, get_ledger

# Drawn first, in this order; what only counts is not drawn.
FIRST = ("loss", "policy_loss", "value_loss", "exact", "token_accuracy", "entropy", "kl")
COUNTS = {
    *("step", "time", "non_finite", "steps", "updates", "total_updates", "seconds"),
    *("core_seconds", "skipped", "lag_min", "lag_max", "reuse", "too_long"),
}
FACTS = ("kind", "world", "skill", "preset", "family", "size", "seed", "start")
MOST = 14
BYTES = 1 << 28


def run_page(opened: Realm, place: Path) -> str:
    """Command, settings, curves, checkpoints, cost, incidents, sampled answers of one run."""
    config, (rows, _) = read_json(place / CONFIG), new_rows(place / METRICS, 0, BYTES)
    row = opened.read(runs.find, place.name)
    kept = get_ledger(opened.engine).list(run=place.name, limit=1000)[::-1]
    samples = read_json(place / SAMPLES) if (place / SAMPLES).is_file() else {}
    cells = [
        (
            *(one.id, f"{one.step:,}", when(one.timestamp), one.elo_text()),
            *map(_short, (one.train_loss, one.accuracy, one.cost_core_seconds)),
        )
        for one in kept
    ]
    return render(
        "run.html",
        name=place.name,
        run=row,
        facts=_facts(row, config, rows[-1] if rows else {}),
        strength=_strength("Elo, 95 % interval", ((float(one.step), one) for one in kept)),
        curves=_curves(rows),
        checkpoints=cells,
        samples=samples,
        answers=[[one[name] for name in COLUMNS] for one in samples.get("samples", ())],
        incidents=_incidents(opened, place, row),
        settings=sorted((k, without_paths(str(v))) for k, v in leaves(config["config"]).items()),
    )


def _facts(
    row: runs.Run | None, config: dict[str, Any], last: dict[str, Any]
) -> list[tuple[str, str]]:
    told = {name: config.get(name) for name in FACTS}
    found = [(k, without_paths(str(v))) for k, v in told.items() if v not in (None, "")]
    # The row is written when a round ends; the metrics are further while one is being fought.
    seconds, cost = (
        max(float(getattr(row, name, 0.0)), float(last.get(name) or 0.0))
        for name in ("seconds", "core_seconds")
    )
    found += [("updates", f"{last.get('step', 0):,}"), ("time", f"{seconds:,.0f} s")]
    found.append(("cost", f"{cost:,.0f} core-seconds"))
    if row is not None:
        found += [("began", when(row.started)), ("ended", when(row.ended or "not yet"))]
        found.append(("gain, Elo", f"{_gain(row) or 'not measured'}, {row.worth or 'not judged'}"))
        found.append(("core-seconds a point of Elo", _short(row.cost_per_elo) or "not known"))
    return found


def _strength(name: str, judged: Iterable[tuple[float, Any]]) -> Curve | None:
    """Elo with its interval over steps or days; None: two points are needed."""
    known = [(x, one.elo, one.elo_low, one.elo_high) for x, one in judged if one.elo is not None]
    return Curve(name, *zip(*known, strict=True)) if len(known) > 1 else None


def _curves(rows: list[dict[str, Any]]) -> list[Curve]:
    names = dict.fromkeys(name for row in rows for name in row if name not in COUNTS)
    order = [*(n for n in FIRST if n in names), *(n for n in names if n.startswith("score_"))]
    found = []
    for name in dict.fromkeys([*order, *names]):
        told = [(row["step"], row[name]) for row in rows if isinstance(row.get(name), int | float)]
        if len(told) > 1:
            found.append(thin(name, *zip(*told, strict=True)))
    return found[:MOST]


def _incidents(opened: Realm, place: Path, row: runs.Run | None) -> list[tuple[str, str, str]]:
    told = read_jsonl(place / EVENTS).records if (place / EVENTS).exists() else []
    found = [
        (when(datetime.fromtimestamp(e["time"], UTC).isoformat()), str(e["event"]), str(e))
        for e in told
        if e["event"] == "rolled back" or e.get("rolled_back")
    ]
    for event in opened.read(events.list_events, limit=1000) if row else ():
        during = row is not None and row.started <= event.time <= (row.ended or "~")
        if during and event.severity in ("error", "warning"):
            found.append((when(event.time), event.kind, event.message))
    return sorted(found)


def week_page(opened: Realm, found: GainReport) -> str:
    """What was gained, what it cost, what went wrong; every run of the time."""
    known = [r for r in opened.read(runs.list_runs, limit=1000) if r.started >= (found.since or "")]
    days = [
        (d.day, d.checkpoints, elo_text(d.elo, d.elo_low, d.elo_high, d.elo_bound), d.checkpoint)
        for d in found.days
    ]
    told = [
        (r.id, r.skill or r.world, r.seed, f"{r.core_seconds:,.0f}", _gain(r), r.worth, r.command)
        for r in known
    ]
    return render(
        "week.html",
        found=found,
        strength=_strength("", ((float(n + 1), day) for n, day in enumerate(found.days))),
        days=days,
        crowned=[
            (when(c.time), c.hero, c.checkpoint, c.reason, c.confirmed) for c in found.crowned
        ],
        runs=told,
    )


def _gain(run: runs.Run) -> str:
    if run.gain is None:
        return ""
    return f"{run.gain:+.0f} ({run.gain_low:+.0f} to {run.gain_high:+.0f})"


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
