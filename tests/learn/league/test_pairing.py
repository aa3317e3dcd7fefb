"""Who meets whom, and the reasons that stand beside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelcap.kit.errors import BadValue, StateError
from levelcap.learn.league.config import LeagueConfig
from levelcap.learn.league.pairing import narrowed, plan
from levelcap.learn.league.payoff import Payoff
from levelcap.learn.league.players import Player

CONFIG = LeagueConfig(floor=0.0)
LEARNERS = {
    kind: Player(kind, kind, None, "", trainable=True)
    for kind in ("main", "main_exploiter", "league_exploiter")
}


def frozen(*names: str) -> list[Player]:
    kinds = ("main_exploiter", "league_exploiter", "main")
    return [
        Player(name, next((k for k in kinds if name.startswith(k)), "bot"), None, "")
        for name in names
    ]


def table(**rates: float) -> Payoff:
    """Main's chances, on 998 games each."""
    payoff = Payoff()
    for name, rate in rates.items():
        wins = 1000 * rate - 1
        payoff.add("main", name.replace("_", "-"), (wins, 0, 998 - wins), fading=False)
    return payoff


def shares(kind: str, others: list[Player], payoff: Payoff) -> dict[str, float]:
    found = plan(LEARNERS[kind], others, LEARNERS["main"], payoff, CONFIG)
    assert sum(p.share for p in found) == pytest.approx(1)
    for pairing in found:
        assert pairing.share == pytest.approx(sum(why.share for why in pairing.why))
    return {p.opponent: p.share for p in found}


def test_main_plays_itself_the_hard_and_the_forgotten() -> None:
    payoff = table(main_0=0.9, main_1=0.2, veteran=0.1)
    found = shares("main", frozen("main-0", "main-1", "veteran"), payoff)
    hard = np.array([0.01, 0.64, 0.81]) / 1.46
    assert found["main"] == pytest.approx(0.35)
    assert found["main-0"] == pytest.approx(0.5 * hard[0])
    assert found["main-1"] == pytest.approx(0.5 * hard[1] + 0.15)  # a bot is never forgotten
    assert found["veteran"] == pytest.approx(0.5 * hard[2])


def test_where_nobody_is_forgotten_the_past_gets_the_share() -> None:
    found = shares("main", frozen("main-0"), table(main_0=0.6))
    assert found == {"main": pytest.approx(0.35), "main-0": pytest.approx(0.65)}


def test_main_exploiter_plays_main_until_it_is_hopeless() -> None:
    others = frozen("main-0", "main-1", "veteran")
    assert shares("main_exploiter", others, Payoff()) == {"main": 1.0}
    payoff = Payoff()
    payoff.add("main_exploiter", "main", (0, 0, 98), fading=False)
    payoff.add("main_exploiter", "main-0", (49, 0, 49), fading=False)
    payoff.add("main_exploiter", "main-1", (9, 0, 89), fading=False)
    found = shares("main_exploiter", others, payoff)
    assert found["main-0"] == pytest.approx(0.25 / 0.34) and "veteran" not in found
    assert shares("main_exploiter", frozen("veteran"), payoff) == {"main": 1.0}


def test_league_exploiter_plays_everyone() -> None:
    found = shares("league_exploiter", frozen("main-0", "main_exploiter-0", "master"), Payoff())
    assert found == {
        name: pytest.approx(0.25) for name in ("main-0", "main_exploiter-0", "master", "main")
    }


def test_nobody_to_play_is_said() -> None:
    with pytest.raises(StateError, match="nobody to play against"):
        plan(LEARNERS["main"], [], LEARNERS["main"], Payoff(), CONFIG)


@given(st.lists(st.floats(0.001, 0.999), min_size=1, max_size=60), st.integers(1, 16))
def test_any_league_gives_a_distribution(rates: list[float], most: int) -> None:
    payoff, others = Payoff(), frozen(*(f"main-{index}" for index in range(len(rates))))
    for player, rate in zip(others, rates, strict=True):
        payoff.add("main", player.player_id, (500 * rate, 0, 500 * (1 - rate)), fading=True)
    for kind in LEARNERS:
        found = plan(LEARNERS[kind], others, LEARNERS["main"], payoff, LeagueConfig())
        drawn = narrowed(found, most, np.random.default_rng(0))
        assert 1 <= len(drawn) <= max(most, 1)
        assert sum(p.share for p in drawn) == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"main_weight": 0.0}, "needs its main player"),
        ({"self_play": 0.9, "forgotten": 0.2}, "shares of one"),
        ({"rated_games": 7}, "in pairs"),
        ({"turn_s": 0.0}, "turn_s is out of range"),
        ({"opponents": 65}, "opponents is out of range"),
    ],
)
def test_settings_are_checked(values: dict[str, float], said: str) -> None:
    with pytest.raises(BadValue, match=said):
        LeagueConfig(**values)  # type: ignore[arg-type]
