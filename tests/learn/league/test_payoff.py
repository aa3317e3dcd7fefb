"""The payoff table: both sides of a pair, Beta means, fading."""

from __future__ import annotations

import pytest

from levelcap.learn.league.payoff import Payoff


def test_one_cell_for_both_sides() -> None:
    payoff = Payoff()
    payoff.add("a", "b", (6, 2, 2), fading=False)
    payoff.add("b", "a", (1, 0, 3), fading=False)
    assert payoff.counts("a", "b") == (9, 2, 3)
    assert payoff.counts("b", "a") == (3, 2, 9)
    assert payoff.rate("a", "b") == pytest.approx((1 + 9 + 1) / 16)
    assert payoff.rate("a", "b") + payoff.rate("b", "a") == pytest.approx(1)


def test_strangers_stand_at_one_half() -> None:
    assert Payoff().rate("a", "b") == Payoff().rate("a", "a") == 0.5
    assert Payoff().games("a", "b") == 0


def test_half_life() -> None:
    payoff = Payoff(half_life=100)
    payoff.add("a", "b", (100, 0, 0), fading=True)
    payoff.add("a", "b", (0, 0, 100), fading=True)
    assert payoff.counts("a", "b") == (50, 0, 100)
    frozen = Payoff(half_life=100)
    frozen.add("a", "b", (100, 0, 0), fading=False)
    frozen.add("a", "b", (0, 0, 100), fading=False)
    assert frozen.counts("a", "b") == (100, 0, 100)


def test_written_and_read() -> None:
    payoff = Payoff()
    payoff.add("main", "master~17", (3, 1, 0), fading=True)
    document = payoff.as_json()
    assert document["main::master~17"]["p"] == pytest.approx(4.5 / 6)
    assert Payoff.from_json(document).as_json() == document


def test_forgetting_a_player() -> None:
    payoff = Payoff()
    payoff.add("a", "b", (1, 0, 0), fading=False)
    payoff.add("b", "c", (1, 0, 0), fading=False)
    payoff.forget("a")
    assert payoff.games("a", "b") == 0 and payoff.games("b", "c") == 1
