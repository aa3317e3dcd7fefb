"""The league's matchmaking on games with exact answers; the figures: benchmarks/league_maths.py."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from benchmarks.exact.arms import Table, league, nash_convs, psro, self_play
from benchmarks.exact.games import Game, biased, kuhn, mixed, noisy, rock_paper_scissors
from levelcap.learn.league.config import LeagueConfig

ROCK_PAPER_SCISSORS = (rock_paper_scissors, biased, noisy)
NASH = {"rps": (1, 1, 1), "rps biased": (1, 2, 1, 0), "rps noisy": (1, 4, 1, 0)}
ALONE = LeagueConfig(main_exploiter_weight=0.0, league_exploiter_weight=0.0)


def curve(game: Game, arm, calls: int, seeds: int = 5) -> np.ndarray:
    """Mean NashConv of the seeds after 0 … calls best responses."""
    rng = (np.random.default_rng(seed) for seed in range(seeds))
    return np.mean([nash_convs(arm(game, one), game, calls) for one in rng], axis=0)


@pytest.mark.parametrize("make", ROCK_PAPER_SCISSORS)
def test_known_equilibria_of_rock_paper_scissors(make):
    game = make()
    table = Table(game, (np.eye(len(game.payoff))[0],) * 2)
    for row in np.eye(len(game.payoff))[1:]:
        table.add((row, row))
    want = np.array(NASH[game.name])
    np.testing.assert_allclose(table.nash()[1], want / want.sum(), atol=1e-9)
    assert game.nash_conv(mixed(*table.nash())) == pytest.approx(0, abs=1e-9)


def test_known_values_of_kuhn_poker():
    game = kuhn()
    even = np.full(64, 1 / 64)
    assert game.nash_conv((even, even)) == pytest.approx(11 / 12)  # OpenSpiel's for uniform play
    solved = mixed(*next(islice(psro(game, np.random.default_rng(0)), 30, None)))
    assert game.nash_conv(solved) == pytest.approx(0, abs=1e-8)
    assert solved[0] @ game.payoff @ solved[1] == pytest.approx(-1 / 18)  # Kuhn 1950


def test_the_leagues_mixture_solves_rock_paper_scissors_and_self_play_goes_in_circles():
    for make in ROCK_PAPER_SCISSORS:
        found = curve(make(), lambda g, rng: league(g, rng, LeagueConfig()), 12)
        assert found[0] > 0.5 and found[-1] == pytest.approx(0, abs=1e-8)
        assert curve(make(), self_play, 12).min() > 0.5


def test_in_kuhn_poker_exploitability_falls_and_beats_self_play():
    found = curve(kuhn(), lambda g, rng: league(g, rng, LeagueConfig()), 24)
    assert found[-1] < 0.2 * found[4] and found[-1] < 0.1
    assert found[12:].mean() < 0.2 * curve(kuhn(), self_play, 24)[12:].mean()


def test_without_exploiters_the_league_keeps_up_with_psro():
    ours = curve(kuhn(), lambda g, rng: league(g, rng, ALONE), 24, seeds=10)
    assert ours.mean() < 1.2 * curve(kuhn(), psro, 24, seeds=10).mean()
