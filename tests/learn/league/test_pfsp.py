"""PFSP is always a distribution, and narrowing it keeps its expectation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelcap.kit.errors import BadValue, UnknownName
from levelcap.learn.league.pfsp import SCHEMES, pick, weigh

CHANCES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@given(CHANCES, st.sampled_from(SCHEMES), st.floats(0.1, 8), st.floats(0, 1))
def test_always_a_distribution(rates: list[float], scheme: str, power: float, floor: float) -> None:
    shares = weigh(rates, scheme, power, floor)
    assert np.isfinite(shares).all() and (shares >= 0).all()
    assert shares.sum() == pytest.approx(1)
    assert (shares >= floor / len(rates) * (1 - 1e-9)).all()  # nobody starves


def test_hand_worked() -> None:
    np.testing.assert_allclose(weigh([0.9, 0.5, 0.0], "hard"), np.array([0.01, 0.25, 1]) / 1.26)
    np.testing.assert_allclose(weigh([0.9, 0.5], "var"), np.array([0.09, 0.25]) / 0.34)
    np.testing.assert_allclose(weigh([0.9, 0.5], "linear"), np.array([0.1, 0.5]) / 0.6)
    np.testing.assert_allclose(weigh([0.9, 0.5], "linear", floor=0.5), [1 / 3, 2 / 3])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_wins_everything_loses_everything_nobody_one(scheme: str) -> None:
    np.testing.assert_allclose(weigh([1.0, 1.0, 1.0], scheme), 1 / 3)
    np.testing.assert_allclose(weigh([0.0, 0.0], scheme), 1 / 2)
    assert len(weigh([], scheme)) == 0
    assert weigh([0.3], scheme).tolist() == [1.0]


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadValue, match="between 0 and 1"):
        weigh([1.5])
    with pytest.raises(BadValue, match="between 0 and 1"):
        weigh([float("nan")])
    with pytest.raises(UnknownName, match="squared"):
        weigh([0.5], "squared")


@given(CHANCES, st.integers(1, 20), st.integers(0, 1000))
def test_picking_keeps_a_distribution_of_few(rates: list[float], most: int, seed: int) -> None:
    shares = pick(weigh(rates, floor=0.1), most, np.random.default_rng(seed))
    assert shares.sum() == pytest.approx(1)
    assert np.count_nonzero(shares) <= max(most, 0)


def test_picking_keeps_the_expectation() -> None:
    shares = weigh(np.linspace(0, 1, 40), "hard", floor=0.1)
    rng = np.random.default_rng(0)
    mean = np.mean([pick(shares, 8, rng) for _ in range(4000)], axis=0)
    np.testing.assert_allclose(mean, shares, atol=0.01)
