"""The hunt: an exploiter of a fixed price, measured on games of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from levelcap.kit.errors import BadFile, BadValue
from levelcap.learn.engine.task import Hooks
from levelcap.learn.league import hunt as module
from levelcap.learn.league.hunt import Hunt, hunt
from tests.learn.league.test_season import hero, learning


@pytest.fixture(autouse=True)
def few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_GAMES", 4)
    monkeypatch.setattr(module, "FINAL_GAMES", 8)
    monkeypatch.setattr(module, "SNAPSHOTS", 2)


def test_a_hunt_spends_its_budget_is_measured_and_remembered(tmp_path: Path) -> None:
    champion = hero(tmp_path / "champion")
    asked = Hunt("duel", champion, tmp_path / "hunt", core_minutes=0.02)
    found = hunt(asked, learning())
    assert found is not None and found.core_seconds >= 0.02 * 60
    assert 0 <= found.low <= found.bound <= found.high <= 1 and found.games == 8
    assert (asked.out / found.snapshot).is_dir() and len(found.curve) <= module.SNAPSHOTS
    assert json.loads((asked.out / "hunt.json").read_text())["bound"] == found.bound
    assert "core-hours" in found.sentence()
    # Asked again it tells what it found; of another champion it refuses.
    assert hunt(asked, learning()) == found
    other = hero(tmp_path / "other", "hierarchy", ("strategist=lstm",))
    with pytest.raises(BadFile, match="another champion"):
        hunt(replace(asked, champion=other), learning())


def test_broken_off_it_goes_on(tmp_path: Path) -> None:
    champion = hero(tmp_path / "champion")
    asked = Hunt("duel", champion, tmp_path / "hunt", core_minutes=0.02)

    def stop(values: dict[str, float]) -> None:
        (asked.out / "stop").touch()

    assert hunt(asked, learning(), Hooks(on_report=stop)) is None
    assert not (asked.out / "hunt.json").exists()
    assert hunt(asked, learning()) is not None


def test_the_best_look_is_not_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the games of the look for the final measure, too, the bound would be the luckiest."""
    seeds = []
    real = module.play_games

    def play(a: object, b: object, world: str, games: int, seed: int) -> object:
        seeds.append((games, seed))
        return real(a, b, world, games, seed)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "play_games", play)
    champion = hero(tmp_path / "champion")
    hunt(Hunt("duel", champion, tmp_path / "hunt", core_minutes=0.02), learning())
    looks = {seed for games, seed in seeds if games == 4}
    [final] = [seed for games, seed in seeds if games == 8]
    assert len(looks) == 1 and final not in looks


def test_refusals(tmp_path: Path) -> None:
    champion = hero(tmp_path / "champion")
    with pytest.raises(BadValue, match="needs a budget"):
        hunt(Hunt("duel", champion, tmp_path / "h", core_minutes=0), learning())
    with pytest.raises(BadValue, match="two sides"):
        hunt(Hunt("gym:CartPole-v1", champion, tmp_path / "h"), learning())
    assert not (tmp_path / "h").exists()
