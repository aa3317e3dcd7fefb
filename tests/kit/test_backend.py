"""Backends: the same bits inline and in processes, also when those are killed."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from levelcap.kit.backend import Inline, Processes, open_backend
from levelcap.kit.errors import BadValue, StateError, UnknownName
from levelcap.play.matchup import play_games
from levelcap.play.units import play_series, policy_of
from tests.kit.chores import die, die_once, refuse_odd, slow_square, square
from tests.learn.league.test_season import hero


def test_results_come_in_order(crew: Processes) -> None:
    assert crew.run(square, range(20)) == Inline().run(square, range(20))
    assert crew.run(square, []) == []


def test_an_error_is_the_callers_and_the_crew_goes_on(crew: Processes) -> None:
    with pytest.raises(BadValue, match="odd: 1"):
        crew.run(refuse_odd, [0, 1, 2, 4, 6])
    assert crew.run(square, [3]) == [9]


def test_games_are_the_same_to_the_bit(crew: Processes, tmp_path: Path) -> None:
    """Of a net, whose bits depend on the size of its batch, and of a bot."""
    net = str(hero(tmp_path / "hero"))
    here = play_series(Inline(), net, "rookie", "duel", 66, seed=5)
    there = play_series(crew, net, "rookie", "duel", 66, seed=5)
    np.testing.assert_array_equal(here, there)
    # The same games as a match-up of the same seed; bots do not feel the size of a batch.
    bots = play_series(crew, "veteran", "rookie", "duel", 66, seed=5)
    whole = play_games(policy_of("veteran"), policy_of("rookie"), "duel", 66, 5)
    np.testing.assert_array_equal(bots, whole.scores)


def test_killed_processes_cost_no_result(tmp_path: Path) -> None:
    units = [(number, str(tmp_path / "mark")) for number in range(6)]
    with Processes(2) as backend:
        assert backend.run(die_once, units) == [number**2 for number, _ in units]
        assert backend.deaths == 6


def test_killed_from_outside_in_the_middle_of_a_unit(crew: Processes) -> None:
    before = crew.deaths
    killer = threading.Timer(0.5, lambda: os.kill(crew.pids[0], signal.SIGKILL))
    killer.start()
    assert crew.run(slow_square, range(60)) == [n * n for n in range(60)]
    killer.join()
    assert crew.deaths == before + 1


def test_a_unit_that_kills_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("levelcap.kit.backend.TRIES", 2)
    with Processes(1) as backend, pytest.raises(StateError, match="processes died of one unit"):
        backend.run(die, [1])


def test_refusals() -> None:
    with pytest.raises(UnknownName, match="ray"):
        open_backend("ray")
    with pytest.raises(BadValue, match="processes of a backend"):
        Processes(0)
    with pytest.raises(BadValue, match="in pairs"):
        play_series(Inline(), "rookie", "rookie", "duel", 7, 0)
