"""The sequential test: published ratios, its error rates, and its stop."""

import math

import numpy as np
import pytest

from levelcap.kit.errors import BadValue, UnknownName
from levelcap.trials.sprt import (
    PAIR,
    SequentialTest,
    log_likelihood_ratio,
    logistic_elo,
    normalised_elo,
    pair_counts,
    preset_of,
    read_line,
)

# Counts, bounds, ratio and logistic Elo of tests that others have published.
PUBLISHED = [
    ((165, 620, 987, 659, 206), (-5, 0), 2.95, 7.97),
    ((5, 584, 1489, 699, 10), (0, 4), 2.56, 7.79),
    ((460, 1577, 2757, 1740, 488), (0, 5), 2.97, 5.42),
    ((0, 1, 9, 36, 49), (0, 10), 3.16, 301.3),
    ((0, 0, 4, 2, 156), (0, 4), 2.58, 721.9),
]


@pytest.mark.parametrize(("counts", "bounds", "llr", "elo"), PUBLISHED)
def test_published_results_come_out(counts, bounds, llr, elo):
    assert log_likelihood_ratio(counts, *bounds) == pytest.approx(llr, abs=0.05)
    assert logistic_elo(counts) == pytest.approx(elo, abs=0.05)


def test_the_ratio_is_antisymmetric_and_grows_with_the_games():
    counts = np.array((10, 40, 90, 50, 15))
    forth = log_likelihood_ratio(counts, -3, 8)
    assert log_likelihood_ratio(counts[::-1], 3, -8) == pytest.approx(forth, rel=1e-6)
    assert log_likelihood_ratio(counts, 8, -3) == pytest.approx(-forth, rel=1e-6)
    assert log_likelihood_ratio(3 * counts, -3, 8) == pytest.approx(3 * forth, rel=1e-3)


def test_the_fit_is_the_likeliest_distribution_with_that_t_value():
    """Against a constrained search by scipy."""
    from scipy.optimize import minimize

    from levelcap.trials.sprt import _fit

    shares = np.array((3, 14, 40, 30, 13)) / 100
    t = 0.3

    def t_value(p):
        mean = p @ PAIR
        return (mean - 0.5) / math.sqrt(p @ (PAIR - mean) ** 2)

    rules = [{"type": "eq", "fun": lambda p: p.sum() - 1}]
    rules += [{"type": "eq", "fun": lambda p: t_value(p) - t}]
    found = minimize(
        lambda p: -(shares @ np.log(p)), shares, bounds=[(1e-6, 1)] * 5, constraints=rules
    )
    np.testing.assert_allclose(_fit(shares, t), found.x, atol=1e-4)


@pytest.mark.parametrize(("elo", "wrong"), [(0.0, "passed"), (30.0, "failed")])
def test_it_errs_no_more_often_than_it_says(elo, wrong):
    """At both bounds of a wide preset: 5 % wrong answers of 150 tests, with room for chance."""
    rng = np.random.default_rng(1)
    base = np.array((0.1, 0.2, 0.4, 0.2, 0.1))
    # Tilted until the t-value is that of the bound.
    low, high = 0.0, 5.0
    for _ in range(60):
        tilt = (low + high) / 2
        p = base * np.exp(tilt * (PAIR - 0.5))
        p /= p.sum()
        low, high = (tilt, high) if normalised_elo(1e6 * p)[0] < elo else (low, tilt)
    said = []
    for _ in range(150):
        test = SequentialTest(preset_of("gain", "siege"))
        while test.verdict is None:
            test.counts = test.counts + rng.multinomial(100, p)
        said.append(test.verdict)
    assert np.mean([one == wrong for one in said]) <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / 150)


def test_pairs_are_counted_in_order():
    scores = [1, 1, 0, 1, 0.5, 0.5, 0, 0, 0.5, 1, 0, 0.5]
    assert pair_counts(scores).tolist() == [1, 1, 2, 1, 1]
    with pytest.raises(BadValue, match="a pair is two games"):
        pair_counts([1])
    with pytest.raises(BadValue, match="scores are"):
        pair_counts([1, 2])


def test_presets_and_the_end():
    assert (preset_of("gain", "duel").low, preset_of("gain", "duel").high) == (0, 10)
    assert (preset_of("no-regression", "siege").low, preset_of("simplify", "lms").high) == (-30, 15)
    with pytest.raises(UnknownName, match="Did you mean 'gain'"):
        preset_of("gian", "duel")
    test = SequentialTest(preset_of("simplify", "duel"))
    assert test.llr == 0.0 and test.verdict is None
    test.add([1, 0] * 4000)  # equal to the point: nothing is clear, nothing is played on
    assert test.verdict == "undecided"
    assert (
        SequentialTest(preset_of("gain", "duel"), np.array((0, 0, 0, 0, 200))).verdict == "passed"
    )
    assert logistic_elo((0, 0, 0, 0, 3)) == math.inf


def test_a_line_tells_a_test_and_can_be_read_again():
    test = SequentialTest(preset_of("gain", "duel"))
    assert test.games_to_go == 8_000 and test.share == 0.5
    test.add([1.0, 0.0, 1.0, 1.0, 0.5, 0.5, 1.0, 0.5] * 8)
    again = read_line(test.line(), test.preset)
    assert again.counts.tolist() == test.counts.tolist() == [0, 0, 16, 8, 8]
    assert again.results.tolist() == [32, 24, 8]
    assert 0 < again.games_to_go < 8_000 and 0.5 < again.share < 1
    assert read_line("starting", test.preset).counts.sum() == 0


def test_games_to_go_are_about_those_it_takes():
    rng = np.random.default_rng(3)
    test, guessed = SequentialTest(preset_of("gain", "duel")), 0
    while test.verdict is None:
        test.add((rng.random(64) < 0.56).astype(float))
        if test.counts.sum() == 320:
            guessed = 640 + test.games_to_go
    assert test.verdict == "passed" and test.games_to_go == 0
    assert 0.3 < guessed / (2 * test.counts.sum()) < 3
