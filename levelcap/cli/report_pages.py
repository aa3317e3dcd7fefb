"""A run, or a week of the realm, as a page that can be sent to somebody."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import levelcap
from levelcap.campaign.realm import Realm
from levelcap.campaign.sheet.report import GainReport
from levelcap.campaign.story import events, runs
from levelcap.campaign.story.curves import new_rows
from levelcap.cli.page import Curve, Page, thin
from levelcap.cli.samples import FILE as SAMPLES
from levelcap.kit.files import read_json, read_jsonl
from levelcap.kit.paths import without_paths
from levelcap.learn.engine.folder import CONFIG, EVENTS, METRICS, leaves
from levelcap.vault.ledger import Entry, elo_text, get_ledger

# Drawn first, in this order; what only counts is not drawn.
FIRST = ("loss", "policy_loss", "value_loss", "exact", "token_accuracy", "entropy", "kl")
COUNTS = {
    *("step", "time", "non_finite", "steps", "updates", "total_updates", "seconds"),
    *("core_seconds", "skipped", "lag_min", "lag_max", "reuse", "too_long"),
}
MOST = 14
ROWS = 200
BYTES = 1 << 28


def run_page(opened: Realm, place: Path) -> Page:
    """Command, settings, curves, checkpoints, cost, incidents, sampled answers of one run."""
    page, config = Page(f"Run {place.name}"), read_json(place / CONFIG)
    rows, _ = new_rows(place / METRICS, 0, BYTES)
    row = opened.read(runs.find, place.name)
    kept = get_ledger(opened.engine).list(run=place.name, limit=1000)[::-1] if row else []
    page.words(f"Written {_now()} by levelcap {levelcap.__version__}.")
    page.table((), _facts(row, config, rows))
    if row is not None:
        page.head("Command")
        page.code(f"levelcap {row.command.removeprefix('levelcap ')}")
    judged = [one for one in kept if one.elo is not None]
    if judged:
        page.head("Strength")
        page.curves({"Elo, 95 % interval": _elo_curve(judged)}, "updates")
    page.head("Curves")
    page.curves(_curves(rows), "updates")
    _add_checkpoints(page, kept)
    _add_samples(page, place)
    _add_incidents(page, opened, place, row)
    page.head("Settings")
    told = leaves(config.get("config", {}))
    page.table(("setting", "value"), sorted((k, without_paths(str(v))) for k, v in told.items()))
    return page


def _facts(
    row: runs.Run | None, config: dict[str, Any], rows: list[dict[str, Any]]
) -> list[tuple[str, Any]]:
    last = rows[-1] if rows else {}
    # The row is written when a round ends; the metrics are further while one is being fought.
    seconds, cost = (
        max(float(getattr(row, name, 0.0)), float(last.get(name) or 0.0))
        for name in ("seconds", "core_seconds")
    )
    names = ("kind", "world", "skill", "preset", "family", "size", "seed", "start")
    told = {name: config.get(name) for name in names}
    found = [(k, without_paths(str(v))) for k, v in told.items() if v not in (None, "")]
    found += [
        ("updates", f"{last.get('step', 0):,}"),
        ("time", f"{seconds:,.0f} s"),
        ("cost", f"{cost:,.0f} core-seconds"),
    ]
    if row is not None:
        found += [("began", _when(row.started)), ("ended", _when(row.ended or "not yet"))]
        if row.gain is not None:
            interval = f"({row.gain_low:+.0f} to {row.gain_high:+.0f})"
            found.append(("gain", f"{row.gain:+.0f} Elo {interval}"))
        if row.cost_per_elo is not None:
            found.append(("cost of a point of Elo", f"{row.cost_per_elo:.2f} core-seconds"))
        found.append(("worth", row.worth or "not judged yet"))
    return found


def _elo_curve(judged: list[Entry]) -> Curve:
    elo, low, high = (
        [float(getattr(e, n)) for e in judged] for n in ("elo", "elo_low", "elo_high")
    )
    return [float(entry.step) for entry in judged], elo, low, high


def _curves(rows: list[dict[str, Any]]) -> dict[str, Curve]:
    names = dict.fromkeys(name for row in rows for name in row if name not in COUNTS)
    order = [*(n for n in FIRST if n in names), *(n for n in names if n.startswith("score_"))]
    order += [n for n in names if n not in order]
    found = {}
    for name in order[:MOST]:
        told = [(row["step"], row[name]) for row in rows if isinstance(row.get(name), int | float)]
        if len(told) > 1:
            found[name] = thin([x for x, _ in told], [float(y) for _, y in told])
    return found


def _add_checkpoints(page: Page, kept: list[Entry]) -> None:
    page.head("Checkpoints")
    cells = [
        (
            *(row.id, f"{row.step:,}", _when(row.timestamp), row.elo_text()),
            *(_short(row.train_loss), _short(row.accuracy), _short(row.cost_core_seconds)),
        )
        for row in kept
    ]
    columns = ("id", "step", "saved (UTC)", "Elo (95 % interval)", "loss", "accuracy", "core-s")
    page.table(columns, cells)


def _add_samples(page: Page, place: Path) -> None:
    if not (place / SAMPLES).is_file():
        return
    kept = read_json(place / SAMPLES)
    page.head("Sampled answers")
    page.words(str(kept["title"]))
    names = ("score", "form", "operation", "prompt", "answer", "expected")
    page.table(names, [[one[name] for name in names] for one in kept["samples"]])


def _add_incidents(page: Page, opened: Realm, place: Path, row: runs.Run | None) -> None:
    page.head("Incidents")
    told = read_jsonl(place / EVENTS).records if (place / EVENTS).exists() else []
    bad = [e for e in told if e.get("event") in ("rolled back", "diverged") or e.get("rolled_back")]
    found = [(_when(_iso(e.get("time", 0.0))), str(e["event"]), _rest(e)) for e in bad]
    if row is not None:
        ended = row.ended or "~"
        for event in opened.read(events.list_events, limit=1000):
            if event.severity in ("error", "warning") and row.started <= event.time <= ended:
                found.append((_when(event.time), event.kind, event.message))
    page.table(("when", "what", ""), sorted(found)[-ROWS:])


def week_page(opened: Realm, found: GainReport) -> Page:
    """What was gained, what it cost, what went wrong; every run of the time."""
    since = _when(found.since or "the beginning")
    page = Page(f"{found.type.capitalize()} report since {since}")
    page.words(f"Written {_now()} by levelcap {levelcap.__version__}.")
    page.table(("", "this period", "before"), found.table())
    judged = [day for day in found.days if day.elo is not None]
    page.head("Best Elo of a day, 95 % interval")
    if len(judged) > 1:
        elo, low, high = (
            [float(getattr(d, n) or 0) for d in judged] for n in ("elo", "elo_low", "elo_high")
        )
        days = [float(number + 1) for number in range(len(judged))]
        page.curves({f"{judged[0].day} to {judged[-1].day}": (days, elo, low, high)}, "days")
    page.table(
        ("day", "checkpoints", "best Elo", "of"),
        [
            (
                d.day,
                d.checkpoints,
                elo_text(d.elo, d.elo_low, d.elo_high, d.elo_bound),
                d.checkpoint,
            )
            for d in found.days
        ],
    )
    page.head("Crowned")
    page.table(
        ("when", "hero", "checkpoint", "why", "fresh games"),
        [(_when(c.time), c.hero, c.checkpoint, c.reason, c.confirmed) for c in found.crowned],
    )
    page.head("Runs")
    known = [r for r in opened.read(runs.list_runs, limit=1000) if r.started >= (found.since or "")]
    page.table(
        ("run", "world or skill", "seed", "core-s", "gain, Elo", "worth", "command"),
        [
            (
                r.id,
                r.skill or r.world,
                r.seed,
                f"{r.core_seconds:,.0f}",
                _gain(r),
                r.worth,
                r.command,
            )
            for r in known
        ],
    )
    page.head("Incidents")
    page.table(("kind", "how many"), sorted(found.incidents.items()))
    return page


def _gain(run: runs.Run) -> str:
    return (
        "" if run.gain is None else f"{run.gain:+.0f} ({run.gain_low:+.0f} to {run.gain_high:+.0f})"
    )


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _when(time: str) -> str:
    return time[:16].replace("T", " ")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _rest(event: dict[str, Any]) -> str:
    return ", ".join(f"{k} {v}" for k, v in event.items() if k not in ("time", "event"))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
