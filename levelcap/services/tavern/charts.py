"""Charts of pages: ECharts in an element of ours, at most 1,000 points a curve, axes with units."""

from __future__ import annotations

from typing import Any

import nicegui.elements.echart  # noqa: F401  (makes its module known to the pages)
from nicegui.element import Element

from levelcap.campaign.sheet.league import Member
from levelcap.campaign.sheet.report import RunCost
from levelcap.services.tavern.tags import STATIC, put
from levelcap.vault.lookup import Day

GOLD, EMBER, TEAL, MUTED, LINE = "#f0b95b", "#e2703a", "#67b8a4", "#a99a88", "#3a3027"


class Chart(Element, component=STATIC / "chart.js"):
    """A chart; `label` is what a screen reader says, `name` the file name of its picture."""

    def __init__(
        self, options: dict[str, Any], label: str, name: str = "chart", classes: str = ""
    ) -> None:
        super().__init__()
        self._props.update(options=options, label=label, name=name)
        self.classes(f"chart {classes}")

    def show(self, options: dict[str, Any]) -> None:
        """Draw other values."""
        put(self, options=options)


def _axis(name: str, kind: str = "value", **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "name": name,
        "nameLocation": "middle",
        "nameGap": 30,
        "nameTextStyle": {"color": MUTED},
        "axisLabel": {"color": MUTED, "hideOverlap": True},
        "axisLine": {"lineStyle": {"color": LINE}},
        "splitLine": {"lineStyle": {"color": LINE}},
        **more,
    }


def _base(x: dict[str, Any], y: dict[str, Any], series: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "animation": False,
        "backgroundColor": "transparent",
        "grid": {"left": 64, "right": 18, "top": 24, "bottom": 48},
        "tooltip": {
            "trigger": "axis",
            "backgroundColor": "#241d17",
            "borderColor": LINE,
            "textStyle": {"color": "#f1e7d6"},
        },
        "xAxis": x,
        "yAxis": y,
        "series": series,
    }


def _line(name: str, data: list[Any], **more: Any) -> dict[str, Any]:
    style = {"lineStyle": {"color": GOLD, "width": 2}, "itemStyle": {"color": GOLD}}
    return {"type": "line", "name": name, "data": data, **style, **more}


def curve(data: dict[str, Any], what: str) -> dict[str, Any]:
    """A rolled-up curve: mean as a line, low to high as a band."""
    steps, low, high = data["step"], data["low"], data["high"]
    spread = [h - a for a, h in zip(low, high, strict=True)]

    def points(values: list[float]) -> list[list[float]]:
        return [list(point) for point in zip(steps, values, strict=True)]

    # The band is the spread, stacked on a line that nobody sees.
    unseen = {"lineStyle": {"opacity": 0}, "tooltip": {"show": False}}
    stacked = {"symbol": "none", "stack": "band", "silent": True, **unseen}
    fill = {"areaStyle": {"color": GOLD, "opacity": 0.14}}
    series = [
        _line("low", points(low), **stacked),
        _line("spread", points(spread), **stacked, **fill),
        _line(what, points(data["mean"]), symbol="none"),
    ]
    unit = "" if data["unit"] == "1" else f" ({data['unit']})"
    updates = _axis("optimizer updates", min="dataMin", max="dataMax")
    return _base(updates, _axis(f"{what}{unit}", scale=True), series)


def elo_per_day(rows: list[Day]) -> dict[str, Any]:
    """Best Elo of each day with its 95 % interval."""
    bars = [[i, row.elo_low, row.elo_high] for i, row in enumerate(rows) if row.elo is not None]
    line = _line("Elo", [row.elo for row in rows], symbolSize=9, connectNulls=True)
    whiskers = {"type": "custom", "name": "95 % interval", "data": bars, "whiskers": TEAL}
    days = _axis("day (UTC)", "category", data=[row.day for row in rows])
    return _base(days, _axis("Elo (rookie = 1000)", scale=True), [line, whiskers])


def league(members: list[Member]) -> dict[str, Any]:
    """Elo of a season's frozen players at the turn they came in, kind by kind, with whiskers."""
    colours = {"main": GOLD, "main_exploiter": EMBER, "league_exploiter": TEAL, "bot": MUTED}
    series: list[dict[str, Any]] = []
    for kind, colour in colours.items():
        rows = [(m.born, *m.elo) for m in members if m.kind == kind and m.elo is not None]
        look = {"lineStyle": {"color": colour, "width": 2}, "itemStyle": {"color": colour}}
        points = [[born, round(elo)] for born, elo, *_ in rows]
        series.append({"type": "line", "name": kind, "data": points, "symbolSize": 8, **look})
        bars = [[born, low, high] for born, _, low, high in rows]
        whiskers = {"type": "custom", "name": f"{kind} 95 %", "data": bars, "whiskers": colour}
        series.append(whiskers)
    return _base(_axis("turn", min=0), _axis("Elo (rookie = 1000)", scale=True), series)


def levels(points: list[list[float]]) -> dict[str, Any]:
    """Levels over compute: a step at every level-up."""
    steps = _line("level", points, step="end", symbolSize=7)
    compute = _axis("compute (core-seconds)", min=0)
    return _base(compute, _axis("level", min=1, minInterval=1), [steps])


def cost_per_elo(rows: list[RunCost]) -> dict[str, Any]:
    """Core-seconds a point of Elo, a bar a run."""
    look = {"itemStyle": {"color": EMBER}, "barMaxWidth": 42}
    costs = [row.cost_per_elo for row in rows]
    bars = {"type": "bar", "name": "core-seconds a point", "data": costs, **look}
    runs = _axis("run", "category", data=[row.run for row in rows])
    return _base(runs, _axis("core-seconds per Elo"), [bars])
