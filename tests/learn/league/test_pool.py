"""Slots outlive turns: who has sat down plays the match to its end."""

from __future__ import annotations

import numpy as np

from levelcap.learn.league.pool import LeaguePool
from levelcap.play.roster import find
from levelcap.world.protocols import Policy


class Bench:
    """The same bot under every name; some files are gone."""

    def __init__(self, gone: str = "") -> None:
        self.gone = gone

    def load(self, key: str) -> Policy:
        return find("rookie")

    def stand_in(self, key: str) -> str:
        return "bot" if key == self.gone else key


def names(pool: LeaguePool) -> list[str]:
    return [member.name for member in pool.members]


def test_a_slot_in_use_is_not_given_away() -> None:
    pool = LeaguePool(Bench())
    assert pool.enter({"a@1": 0.5, "b@1": 0.5}, set()) == [0, 1]
    # A match against b goes on: c takes the place of a, d a new one.
    assert pool.enter({"c@1": 0.25, "d@1": 0.75}, {1}) == [0, 2]
    assert names(pool) == ["c@1", "b@1", "d@1"]
    np.testing.assert_allclose(pool.weights(), [0.25, 0.0, 0.75])
    # Its result still counts for b.
    pool.record(1, 1.0)
    pool.record(0, 0.5)
    assert pool.tally == {"b": [1, 0, 0], "c": [0, 1, 0]}


def test_two_contents_of_one_player_are_two_opponents_and_one_name() -> None:
    pool = LeaguePool(Bench())
    pool.enter({"main@1": 1.0}, set())
    pool.enter({"main@2": 1.0}, {0})
    assert names(pool) == ["main@1", "main@2"]
    pool.record(0, 0.0)
    pool.record(1, 1.0)
    assert pool.tally == {"main": [1, 0, 1]}


def test_whoever_is_gone_is_replaced_when_the_slots_are_taken_again() -> None:
    pool = LeaguePool(Bench(gone="b@1"))
    pool.take_seats(["a@1", "b@1"])
    assert names(pool) == ["a@1", "bot"]
    assert pool.enter({"a@1": 1.0}, {0, 1}) == []
