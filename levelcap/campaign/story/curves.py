"""Curves of runs: metrics.jsonl rolled up at three zooms, at most 1,000 points each.

    roll_up(engine)                      # the Keeper, every few seconds: takes in what is new
    read(connection, run, "loss", "all") # steps, mean, low and high of every point

metrics.jsonl stays the truth; these tables can be deleted and are made again. A point stands for
`width` rows of the file: 1 in "live" (the newest rows), 10 in "recent", and in "all" as many as it
takes for the whole run to fit, doubled whenever it does not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from levelcap.campaign.story.runs import new_lines, run_folder
from levelcap.kit.db import Connection, Database, reading, transaction
from levelcap.kit.errors import unknown_name
from levelcap.vault.assets import now

POINTS = 1000
ZOOMS = {"all": 1, "recent": 10, "live": 1}  # zoom -> rows a point at first
METRICS = (
    *("loss", "policy_loss", "value_loss", "entropy", "kl", "grad_norm", "lr", "steps_per_s"),
    *("score_rookie", "score_veteran", "score_master", "exact", "accuracy", "level"),
)
UNITS = {"loss": "nats", "steps_per_s": "steps/s", "entropy": "nats", "kl": "nats"}
MAX_BYTES = 4 << 20  # taken in by one call and run; the rest follows with the next


@dataclass
class Curve:
    """Points of one metric at one zoom; the last one may still be filling."""

    width: int
    slides: bool  # True: the oldest points go; False: pairs of points are joined
    step: list[int] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def add(self, step: int, value: float) -> None:
        """Take in one row."""
        if self.rows and self.rows[-1] < self.width:
            n = self.rows[-1]
            self.step[-1], self.rows[-1] = step, n + 1
            self.mean[-1] += (value - self.mean[-1]) / (n + 1)
            self.low[-1], self.high[-1] = min(self.low[-1], value), max(self.high[-1], value)
            return
        self.step.append(step)
        self.mean.append(value)
        self.low.append(value)
        self.high.append(value)
        self.rows.append(1)
        if len(self.rows) > POINTS:
            self._shorten()

    def _shorten(self) -> None:
        columns: tuple[list[Any], ...] = (self.step, self.mean, self.low, self.high, self.rows)
        if self.slides:
            for column in columns:
                del column[:-POINTS]
            return
        points = list(zip(*columns, strict=True))
        joined = [_join(points[i : i + 2]) for i in range(0, len(points), 2)]
        self.width *= 2
        for column, values in zip(columns, zip(*joined, strict=True), strict=True):
            column[:] = values

    def as_json(self) -> dict[str, Any]:
        """Plain values, five digits each."""
        short = {name: [_short(v) for v in getattr(self, name)] for name in ("mean", "low", "high")}
        return {"width": self.width, "step": self.step, "rows": self.rows, **short}


def _join(points: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    total = sum(p[4] for p in points)
    mean = sum(p[1] * p[4] for p in points) / total
    return points[-1][0], mean, min(p[2] for p in points), max(p[3] for p in points), total


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def new_rows(path: Path, offset: int, limit: int = MAX_BYTES) -> tuple[list[dict[str, Any]], int]:
    """Rows of a metrics.jsonl after a byte, and the byte to go on from."""
    found, end = new_lines(path, offset, limit)
    return [row for row in found if isinstance(row.get("step"), int)], end


_UNREAD = (
    "SELECT id, ended, coalesce(offset, 0) FROM runs LEFT JOIN curve_marks ON run = id"
    " WHERE ended IS NULL OR taken IS NULL OR taken <= ended"
)


def roll_up(engine: Database) -> int:
    """Take in what running and just ended runs have written; returns the number of rows."""
    with reading(engine) as connection:
        marks = connection.execute(_UNREAD).all()
    taken = 0
    for run, ended, offset in marks:
        path = run_folder(run) / "metrics.jsonl"
        size = path.stat().st_size if path.exists() else 0
        if size < offset:  # the file was replaced by an older one
            _forget(engine, run)
            offset = 0
        rows, end = new_rows(path, offset) if size > offset else ([], offset)
        if end != offset or ended is not None:
            # Only a run that is read to its end counts as taken after it ended.
            _take_in(engine, run, rows, end, now() if end >= size else "")
            taken += len(rows)
    return taken


def _forget(engine: Database, run: str) -> None:
    with transaction(engine) as connection:
        for table in ("curves", "curve_marks"):
            connection.execute(f"DELETE FROM {table} WHERE run = :r", {"r": run})


def _take_in(engine: Database, run: str, rows: list[dict[str, Any]], end: int, taken: str) -> None:
    with reading(engine) as connection:
        curves = {key: curve for key, curve in _stored(connection, run)}
    for metric in METRICS:
        points = [(row["step"], row[metric]) for row in rows if _is_number(row.get(metric))]
        for zoom, width in ZOOMS.items() if points else ():
            curve = curves.setdefault((metric, zoom), Curve(width, zoom != "all"))
            for step, value in points:
                curve.add(step, float(value))
    with transaction(engine) as connection:
        _write(connection, run, curves)
        connection.execute(
            "INSERT INTO curve_marks VALUES (:r, :o, :t) ON CONFLICT (run) DO UPDATE"
            " SET offset = excluded.offset, taken = excluded.taken",
            {"r": run, "o": end, "t": taken},
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _stored(connection: Connection, run: str) -> Iterable[tuple[tuple[str, str], Curve]]:
    query = "SELECT metric, zoom, data FROM curves WHERE run = :r"
    for metric, zoom, data in connection.execute(query, {"r": run}):
        yield (metric, zoom), Curve(slides=zoom != "all", **json.loads(data))


def _write(connection: Connection, run: str, curves: dict[tuple[str, str], Curve]) -> None:
    rows = [
        {"r": run, "m": metric, "z": zoom, "d": json.dumps(curve.as_json(), separators=(",", ":"))}
        for (metric, zoom), curve in curves.items()
    ]
    if rows:
        query = (
            "INSERT INTO curves VALUES (:r, :m, :z, :d)"
            " ON CONFLICT (run, metric, zoom) DO UPDATE SET data = excluded.data"
        )
        connection.execute_many(query, rows)


def read(connection: Connection, run: str, metric: str, zoom: str = "all") -> dict[str, Any]:
    """One curve as plain values; empty lists when the run has no such points yet.

    Raises:
        UnknownName: no such metric or zoom.
    """
    if metric not in METRICS:
        raise unknown_name("metric", metric, METRICS)
    if zoom not in ZOOMS:
        raise unknown_name("zoom", zoom, ZOOMS)
    query = "SELECT data FROM curves WHERE run = :r AND metric = :m AND zoom = :z"
    found = connection.execute(query, {"r": run, "m": metric, "z": zoom}).scalar()
    data = Curve(ZOOMS[zoom], zoom != "all").as_json() if found is None else json.loads(found)
    return {"run": run, "metric": metric, "zoom": zoom, "unit": UNITS.get(metric, "1"), **data}


def metrics_of(connection: Connection, run: str) -> list[str]:
    """Names of the metrics a run has points of, in the order of `METRICS`."""
    query = "SELECT DISTINCT metric FROM curves WHERE run = :r"
    found = set(connection.execute(query, {"r": run}).scalars())
    return [name for name in METRICS if name in found]
