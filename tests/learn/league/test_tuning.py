"""Population-based tuning: bounds, what is taken over, and a kill in the middle of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelcap.kit.errors import BadValue
from levelcap.kit.files import read_json, read_jsonl
from levelcap.learn.engine.state import checkpoints, load_state
from levelcap.learn.league import population
from levelcap.learn.league.config import LeagueConfig
from levelcap.learn.league.payoff import Payoff
from levelcap.learn.league.season import Season, play_season
from levelcap.learn.league.state import League, read_league
from levelcap.learn.league.tuning import TUNED, explored, told, tuned
from levelcap.learn.rl.config import for_world
from tests.learn.league.test_season import SETTINGS, hero, learning
from tests.learn.league.test_season import told as everything

# Everybody who does not win all games takes over the other: changes come early.
RULES = LeagueConfig(
    **SETTINGS
    | {"siblings": 2, "tune_turns": 1, "tune_games": 4, "tune_below": 1.0, "turn_updates": 2}
    | {"main_exploiter_weight": 0.0, "league_exploiter_weight": 0.0}
)
TURNS = 6


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hero(tmp_path_factory.mktemp("hero") / "start")


@pytest.fixture(scope="module")
def season(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("season") / "whole"
    play_season(Season("duel", start, place, turns=TURNS), RULES, learning())
    return place


@given(st.integers(0, 2**32), st.floats(1, 8), st.floats(1, 16), st.integers(1, 40))
def test_settings_never_leave_their_range(seed: int, step: float, most: float, times: int) -> None:
    rng, factors = np.random.default_rng(seed), {}
    for _ in range(times):
        factors = explored(factors, rng, step, most)
        assert set(factors) == set(TUNED)
        assert all(1 / most <= value <= most for value in factors.values())
    changed = tuned(for_world("siege"), factors)
    base = for_world("siege")
    assert changed.engine.lr / base.engine.lr == pytest.approx(factors["lr"])
    assert changed.engine.hidden_lr / base.engine.hidden_lr == pytest.approx(factors["lr"])
    assert changed.pseudo_reward == pytest.approx(base.pseudo_reward * factors["pseudo_reward"])
    # What the season has switched off stays off.
    assert base.entropy_coef == changed.entropy_coef == 0


def test_who_loses_becomes_the_other_with_a_change(season: Path) -> None:
    league = read_league(season)
    turns = read_jsonl(season / "turns.jsonl").records
    taken = [row for row in turns if row["tuned"] and row["tuned"]["copied"] is not None]
    assert taken and {row["player"] for row in turns} == {"main", "sibling1", "sibling2"}
    for row in taken:
        change = row["tuned"]
        moved = {name: change["after"][name] / change["copied"].get(name, 1.0) for name in TUNED}
        assert all(np.isclose(m, [1.2, 1 / 1.2]).any() for m in moved.values())
        assert "took over" in told(row["player"], change)
    last = taken[-1]["tuned"]
    assert league.players[taken[-1]["player"]].factors == last["after"]


def test_weights_optimizer_and_settings_are_taken_over(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Look at the moment itself: the loser's new run holds the other's checkpoint, byte by byte."""
    seen: list[dict[str, Any]] = []
    real = population._take_over

    def look(league: League, player: Any, other: Any, factors: dict[str, float]) -> None:
        real(league, player, other, factors)
        now = league.players[player.player_id]
        mine, theirs = (
            load_state(checkpoints(league.run_folder(p) / "checkpoints")[-1]) for p in (now, other)
        )
        seen.append({"before": player, "now": now, "other": other})
        assert mine.arrays.keys() == theirs.arrays.keys() and mine.values == theirs.values
        for name, array in mine.arrays.items():
            np.testing.assert_array_equal(array, theirs.arrays[name])

    monkeypatch.setattr(population, "_take_over", look)
    play_season(Season("duel", start, tmp_path / "s", turns=3), RULES, learning())
    assert seen
    for row in seen:
        before, now, other = row["before"], row["now"], row["other"]
        assert (now.sha256, now.start, now.slots) == (other.sha256, other.start, other.slots)
        assert now.run != before.run and now.ahead + now.steps >= before.ahead + before.steps
    # The settings it learns with from then on are those it was given.
    runs = sorted((tmp_path / "s" / "players").glob("*/config.json"))
    used = {path.parent.name: read_json(path)["config"]["kl_coef"] for path in runs}
    players = read_league(tmp_path / "s").players
    base = learning().kl_coef
    for name in ("sibling1", "sibling2"):
        if players[name].run in used:
            assert used[players[name].run] == pytest.approx(base * players[name].factors["kl_coef"])


def test_killed_between_taking_over_and_the_commit_it_computes_the_same(
    start: Path, season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, real, died = tmp_path / "killed", League.commit, []

    def commit(league: League, turn: dict[str, Any], matches: list[dict[str, Any]]) -> None:
        change = turn["tuned"]
        if change and change["copied"] is not None and not died:
            died.append(turn["turn"])
            raise KeyboardInterrupt
        real(league, turn, matches)

    monkeypatch.setattr(League, "commit", commit)
    asked = Season("duel", start, place, turns=TURNS)
    with pytest.raises(KeyboardInterrupt):
        play_season(asked, RULES, learning())
    play_season(asked, RULES, learning())
    assert died and everything(place) == everything(season)


def test_results_of_the_other_are_taken_over() -> None:
    payoff = Payoff()
    payoff.add("main", "rookie", (1, 0, 9), fading=True)
    payoff.add("rookie", "sibling1", (2, 0, 8), fading=True)
    payoff.take_over("main", "sibling1")
    assert payoff.counts("main", "rookie") == payoff.counts("sibling1", "rookie") == (8, 0, 2)


def test_refusals(start: Path, tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="tune_games: games are played in pairs"):
        LeagueConfig(tune_games=3)
    with pytest.raises(BadValue, match="siblings is out of range"):
        LeagueConfig(siblings=10)
    with pytest.raises(BadValue, match="tune_factor is out of range"):
        replace(RULES, tune_factor=0.5)
