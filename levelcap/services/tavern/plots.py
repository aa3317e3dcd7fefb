"""What charts show: series over two named axes, at most 1,000 points each (`static/plot.js`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from levelcap.campaign.sheet.guild import SkillSheet
from levelcap.campaign.sheet.league import Member
from levelcap.campaign.sheet.report import RunCost
from levelcap.campaign.sheet.strength import StrengthCurve
from levelcap.vault.lookup import Day

GOLD, EMBER, TEAL, MUTED = "#f0b95b", "#e2703a", "#67b8a4", "#a99a88"
BLUE = "#7fa8d9"
KINDS = {"main": GOLD, "main_exploiter": EMBER, "league_exploiter": TEAL, "bot": MUTED}
ELO = {"name": "Elo (rookie = 1000)"}
MINUTES = {"name": "training (core-minutes)"}


def _row(
    kind: str, name: str, points: Iterable[Sequence[Any]], colour: str = GOLD, **more: Any
) -> dict[str, Any]:
    return {"kind": kind, "name": name, "points": list(points), "colour": colour, **more}


def curve(data: dict[str, Any]) -> dict[str, Any]:
    """A rolled-up curve: mean as a line, low to high as a band."""
    what, steps = data["metric"].replace("_", " "), data["step"]
    unit = "" if data["unit"] == "1" else f" ({data['unit']})"
    band = _row("band", "range", zip(steps, data["low"], data["high"], strict=True))
    mean = _row("line", what, zip(steps, data["mean"], strict=True))
    return {
        "x": {"name": "optimizer updates"},
        "y": {"name": f"{what}{unit}"},
        "series": [band, mean],
    }


def strength(found: StrengthCurve) -> dict[str, Any]:
    """Elo over training with its 95 % band; champions wear crowns, bots are named lines."""
    rows = [(spent / 60, *rest) for spent, *rest in found.points]
    ends = (0.0, rows[-1][0] or 1.0)
    rules = [
        _row("rule", bot, [(end, elo) for end in ends], MUTED) for bot, elo in found.bots.items()
    ]
    band = _row("band", "95 % interval", [(x, low, high) for x, _, low, high in rows])
    line = _row("line", "Elo", [(x, round(elo)) for x, elo, *_ in rows], dots=True)
    crowns = _row("crowns", "champion", [(x / 60, round(elo)) for x, elo in found.crowns])
    return {"x": MINUTES, "y": ELO, "series": [*rules, band, line, crowns]}


def skill_levels(skills: list[SkillSheet]) -> dict[str, Any]:
    """Level over training, skill by skill, and the cap that a skill is heading for."""
    series: list[dict[str, Any]] = []
    longest = max((row.standing.core_seconds or 0.0 for row in skills), default=0.0) / 60
    for sheet, colour in zip(skills, (GOLD, TEAL, EMBER, MUTED) * len(skills), strict=False):
        row, cap = sheet.standing, sheet.cap
        points = [(0.0, 1), *((seconds / 60, level) for level, seconds in row.level_ups)]
        points += [(row.core_seconds / 60, row.level)] if row.core_seconds else []
        series.append(_row("line", row.skill.upper(), points, colour, step=True))
        if cap.cap is not None:
            ends = [(end, round(cap.cap, 1)) for end in (0.0, longest)]
            series.append(_row("rule", f"{row.skill.upper()} is heading for", ends, colour))
    return {"x": MINUTES, "y": {"name": "level", "least": 1}, "series": series}


def overlaid(curves: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Curves of several runs over one pair of axes."""
    colours, series, what = (GOLD, TEAL, EMBER, MUTED, BLUE), [], ""
    for (name, data), colour in zip(curves, colours, strict=False):
        what = data["metric"].replace("_", " ")
        series.append(_row("line", name, zip(data["step"], data["mean"], strict=True), colour))
    return {"x": {"name": "optimizer updates"}, "y": {"name": what}, "series": series}


def elo_per_day(rows: list[Day]) -> dict[str, Any]:
    """Best Elo of each day with its 95 % interval."""
    judged = [(i, row) for i, row in enumerate(rows) if row.elo is not None]
    line = _row("line", "Elo", [(i, row.elo) for i, row in judged], dots=True)
    bars = [(i, row.elo_low, row.elo_high) for i, row in judged]
    days = {"name": "day (UTC)", "labels": [row.day for row in rows]}
    return {"x": days, "y": ELO, "series": [line, _row("whiskers", "95 % interval", bars, TEAL)]}


def league(members: list[Member]) -> dict[str, Any]:
    """Elo of a season's frozen players at the turn they came in, kind by kind, with whiskers."""
    series: list[dict[str, Any]] = []
    for kind, colour in KINDS.items():
        rows = [(m.born, *m.elo) for m in members if m.kind == kind and m.elo is not None]
        if rows:
            points = [(born, round(elo)) for born, elo, *_ in rows]
            series.append(_row("line", kind, points, colour, dots=True))
            bars = [(born, low, high) for born, _, low, high in rows]
            series.append(_row("whiskers", f"{kind} 95 %", bars, colour))
    return {"x": {"name": "turn"}, "y": ELO, "series": series}


def levels(points: list[list[float]]) -> dict[str, Any]:
    """Levels over compute: a step at every level-up."""
    steps = _row("line", "level", points, step=True, dots=True)
    compute = {"name": "compute (core-seconds)"}
    return {"x": compute, "y": {"name": "level", "least": 1}, "series": [steps]}


def cost_per_elo(rows: list[RunCost]) -> dict[str, Any]:
    """Core-seconds a point of Elo, a bar a run."""
    costs = [(i, row.cost_per_elo) for i, row in enumerate(rows)]
    bars = _row("bars", "core-seconds a point", costs, EMBER)
    runs = {"name": "run", "labels": [row.run for row in rows]}
    return {"x": runs, "y": {"name": "core-seconds per Elo"}, "series": [bars]}
