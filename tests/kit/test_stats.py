"""Intervals: by hand, and covering the truth as often as they say."""

import math

import numpy as np
import pytest

from levelcap.kit.stats import (
    grouped_interval,
    mean_interval,
    newcombe,
    paired_interval,
    share_difference,
    wilson,
)


def test_a_paired_interval_from_pairs_by_hand():
    # Pair means 1, .5, .5, 0: mean .5, sample variance 1/6, half width 1.96 * sqrt(1/24).
    low, high = paired_interval(np.array([1, 1, 1, 0, 0, 1, 0, 0], float))
    assert low == pytest.approx(0.5 - 1.959964 * (1 / 24) ** 0.5, abs=1e-6)
    assert high == pytest.approx(0.5 + 1.959964 * (1 / 24) ** 0.5, abs=1e-6)


def test_a_paired_interval_of_a_perfect_record_is_wilsons():
    low, high = paired_interval(np.ones(20))  # ten pairs
    assert low == pytest.approx(10 / (10 + 1.959964**2), abs=1e-6)
    assert high == 1.0


def test_a_paired_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        low, high = paired_interval((rng.random(200) < 0.7).astype(float))
        inside += low <= 0.7 <= high
    assert 0.91 <= inside / 400 <= 0.99


def test_the_interval_takes_cousins_into_account_when_they_differ():
    # Half of the cousins always win, half always lose: 20 means of 0 and 1.
    apart = np.repeat([0.0, 1.0], 10 * 50)
    low, high = grouped_interval(apart, 20)
    half = 2.093024 * math.sqrt(20 / 19 * 0.25) / math.sqrt(20)
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)
    # All cousins alike: what is left is the chance of the games.
    alike = np.tile([1.0, 1.0, 0.0, 1.0, 0.0], 200)
    assert grouped_interval(alike, 20) == paired_interval(alike)
    # A perfect record has no variance at all; Wilson's interval over the pairs remains.
    assert grouped_interval(np.ones(1000), 20) == paired_interval(np.ones(1000))


def test_the_interval_over_cousins_covers_the_mean_of_all_cousins():
    rng = np.random.default_rng(0)
    inside = by_pairs = 0
    for _ in range(400):
        strengths = rng.uniform(0.4, 0.8, 20)  # of these cousins; the mean of all is .6
        scores = (rng.random((20, 50)) < strengths[:, None]).astype(float).reshape(-1)
        low, high = grouped_interval(scores, 20)
        inside += low <= 0.6 <= high
        low, high = paired_interval(scores)
        by_pairs += low <= 0.6 <= high
    print(f"coverage {inside / 400:.3f}, from pairs alone {by_pairs / 400:.3f}")
    assert 0.92 <= inside / 400 <= 0.985
    assert by_pairs / 400 < 0.85


def test_wilson_by_hand():
    # Wilson (1927) for 7 of 10, worked out with z = 1.959964.
    assert wilson(0.7, 10) == pytest.approx((0.396775, 0.892209), abs=1e-5)
    assert wilson(0.0, 10)[0] == 0.0 and wilson(1.0, 10)[1] == 1.0


def test_a_mean_and_differences_by_hand():
    low, high = mean_interval(np.array([1.0, 2.0, 3.0]))
    assert (low, high) == pytest.approx((2 - 1.959964 / 3**0.5, 2 + 1.959964 / 3**0.5), abs=1e-6)
    assert mean_interval(np.array([4.0])) == (4.0, 4.0)
    gap, low, high = share_difference(0.9, 0.8, 100)
    assert gap == pytest.approx(0.1)
    assert (gap - low, high - gap) == pytest.approx((1.959964 * 0.05,) * 2, abs=1e-6)
    assert newcombe((0.75, 0.45, 0.95), (0.5, 0.2, 0.8)) == pytest.approx(
        (0.25, 0.25 - math.hypot(0.3, 0.3), 0.25 + math.hypot(0.2, 0.3))
    )
