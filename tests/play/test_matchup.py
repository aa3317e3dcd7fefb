"""Match-ups: fair sides, honest intervals, the same result every time."""

import numpy as np
import pytest

import levelcap.world
from levelcap.kit.errors import BadValue, UnknownName
from levelcap.play.matchup import BATCH, one_seat, play_games, seats_of_game
from levelcap.play.returns import play_episodes
from levelcap.play.roster import find
from levelcap.play.seats import Seats, views_of


def test_sides_are_exchanged_in_pairs():
    for ruleset in ("duel", "siege", "lms"):
        for game in range(0, 20, 2):
            first, second = (seats_of_game(ruleset, game + i, 4) for i in (0, 1))
            assert (first + second == 1).all()
            assert first.sum() == len(first) // 2
    assert len({tuple(seats_of_game("lms", g, 4)) for g in range(0, 20, 2)}) > 5


def test_one_among_nine_has_one_seat():
    seats = np.stack([one_seat("lms", g, 0) for g in range(400)])
    assert (seats.sum(1) == 9).all()
    assert ((seats == 0).sum(0) > 15).all()  # every seat gets its turn


def test_a_policy_against_itself_scores_exactly_half():
    result = play_games(find("veteran"), find("veteran"), "duel", 40, seed=3)
    # Both games of a pair are the same match seen from the other side.
    assert result.win_rate == 0.5
    assert (result.scores[0::2] + result.scores[1::2] == 1).all()


def test_the_result_does_not_depend_on_the_batch(monkeypatch):
    whole = play_games(find("veteran"), find("rookie"), "duel", 30, seed=3)
    monkeypatch.setattr("levelcap.play.matchup.BATCH", 8)
    parts = play_games(find("veteran"), find("rookie"), "duel", 30, seed=3)
    assert (whole.scores == parts.scores).all()
    assert BATCH % 2 == 0


def test_swapping_the_names_mirrors_the_result():
    one = play_games(find("veteran"), find("rookie"), "duel", 30, seed=3)
    two = play_games(find("rookie"), find("veteran"), "duel", 30, seed=3)
    assert one.wins == two.losses
    assert one.draws == two.draws


def test_bad_games_and_worlds_are_refused():
    with pytest.raises(BadValue, match="at least 1"):
        play_games(find("rookie"), find("idle"), "duel", 0)
    with pytest.raises(UnknownName, match="siege"):
        play_games(find("rookie"), find("idle"), "sige", 2)
    with pytest.raises(BadValue, match="lms"):
        play_games(find("rookie"), find("idle"), "duel", 2, one_among=True)


def test_a_table_refuses_seats_and_views_that_do_not_fit():
    world = levelcap.world.make("duel", 2)
    with pytest.raises(BadValue, match="seats"):
        Seats(world, [find("idle")], np.zeros((2, 3), int))
    with pytest.raises(BadValue, match="views"):
        Seats(world, [find("rookie")], np.zeros((2, 2), int))
    assert views_of([find("rookie"), find("uniform")]) == ("player", "objects", "context")


def test_many_policies_share_one_table():
    names = ("master", "rookie", "idle", "uniform")
    world = levelcap.world.make("crown", 6, views=views_of([find(n) for n in names]))
    seats = np.random.default_rng(0).integers(0, 4, (6, 10))
    table, views = Seats(world, [find(n) for n in names], seats), world.reset()
    for _ in range(30):
        actions = table.act(views)
        assert (actions[seats == 2] == [5, 5, 5, 5, 0, 0, 0]).all()
        views = world.step(actions)[0]


def test_mean_return_of_an_outside_game():
    result = play_episodes(find("uniform"), "gym:CartPole-v1", 80, seed=1)
    assert result.episodes == 80
    assert 15 < result.ci_low < result.mean < result.ci_high < 30
    assert result.mean == result.mean_length  # one point a step
    assert play_episodes(find("uniform"), "gym:CartPole-v1", 80, seed=1) == result
