"""Seasons: real matches, real learning, killed with kill -9 and gone on with."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from levelcap.kit.errors import BadFile, BadValue, Conflict, StateError
from levelcap.kit.files import read_jsonl
from levelcap.learn.engine.task import Hooks
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.learn.league.config import LeagueConfig
from levelcap.learn.league.season import Season, play_season
from levelcap.learn.league.shelf import Shelf
from levelcap.learn.league.state import League, read_league
from levelcap.learn.league.tidy import take_back
from levelcap.learn.rl.config import RlConfig, for_world
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.nets.options import read_options
from levelcap.trials.league_report import summarise

SETTINGS: dict[str, Any] = {
    "turn_updates": 4,
    "bots": ("rookie",),
    "cousins": 0,
    "rated_games": 2,
    "rated_opponents": 3,
    "snapshot_share": 0.4,
    "opponents": 3,
}
CONFIG = LeagueConfig(**SETTINGS)
SMALL = {"lanes": 16, "unroll": 24, "minibatches": 2, "value_warmup": 0}
TURNS = 8


def learning(family: str = "flat") -> RlConfig:
    return replace(for_world("duel", family), **SMALL)


def hero(
    place: Path, family: str = "flat", options: tuple[str, ...] = (), world: str = "duel"
) -> Path:
    torch.set_num_threads(1)
    spec = spec_of_world(world)
    meta = describe(family, spec, "dummy", ":" in world, (), read_options(options))
    save_snapshot(place, weights_of(new_net(meta, 1)), meta, "test")
    return place


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hero(tmp_path_factory.mktemp("hero") / "start")


@pytest.fixture(scope="module")
def whole(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A season that nobody disturbed."""
    place = tmp_path_factory.mktemp("season") / "whole"
    play_season(Season("duel", start, place, turns=TURNS), CONFIG, learning())
    return place


def told(place: Path) -> dict[str, Any]:
    """Everything a season knows but how long it took."""
    state = json.loads((place / "league_state.json").read_text())
    for name in ("seconds", "core_seconds", "sizes"):
        del state[name]
    turns = [{**row, "seconds": 0} for row in read_jsonl(place / "turns.jsonl").records]
    matches = read_jsonl(place / "matches.jsonl").records
    frozen = sorted(p.name for p in (place / "frozen").iterdir())
    return {"state": state, "turns": turns, "matches": matches, "frozen": frozen}


def test_everybody_plays_learns_and_is_frozen(whole: Path) -> None:
    league = read_league(whole)
    turns = read_jsonl(whole / "turns.jsonl").records
    order = [row["player"] for row in turns]
    assert order.count("main") == 4 and order.count("main_exploiter") == 2
    main = league.players["main"]
    assert main.updates == 16 and main.sha256 != league.players["main-0"].sha256
    # The last turn of main froze it as it is.
    newest = [p for p in league.frozen() if p.agent_type == "main"][-1]
    assert newest.sha256 == main.sha256 and newest.parent_id == "main"
    assert league.players["main_exploiter"].life >= 1
    assert sum(sum(row) for turn in turns for row in turn["results"].values()) > 0
    for row in turns:
        assert sum(p["share"] for p in row["opponents"]) == pytest.approx(1)
    # Rated matches say exactly who played.
    for row in read_jsonl(whole / "matches.jsonl").records:
        assert row["sha256_a"] == league.players[row["agent_a"]].sha256
        assert row["outcome"] in (-1, 0, 1)


def test_killed_at_any_moment_it_computes_the_same(
    start: Path, whole: Path, tmp_path: Path
) -> None:
    place = tmp_path / "killed"
    code = (
        "import sys; from pathlib import Path; from tests.learn.league.test_season import *;"
        "play_season(Season('duel', Path(sys.argv[1]), Path(sys.argv[2]), turns=TURNS), CONFIG,"
        " learning(), on_turn=lambda league, row: print(row['turn'], flush=True))"
    )
    command = [sys.executable, "-c", code, str(start), str(place)]
    for wait in (0.05, 0.35):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stdout.readline()
            time.sleep(wait)  # somewhere in the turn after
            os.kill(process.pid, signal.SIGKILL)
    done = read_league(place).turn
    assert 2 <= done < TURNS
    play_season(Season("duel", start, place, turns=TURNS), CONFIG, learning())
    assert told(place) == told(whole)


def test_what_a_lost_turn_left_behind_is_taken_back(whole: Path, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    shutil.copytree(whole, place)
    for name in ("turns.jsonl", "matches.jsonl"):
        with (place / name).open("a") as file:
            file.write('{"turn": 99}\n{"tor')
    main = place / "players" / "main-0" / "checkpoints"
    newest = sorted(main.iterdir())[-1]
    shutil.copytree(newest, main / "checkpoint-99-20260101-0000")
    (place / "players" / "main_exploiter-9").mkdir()
    take_back(read_league(place))
    assert told(place) == told(whole)
    assert sorted(p.name for p in main.iterdir()) == sorted(
        p.name for p in (whole / "players" / "main-0" / "checkpoints").iterdir()
    )
    assert not (place / "players" / "main_exploiter-9").exists()


def test_a_damaged_opponent_is_dead_and_the_season_goes_on(start: Path, tmp_path: Path) -> None:
    place = tmp_path / "season"

    def damage(league: League, row: dict[str, Any]) -> None:
        if row["frozen"] and row["frozen"].startswith("main_exploiter-0"):
            weights = place / league.players[row["frozen"]].checkpoint / "model.safetensors"
            weights.write_bytes(weights.read_bytes()[:-1] + b"?")

    season = Season("duel", start, place, turns=10)
    league = play_season(season, CONFIG, learning(), on_turn=damage).league
    assert league.turn == 10
    assert league.players["main_exploiter-0"].dead
    met = [
        p["opponent"]
        for row in read_jsonl(place / "turns.jsonl").records[5:]
        for p in row["opponents"]
    ]
    assert "main_exploiter-0" not in met


def test_a_learners_damaged_file_is_taken_again_from_its_run(whole: Path, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    shutil.copytree(whole, place)
    league = read_league(place)
    shelf, main = Shelf(league), league.players["main"]
    weights = place / str(main.checkpoint) / "model.safetensors"
    good = weights.read_bytes()
    weights.write_bytes(b"?")
    assert shelf.alive(main) and weights.read_bytes() == good
    # Gone from both places: said, not looked for without end.
    shutil.rmtree(league.run_folder(main) / "snapshots")
    weights.write_bytes(b"?")
    with pytest.raises(StateError, match="a learner's snapshot is lost"):
        shelf.alive(main)


@pytest.mark.parametrize("family", ["flat", "hierarchy"])
@pytest.mark.parametrize("world", ["duel", "lms", "siege", "crown"])
def test_every_ruleset_and_family_has_seasons(world: str, family: str, tmp_path: Path) -> None:
    options = ("strategist=lstm",) if family == "hierarchy" else ()
    first = hero(tmp_path / "start", family, options, world)
    short = {"lanes": 20, "unroll": 4, "minibatches": 1, "value_warmup": 0}
    rl = replace(for_world(world, family), **short)
    # The last of three turns is main's second one, from a checkpoint with matches in the middle.
    rules = replace(CONFIG, turn_updates=1, rated_games=0, league_exploiter_weight=0.0, opponents=2)
    league = play_season(Season(world, first, tmp_path / "season", turns=3), rules, rl).league
    main = league.players["main"]
    assert (league.turn, main.turns, main.updates) == (3, 2, 2)
    assert main.sha256 != league.players["main-0"].sha256


@pytest.mark.filterwarnings("ignore:The old environment creation API:DeprecationWarning")
def test_an_outside_game_of_two_has_seasons(tmp_path: Path) -> None:
    """Rock, paper, scissors of PettingZoo: who has more reward in all has won."""
    world = "zoo:pettingzoo.classic.rps_v2"
    start = hero(tmp_path / "start", world=world)
    rl = replace(for_world(world), **SMALL)
    asked = Season(world, start, tmp_path / "season", turns=4)
    league = play_season(asked, CONFIG, rl).league
    wins, draws, losses = league.payoff.counts("main", "main-0")
    assert wins > 0 and losses > 0 and wins + draws + losses >= 8
    assert not any(player.agent_type == "bot" for player in league.players.values())
    # Rated matches need match-ups, which outside games have not: a report tells what there is.
    told_of = summarise(asked.out)
    assert told_of["num_matches"] == 0 and told_of["elo"] == {}
    three = "zoo:mpe2.simple_adversary_v3"
    with pytest.raises(BadValue, match="two sides; got '3 in zoo:mpe2.simple_adversary_v3'"):
        first = hero(tmp_path / "three", world=three)
        play_season(Season(three, first, tmp_path / "no", turns=2), CONFIG, for_world(three))
    assert not (tmp_path / "no" / "league_state.json").exists()


def test_refusals(start: Path, whole: Path, tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="one length"):
        play_season(Season("duel", start, tmp_path / "s"), CONFIG, learning())
    assert not (tmp_path / "s").exists()
    with pytest.raises(BadFile, match="no season lies here"):
        read_league(tmp_path)
    with pytest.raises(Conflict, match=r"config\.floor"):
        season = Season("duel", start, whole, turns=TURNS)
        play_season(season, replace(CONFIG, floor=0.2), learning())
    with pytest.raises(BadFile, match="CartPole"):
        play_season(Season("gym:CartPole-v1", start, tmp_path / "t", turns=2), CONFIG, learning())


def test_asked_to_stop_or_wait_it_obeys_at_a_checkpoint(start: Path, tmp_path: Path) -> None:
    place, published = tmp_path / "season", []
    long = replace(CONFIG, turn_updates=1000)

    def ask(values: dict[str, float]) -> None:
        if values["updates"] >= 4:
            (place / "stop").touch()

    hooks = Hooks(on_report=ask, on_publish=published.append)
    ending = play_season(Season("duel", start, place, turns=4), long, learning(), hooks)
    assert ending.interrupted and ending.league.turn == 1
    assert ending.league.players["main"].updates == 4 and not (place / "stop").exists()
    # What was published is the season's, not that of a player's run.
    assert all(folder.parent == place / "snapshots" for folder in published)
