"""Settings compared by heroes of several seeds: the seeds are the units, not the games."""

import numpy as np
import pytest

from levelcap.kit.errors import BadValue
from levelcap.trials.populations import compare, verdict_of


def played(strengths_a, strengths_b, games=400, seed=0):
    """Scores [A, B, games] of heroes whose Elo differ."""
    rng = np.random.default_rng(seed)
    gap = np.subtract.outer(np.array(strengths_a), np.array(strengths_b))
    chance = 1 / (1 + 10 ** (-gap / 400))
    return (rng.random((*chance.shape, games)) < chance[:, :, None]).astype(float)


def test_a_setting_that_is_better_with_every_seed_is_found():
    found = compare(played([100, 110, 90, 105, 95], [0, 10, -10, 5, -5]))
    assert verdict_of(found) == "better" and 0.6 < found[1] < found[0] < found[2] < 0.68
    turned = compare(played([0, 10, -10], [100, 110, 90]))
    assert verdict_of(turned) == "worse"


def test_one_lucky_seed_decides_nothing_however_many_games():
    found = compare(played([400, 0, 0], [0, 0, 0], games=4000))
    assert verdict_of(found) == "undecided" and found[0] > 0.6


def test_equal_settings_are_seldom_called_different():
    rng = np.random.default_rng(1)
    wrong = sum(
        verdict_of(compare(played(*rng.normal(0, 50, (2, 5)), games=40, seed=n))) != "undecided"
        for n in range(200)
    )
    assert wrong <= 18  # 5 % of 200 and three standard deviations


def test_one_seed_says_nothing():
    with pytest.raises(BadValue, match="at least 2 --seeds"):
        compare(np.zeros((1, 5, 2)))
