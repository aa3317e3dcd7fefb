"""One HTML file that needs nothing else: no script, pictures inside, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

POINTS = 240  # of a curve: a pixel or two each
WIDTH, HEIGHT, LEFT, FOOT, TOP = 520, 170, 58, 22, 10
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;
color:#1d2430;background:#fff} h1{margin:0} h2{margin:2rem 0 .5rem;border-bottom:1px solid #d5dae3}
table{border-collapse:collapse;font-size:14px} td,th{padding:.2rem .8rem .2rem 0;text-align:left;
vertical-align:top;border-bottom:1px solid #e8ebf0} .wide{overflow-x:auto} code,pre{white-space:
pre-wrap;overflow-wrap:anywhere;background:#f3f5f8;padding:.1rem .3rem} .curves{display:flex;
flex-wrap:wrap;gap:1rem} figure{margin:0} figcaption{font-weight:600} svg{max-width:100%;
height:auto} td:first-child{white-space:nowrap}
@media (prefers-color-scheme:dark){body{color:#dbe1ea;background:#12161d} code,pre{background:
#1d2430} td,th{border-color:#2a3240} h2{border-color:#2a3240}}
"""
# Nothing is loaded and nothing runs, whatever a text in it says.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"

Curve = tuple[Sequence[float], Sequence[float], Sequence[float], Sequence[float]]  # x, y, low, high


class Page:
    """Gathers the parts of a document; `html` is the whole of it."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._parts = [f"<h1>{escape(title)}</h1>"]

    def head(self, text: str) -> None:
        """A heading."""
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def words(self, text: str) -> None:
        """A paragraph."""
        self._parts.append(f"<p>{escape(text)}</p>")

    def code(self, text: str) -> None:
        """Something to be copied."""
        self._parts.append(f"<pre>{escape(text)}</pre>")

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """A table; no columns: names and values."""
        rows = list(rows)
        if not rows:
            self.words("None.")
            return
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows
        )
        told = f"<thead><tr>{head}</tr></thead>" if columns else ""
        self._parts.append(f'<div class="wide"><table>{told}<tbody>{body}</tbody></table></div>')

    def curves(self, curves: dict[str, Curve], x_label: str) -> None:
        """Small pictures side by side."""
        drawn = "".join(_figure(name, curve, x_label) for name, curve in curves.items())
        self._parts.append(f'<div class="curves">{drawn}</div>')

    @property
    def html(self) -> str:
        """The document."""
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{STYLE}</style></head>"
            f"<body>{''.join(self._parts)}</body></html>\n"
        )


def thin(xs: Sequence[float], ys: Sequence[float]) -> Curve:
    """A curve of at most `POINTS` points: means, with the least and most of what they stand for."""
    size = -(-len(xs) // POINTS) or 1
    cuts = [ys[first : first + size] for first in range(0, len(ys), size)]
    ends = [xs[min(first + size, len(xs)) - 1] for first in range(0, len(xs), size)]
    return ends, [sum(c) / len(c) for c in cuts], [min(c) for c in cuts], [max(c) for c in cuts]


def _cell(value: Any) -> str:
    return "" if value is None else escape(str(value)).replace("\n", "<br>")


def _figure(name: str, curve: Curve, x_label: str) -> str:
    xs, ys, lows, highs = curve
    low, high = min(lows), max(highs)
    across, tall = (xs[-1] - xs[0]) or 1.0, (high - low) or 1.0

    def at(x: float, y: float) -> str:
        right = LEFT + (x - xs[0]) / across * (WIDTH - LEFT - 8)
        return f"{right:.1f},{TOP + (high - y) / tall * (HEIGHT - FOOT - TOP):.1f}"

    line = " ".join(at(x, y) for x, y in zip(xs, ys, strict=True))
    above = [at(x, y) for x, y in zip(xs, highs, strict=True)]
    below = [at(x, y) for x, y in zip(xs, lows, strict=True)]
    dots = "".join(
        f'<circle cx="{place.split(",")[0]}" cy="{place.split(",")[1]}" r="3"/>'
        for place in (line.split() if len(xs) <= 20 else ())
    )
    label = f"{name}: from {ys[0]:.4g} to {ys[-1]:.4g}"
    marks = (
        (LEFT - 6, TOP + 8, "end", f"{high:.4g}"),
        (LEFT - 6, HEIGHT - FOOT, "end", f"{low:.4g}"),
        (LEFT, HEIGHT - 6, "start", f"{xs[0]:,.0f}"),
        (WIDTH - 8, HEIGHT - 6, "end", f"{xs[-1]:,.0f} {x_label}"),
    )
    texts = "".join(
        f'<text x="{x}" y="{y}" text-anchor="{side}">{escape(words)}</text>'
        for x, y, side, words in marks
    )
    return (
        f"<figure><figcaption>{escape(name)}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img"'
        f' aria-label="{escape(label)}" font-size="11" fill="#5b6677">{texts}'
        f'<polygon points="{" ".join(above + below[::-1])}" fill="#2f6fb3" opacity=".2"/>'
        f'<g fill="#2f6fb3">{dots}</g>'
        f'<polyline points="{line}" fill="none" stroke="#2f6fb3" stroke-width="1.5"/>'
        "</svg></figure>"
    )
