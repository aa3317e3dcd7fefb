"""Opponents: always a distribution, nobody left out, the sealed panel never let in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelcap.kit.errors import BadValue
from levelcap.learn.rl.config import RlConfig
from levelcap.learn.rl.opponents import Pool, bot_pool, training_names
from levelcap.learn.rl.task import superfluous
from levelcap.trials.panel import draw_panel
from levelcap.world.players.bot_names import is_sealed


def pool_with(scores, games=50):
    pool = Pool()
    for name, score in scores.items():
        pool.add(name, None)
        for _ in range(games):
            pool.record(len(pool.members) - 1, score)
    return pool


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(0, 500))
def test_weights_are_a_distribution_whatever_happened(scores, games):
    pool = pool_with({str(i): score for i, score in enumerate(scores)}, games)
    weights = pool.weights()
    assert weights.sum() == pytest.approx(1.0) and (weights > 0).all()
    assert weights.min() >= 0.1 / len(scores) * 0.999  # the floor


def test_the_one_neither_hopeless_nor_beaten_is_met_most():
    weights = pool_with({"beaten": 1.0, "equal": 0.5, "hopeless": 0.0}).weights()
    assert weights.argmax() == 1 and weights[1] > 0.8


def test_nobody_played_yet_means_everybody_alike():
    pool = Pool()
    for name in "abc":
        pool.add(name, None)
    np.testing.assert_allclose(pool.weights(), 1 / 3)


def test_draws_follow_the_weights_and_the_seed_alone():
    pool = pool_with({"beaten": 1.0, "equal": 0.5})
    seeds = np.arange(20_000, dtype=np.uint64)
    drawn = pool.draw(seeds)
    assert (drawn == pool.draw(seeds)).all()
    np.testing.assert_allclose(np.bincount(drawn) / len(seeds), pool.weights(), atol=0.02)


def test_results_can_be_saved_and_restored():
    pool, other = pool_with({"a": 0.7, "b": 0.2}), pool_with({"a": 0.0, "b": 0.0})
    other.restore(pool.results())
    assert other.results() == pool.results()


def test_no_training_name_is_sealed_and_no_sealed_name_gets_in():
    for seed in range(20):
        assert not any(is_sealed(n) for n in training_names(("rookie", "master"), 3, seed))
    for name in draw_panel("duel", 0).names:
        with pytest.raises(BadValue, match="sealed"):
            bot_pool([name], "variance", 0.1)


def test_an_unknown_scheme_is_refused():
    with pytest.raises(BadValue, match="even"):
        Pool("fair")


def test_past_selves_newest_stay_and_the_rest_thin_out_evenly():
    config = RlConfig(past_newest=2, past_spread=3, past_every_steps=10)
    names: list[str] = []
    for steps in range(10, 300, 10):
        leaves = superfluous(names, config)
        if leaves is not None:
            names.remove(leaves)
        names.append(f"past-{steps}")
    kept = [int(name.removeprefix("past-")) for name in names]
    assert kept == [80, 160, 240, 280, 290]
