"""Curves with their intervals as a PNG picture of 1200 x 800.

plot_curves(path, [("hero", steps, elo, low, high)], title="Elo over time",
            x_label="minutes", y_label="Elo", lines={"veteran": 1335.0})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from levelcap.kit.errors import BadFile, BadValue, refuse
from levelcap.kit.files import room

WIDTH, HEIGHT, DPI = 1200, 800, 100
# Okabe and Ito's colours: told apart by colour-blind readers and in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
INK, FAINT = "#222222", "#777777"
Point = tuple[str, float, float, float, float]
Series = tuple[str, ArrayLike, ArrayLike, ArrayLike | None, ArrayLike | None]


def plot_curves(
    path: Path,
    series: Sequence[Series],
    *,
    title: str,
    x_label: str,
    y_label: str,
    lines: Mapping[str, float] | None = None,
    points: Sequence[Point] = (),
) -> None:
    """Write the curves to `path`.

    series: (name, x, y, low, high) each; low and high, both or neither None, are shaded.
    lines: names and heights of horizontal reference lines, such as the bots' Elo.
    points: (name, x, y, low, high) of single things that no curve joins, named in the picture.
    """
    if not series:
        raise BadValue(refuse("no curve to draw", list(series), "Give at least one series"))
    if not path.absolute().parent.is_dir():
        raise BadFile(refuse("no such folder", str(path), "Create the folder first"))
    # A figure of its own, not pyplot's: nothing stays open in the process.
    figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for number, curve in enumerate(series):
        _draw_curve(axes, curve, COLOURS[number % len(COLOURS)])
    for name, x, y, low, high in points:
        axes.plot((x, x), (low, high), color=FAINT, linewidth=1.0, alpha=0.5)
        axes.plot(x, y, "o", color=INK, markersize=4)
        axes.annotate(name, (x, y), (5, 3), textcoords="offset points", fontsize=9, color=INK)
    for name, height in (lines or {}).items():
        _draw_line(axes, name, height)
    _dress(axes, title, x_label, y_label)
    if len(series) > 1:
        axes.legend(frameon=False, fontsize=13, labelcolor=INK)
    with room(path):
        canvas.print_png(path)  # type: ignore[no-untyped-call]


def _draw_curve(axes: Any, curve: Series, colour: str) -> None:
    name, *arrays = curve
    x, y, low, high = (None if a is None else np.asarray(a, np.float64) for a in arrays)
    assert x is not None and y is not None
    shapes = {a.shape for a in (x, y, low, high) if a is not None}
    if len(shapes) > 1 or x.ndim != 1 or not len(x) or (low is None) != (high is None):
        remedy = "Give x, y and both or none of low and high, all of one length"
        raise BadValue(refuse(f"the curve {name!r} does not fit together", sorted(shapes), remedy))
    if low is not None and high is not None:
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
    marker = "o" if len(x) <= 40 else None  # single measurements are visible while they are few
    axes.plot(x, y, color=colour, linewidth=2.2, marker=marker, markersize=5, label=name)


def _draw_line(axes: Any, name: str, height: float) -> None:
    axes.axhline(height, color=FAINT, linewidth=1.2, linestyle=(0, (5, 4)), zorder=1.5)
    axes.annotate(
        name,
        (1.0, height),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        ha="left",
        va="center",
        fontsize=12,
        color=FAINT,
    )


def _dress(axes: Any, title: str, x_label: str, y_label: str) -> None:
    axes.set_title(title, fontsize=17, loc="left", pad=14, color=INK)
    axes.set_xlabel(x_label, fontsize=14, color=INK)
    axes.set_ylabel(y_label, fontsize=14, color=INK)
    axes.tick_params(labelsize=12, colors=INK)
    axes.grid(True, color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0.02)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
