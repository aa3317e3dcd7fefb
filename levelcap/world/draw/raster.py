"""Drawing on a float picture: discs, rings, lines and boxes with soft edges.

A canvas is float32 [height, width, 3], 0 to 255, row 0 at the top; the pixel in column j covers
j to j + 1, so coordinates may have fractions. Edges are smoothed by the distance of a pixel's
centre to the shape, which needs no oversampling. Every kernel cuts its shape to the canvas, and
every shape is blended over what is there with `alpha`.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.compiled import entry, kernel
from levelcap.world.draw.font import ADVANCE, GLYPHS, HEIGHT, WIDTH, glyph_numbers

Colour = tuple[float, float, float]


@kernel
def _blend(canvas, i, j, colour, share):
    for c in range(3):
        canvas[i, j, c] += (colour[c] - canvas[i, j, c]) * share


@kernel
def _span(low, high, size):
    """Whole pixels from low to high, cut to the canvas."""
    return max(0, int(low) - 1), min(size, int(high) + 2)


@entry
def _disc(canvas, x, y, radius, colour, alpha):
    top, bottom = _span(y - radius, y + radius, canvas.shape[0])
    left, right = _span(x - radius, x + radius, canvas.shape[1])
    for i in range(top, bottom):
        for j in range(left, right):
            dx, dy = j + 0.5 - x, i + 0.5 - y
            share = min(1.0, radius + 0.5 - sqrt(dx * dx + dy * dy))
            if share > 0.0:
                _blend(canvas, i, j, colour, share * alpha)


@entry
def _ring(canvas, x, y, radius, width, colour, alpha):
    reach = radius + width
    top, bottom = _span(y - reach, y + reach, canvas.shape[0])
    left, right = _span(x - reach, x + reach, canvas.shape[1])
    for i in range(top, bottom):
        for j in range(left, right):
            dx, dy = j + 0.5 - x, i + 0.5 - y
            share = min(1.0, width * 0.5 + 0.5 - abs(sqrt(dx * dx + dy * dy) - radius))
            if share > 0.0:
                _blend(canvas, i, j, colour, share * alpha)


@entry
def _outside(canvas, x, y, radius, colour, alpha):
    """Everything that is not in the disc."""
    for i in range(canvas.shape[0]):
        for j in range(canvas.shape[1]):
            dx, dy = j + 0.5 - x, i + 0.5 - y
            share = min(1.0, sqrt(dx * dx + dy * dy) + 0.5 - radius)
            if share > 0.0:
                _blend(canvas, i, j, colour, share * alpha)


@entry
def _line(canvas, ax, ay, bx, by, width, colour, alpha):
    """A stroke with round ends."""
    top, bottom = _span(min(ay, by) - width, max(ay, by) + width, canvas.shape[0])
    left, right = _span(min(ax, bx) - width, max(ax, bx) + width, canvas.shape[1])
    ex, ey = bx - ax, by - ay
    whole = ex * ex + ey * ey
    for i in range(top, bottom):
        for j in range(left, right):
            dx, dy = j + 0.5 - ax, i + 0.5 - ay
            along = 0.0
            if whole > 0.0:
                along = min(1.0, max(0.0, (dx * ex + dy * ey) / whole))
            dx, dy = dx - along * ex, dy - along * ey
            share = min(1.0, width * 0.5 + 0.5 - sqrt(dx * dx + dy * dy))
            if share > 0.0:
                _blend(canvas, i, j, colour, share * alpha)


@entry
def _box(canvas, x0, y0, x1, y1, colour, alpha):
    """The rectangle from (x0, y0), top left, to (x1, y1)."""
    top, bottom = _span(y0, y1, canvas.shape[0])
    left, right = _span(x0, x1, canvas.shape[1])
    for i in range(top, bottom):
        high = min(y1, i + 1.0) - max(y0, float(i))
        for j in range(left, right):
            wide = min(x1, j + 1.0) - max(x0, float(j))
            if high > 0.0 and wide > 0.0:
                _blend(canvas, i, j, colour, high * wide * alpha)


@entry
def _diamond(canvas, x, y, radius, colour, alpha):
    """A square on its tip, `radius` from the centre to a tip."""
    top, bottom = _span(y - radius, y + radius, canvas.shape[0])
    left, right = _span(x - radius, x + radius, canvas.shape[1])
    for i in range(top, bottom):
        for j in range(left, right):
            away = (abs(j + 0.5 - x) + abs(i + 0.5 - y) - radius) * 0.70710678
            share = min(1.0, 0.5 - away)
            if share > 0.0:
                _blend(canvas, i, j, colour, share * alpha)


@entry
def _write(canvas, glyphs, numbers, left, top, scale, colour, alpha):
    """Glyphs side by side from (left, top); pixels off the canvas are dropped."""
    for k in range(numbers.shape[0]):
        for i in range(HEIGHT * scale):
            for j in range(WIDTH * scale):
                row, column = top + i, left + k * ADVANCE * scale + j
                if glyphs[numbers[k], i // scale, j // scale] == 0:
                    continue
                if 0 <= row < canvas.shape[0] and 0 <= column < canvas.shape[1]:
                    _blend(canvas, row, column, colour, alpha)


@entry
def _to_bytes(canvas):
    out = np.empty(canvas.shape, np.uint8)
    for i in range(canvas.shape[0]):
        for j in range(canvas.shape[1]):
            for c in range(3):
                out[i, j, c] = np.uint8(min(255.0, max(0.0, canvas[i, j, c] + 0.5)))
    return out


def text_width(text: str, scale: int) -> int:
    """Width of a line of text in pixels, without the gap after the last letter."""
    return max(0, (len(text) * ADVANCE - (ADVANCE - WIDTH)) * scale)


class Canvas:
    """The kernels above with plain arguments; `part` shares memory with the whole."""

    def __init__(self, height: int, width: int, colour: Colour = (0.0, 0.0, 0.0)) -> None:
        self.pixels: NDArray[np.float32] = np.empty((height, width, 3), np.float32)
        self.pixels[:] = colour

    def part(self, top: int, bottom: int) -> Canvas:
        """The rows top..bottom-1 as a canvas of their own: nothing drawn there leaves it."""
        rows = Canvas.__new__(Canvas)
        rows.pixels = self.pixels[top:bottom]
        return rows

    def to_bytes(self) -> NDArray[np.uint8]:
        """The picture as uint8 [height, width, 3]."""
        out: NDArray[np.uint8] = _to_bytes(self.pixels)
        return out

    # One type per argument keeps numba from compiling a kernel once for integers, once for floats.
    def disc(self, x: Any, y: Any, radius: Any, colour: Colour, alpha: float = 1.0) -> None:
        """A filled circle."""
        _disc(self.pixels, float(x), float(y), float(radius), colour, float(alpha))

    def ring(
        self, x: Any, y: Any, radius: Any, width: float, colour: Colour, alpha: float = 1.0
    ) -> None:
        """A circle's edge, `width` wide."""
        _ring(self.pixels, float(x), float(y), float(radius), float(width), colour, float(alpha))

    def outside(self, x: Any, y: Any, radius: Any, colour: Colour, alpha: float) -> None:
        """Tint everything outside a circle."""
        _outside(self.pixels, float(x), float(y), float(radius), colour, float(alpha))

    def line(
        self, ax: Any, ay: Any, bx: Any, by: Any, width: float, colour: Colour, alpha: float = 1.0
    ) -> None:
        """A stroke from a to b."""
        ends = (float(ax), float(ay), float(bx), float(by))
        _line(self.pixels, *ends, float(width), colour, float(alpha))

    def box(self, x0: Any, y0: Any, x1: Any, y1: Any, colour: Colour, alpha: float = 1.0) -> None:
        """A filled rectangle."""
        corners = (float(x0), float(y0), float(x1), float(y1))
        _box(self.pixels, *corners, colour, float(alpha))

    def diamond(self, x: Any, y: Any, radius: Any, colour: Colour, alpha: float = 1.0) -> None:
        """A filled square on its tip."""
        _diamond(self.pixels, float(x), float(y), float(radius), colour, float(alpha))

    def text(
        self, text: str, left: Any, top: Any, scale: int, colour: Colour, alpha: float = 1.0
    ) -> None:
        """A line of text with its top left corner at (left, top)."""
        place = (int(round(left)), int(round(top)), int(scale))
        _write(self.pixels, GLYPHS, glyph_numbers(text), *place, colour, float(alpha))

    def centred(
        self, text: str, x: Any, y: Any, scale: int, colour: Colour, alpha: float = 1.0
    ) -> None:
        """A line of text with its middle at (x, y)."""
        left, top = x - text_width(text, scale) / 2, y - HEIGHT * scale / 2
        self.text(text, left, top, scale, colour, alpha)
