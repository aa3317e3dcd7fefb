"""A picture to draw on: Pillow's shapes and built-in font, blended with `alpha`.

Pillow's shapes have hard edges, so a canvas is FINE times larger than the picture made of it:
shrinking softens every edge. Coordinates are the canvas's own fine pixels, row 0 at the top.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Colour = tuple[int, int, int]
FINE = 2


def mixed(a: Colour, b: Colour, share: float) -> Colour:
    """`share` of b in a."""
    red, green, blue = (round(p + (q - p) * share) for p, q in zip(a, b, strict=True))
    return red, green, blue


@lru_cache(64)
def _font(scale: float) -> Any:
    return ImageFont.load_default(10 * scale)  # its capitals are 0.7 high


def text_width(text: str, scale: float) -> float:
    """Width of a line of text in pixels."""
    return float(_font(scale).getlength(text))


def _ink(colour: Colour, alpha: float) -> tuple[int, int, int, int]:
    return (*colour, round(255 * alpha))


class Canvas:
    """Pixels with a pen; what leaves the canvas is cut off."""

    def __init__(self, width: int, height: int, colour: Colour) -> None:
        self.width, self.height = width, height
        self._image = Image.new("RGB", (width, height), colour)
        self._blending = ImageDraw.Draw(self._image, "RGBA")
        self._covering = ImageDraw.Draw(self._image)  # several times as fast

    def shrunk(self) -> NDArray[np.uint8]:
        """The finished picture as uint8 [height / FINE, width / FINE, 3]."""
        return np.asarray(self._image.reduce(FINE))

    def _pen(self, alpha: float) -> ImageDraw.ImageDraw:
        return self._covering if alpha == 1.0 else self._blending

    def disc(self, x: float, y: float, radius: float, colour: Colour, alpha: float = 1.0) -> None:
        """A filled circle."""
        self._pen(alpha).circle((x, y), radius, _ink(colour, alpha))

    def ring(
        self, x: float, y: float, radius: float, width: float, colour: Colour, alpha: float = 1.0
    ) -> None:
        """A circle's edge, `width` wide."""
        edge = max(1, round(width))
        self._pen(alpha).circle((x, y), radius + edge / 2, None, _ink(colour, alpha), edge)

    def line(
        self, ends: tuple[float, ...], width: float, colour: Colour, alpha: float = 1.0
    ) -> None:
        """A stroke through the points x, y, x, y ..."""
        self._pen(alpha).line(ends, _ink(colour, alpha), max(1, round(width)))

    def cross(self, x: float, y: float, arm: float, width: float, colour: Colour) -> None:
        """Two faint strokes through (x, y): what has fallen."""
        for lean in (-arm, arm):
            self.line((x - arm, y - lean, x + arm, y + lean), width, colour, 0.6)

    def box(
        self, x0: float, y0: float, x1: float, y1: float, colour: Colour, alpha: float = 1.0
    ) -> None:
        """A filled rectangle from (x0, y0), top left, to (x1, y1); nothing when that is empty."""
        left, top, right, bottom = round(x0), round(y0), round(x1) - 1, round(y1) - 1
        if left <= right and top <= bottom:  # Pillow's corners are inside
            self._pen(alpha).rectangle((left, top, right, bottom), _ink(colour, alpha))

    def diamond(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """A filled square on its tip, `radius` from the centre to a tip."""
        tips = (x - radius, y, x, y - radius, x + radius, y, x, y + radius)
        self._covering.polygon(tips, _ink(colour, 1.0))

    def text(
        self,
        text: str,
        x: float,
        y: float,
        scale: float,
        colour: Colour,
        alpha: float = 1.0,
        align: str = "middle",
    ) -> None:
        """A line, capitals 7 * scale high and their middle at y; x: its left, middle or right."""
        place = (x, y + 3.5 * scale)
        self._pen(alpha).text(place, text, _ink(colour, alpha), _font(scale), f"{align[0]}s")
