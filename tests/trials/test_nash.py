"""Nash mixtures and cycles against tables whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from levelcap.trials.nash import cycle_share, nash

ROCK_PAPER_SCISSORS = np.array([[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])


def test_rock_paper_scissors_is_mixed_evenly() -> None:
    np.testing.assert_allclose(nash(ROCK_PAPER_SCISSORS), 1 / 3, atol=1e-9)


def test_biased_rock_paper_scissors() -> None:
    """Rock wins double against scissors: paper's counter-weight grows (worked by hand)."""
    gains = np.array([[0.0, -1, 2], [1, 0, -1], [-2, 1, 0]])
    # x solves gains^T x = 0: (1, 2, 1) / 4.
    np.testing.assert_allclose(nash(0.5 + gains / 4), [0.25, 0.5, 0.25], atol=1e-9)


def test_the_strongest_of_a_ladder_has_all_the_mass() -> None:
    elo = np.array([0, 200, 400])
    rates = 1 / (1 + 10 ** ((elo[None] - elo[:, None]) / 400))
    np.testing.assert_allclose(nash(rates), [0, 0, 1], atol=1e-9)


def test_a_ladder_has_no_cycles_and_a_circle_nothing_else() -> None:
    games = np.full((3, 3), 400.0)
    elo = np.array([0, 150, 300])
    ladder = games / (1 + 10 ** ((elo[None] - elo[:, None]) / 400))
    assert cycle_share(ladder, games) < 0.02
    assert cycle_share(games * (0.5 + 0.6 * (ROCK_PAPER_SCISSORS - 0.5)), games) > 0.98


def test_chance_alone_is_no_cycle() -> None:
    rng = np.random.default_rng(0)
    elo = np.linspace(0, 400, 8)
    rates = 1 / (1 + 10 ** ((elo[None] - elo[:, None]) / 400))
    games = np.full((8, 8), 64.0)
    upper = np.triu(rng.binomial(64, rates), 1)
    wins = upper + np.tril(64 - upper.T, -1)
    assert cycle_share(wins, games) < 0.1
    assert cycle_share(wins, np.zeros((8, 8))) == 0.0
    assert cycle_share(np.zeros((1, 1)), np.zeros((1, 1))) == pytest.approx(0)
