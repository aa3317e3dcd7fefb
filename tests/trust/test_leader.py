"""P12: of fifty simultaneous starts exactly one leads, every time."""

import pytest

from tests.services.crowds import crowd

pytestmark = pytest.mark.trust
STARTS, ROUNDS = 50, 4


def test_of_fifty_simultaneous_starts_exactly_one_leads(home, tmp_path, figures):
    leaders = [crowd(STARTS, tmp_path / f"round-{number}") for number in range(ROUNDS)]
    kept = leaders == [1] * ROUNDS
    figures.add("P12", f"{STARTS} starts × {ROUNDS}: leaders {leaders}", ok=kept, starts=200)
    assert kept


def test_without_the_lock_the_crowd_is_seen(home, tmp_path):
    assert crowd(10, tmp_path / "mutant", mutant=True) > 1
