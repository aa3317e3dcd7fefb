"""Pictures of curves: right size, everything drawn, nothing left open, bad input refused."""

import numpy as np
import pytest
from PIL import Image

from levelcap.kit.errors import BadFile, BadValue
from levelcap.play.show.plot import COLOURS, plot_curves

WORDS = {"title": "Elo over time", "x_label": "minutes", "y_label": "Elo"}


def pixels(path):
    with Image.open(path) as image:
        assert (image.format, image.size) == ("PNG", (1200, 800))
        return np.asarray(image.convert("RGB")).astype(int)


def has_colour(picture, colour):
    wanted = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return bool((np.abs(picture - wanted).sum(2) < 12).sum() > 50)


def test_curves_intervals_and_lines_are_in_the_picture(tmp_path):
    x = np.arange(20.0)
    bare, shaded, lined = (tmp_path / name for name in ("a.png", "b.png", "c.png"))
    plot_curves(bare, [("hero", x, x**2, None, None)], **WORDS)
    plot_curves(shaded, [("hero", x, x**2, x**2 - 30, x**2 + 30)], **WORDS)
    two = [("hero", x, x**2, x**2 - 30, x**2 + 30), ("other", x[:5], x[:5], None, None)]
    plot_curves(lined, two, **WORDS, lines={"veteran": 100.0})
    one, two, three = pixels(bare), pixels(shaded), pixels(lined)
    assert has_colour(one, COLOURS[0]) and not has_colour(one, COLOURS[1])
    assert has_colour(three, COLOURS[0]) and has_colour(three, COLOURS[1])
    assert (two != one).any(2).mean() > 0.02  # the shade is an area, not a line
    assert (three != two).any()

    # The reference line is grey from the left to the right end of the axes.
    def grey_in_a_row(picture):
        neutral = np.ptp(picture, 2) < 10
        return (neutral & (picture.mean(2) > 0x60) & (picture.mean(2) < 0xD0)).sum(1).max()

    assert grey_in_a_row(three) > 400 > grey_in_a_row(two)


def test_nothing_stays_open(tmp_path):
    import matplotlib.pyplot as pyplot

    for k in range(3):
        plot_curves(tmp_path / f"{k}.png", [("a", [0, 1], [k, 2], None, None)], **WORDS)
    assert pyplot.get_fignums() == []


def test_gaps_in_a_curve_are_allowed(tmp_path):
    y = np.array([1.0, np.nan, 3.0])
    plot_curves(tmp_path / "a.png", [("a", [0, 1, 2], y, y - 1, y + 1)], **WORDS)
    pixels(tmp_path / "a.png")


@pytest.mark.parametrize(
    "curve",
    [
        ("a", [0, 1], [1, 2, 3], None, None),
        ("a", [], [], None, None),
        ("a", [0, 1], [1, 2], [0, 1], None),
        ("a", [0, 1], [1, 2], [0, 1], [1]),
    ],
)
def test_curves_that_do_not_fit_together_are_refused(tmp_path, curve):
    with pytest.raises(BadValue, match="does not fit together"):
        plot_curves(tmp_path / "a.png", [curve], **WORDS)
    assert not (tmp_path / "a.png").exists()


def test_no_curves_and_no_folder_are_refused(tmp_path):
    with pytest.raises(BadValue, match="no curve"):
        plot_curves(tmp_path / "a.png", [], **WORDS)
    with pytest.raises(BadFile, match="no such folder"):
        plot_curves(tmp_path / "no" / "a.png", [("a", [0], [1], None, None)], **WORDS)
