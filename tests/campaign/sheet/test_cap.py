"""Where levels are heading: known caps are found, and growth without an end is not called flat."""

import numpy as np
import pytest

from levelcap.campaign.sheet.cap import estimate_cap


def level_ups(curve, until):
    """(time, level) at which a made-up curve reaches each whole level."""
    times = np.linspace(0, until, 100_001)
    levels = curve(times)
    found = [(float(times[np.argmax(levels >= n)]), float(n)) for n in range(2, 60)]
    return [row for row, n in zip(found, range(2, 60), strict=True) if levels.max() >= n]


def saturating(cap, tau, power=1.0):
    return lambda t: 1 + (cap - 1) * (1 - np.exp(-((t / tau) ** power)))


@pytest.mark.parametrize(
    ("cap", "tau", "power", "until"),
    [(8, 100, 1.0, 600), (12, 100, 0.7, 1500), (15, 40, 1.0, 300), (10, 200, 1.3, 900)],
)
def test_a_known_cap_lies_in_the_interval(cap, tau, power, until):
    found = estimate_cap(level_ups(saturating(cap, tau, power), until), until)
    assert found.flat and found.low <= cap <= found.high
    assert found.cap == pytest.approx(cap, abs=1.0) and "about level" in found.words
    assert found.low <= found.cap <= found.high


@pytest.mark.parametrize(
    ("curve", "until"),
    [
        (lambda t: 1 + t / 60, 600),
        (lambda t: 1 + 2 * np.log1p(t / 5), 600),
        (lambda t: 1 + np.sqrt(t) / 3, 600),
        (saturating(8, 100), 120),
    ],
    ids=["linear", "logarithm", "root", "too early"],
)
def test_what_still_rises_is_called_not_yet_flat(curve, until):
    found = estimate_cap(level_ups(curve, until), until)
    assert not found.flat and found.cap is None and found.high is None
    assert found.words.startswith("not yet flat")


def test_few_levels_tell_nothing():
    for rows in ([], [(3.0, 2.0)], [(3.0, 2.0), (9.0, 3.0), (30.0, 4.0)]):
        assert estimate_cap(rows, 50.0).words == "too few levels to tell"
