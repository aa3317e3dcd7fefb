"""Stages as functions of a unit: 64 games of two players who are named, not handed over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.seeds import chain
from levelcap.play.backend import Backend
from levelcap.play.matchup import play_batch, scores_of, seats_of_game
from levelcap.play.roster import Door, find
from levelcap.world.protocols import Policy

GAMES = 64  # of a unit: even, so that a pair is never split


@dataclass(frozen=True)
class Games:
    """Games `first` to `first + count - 1` of a series of A against B, by name or snapshot."""

    a: str
    b: str
    world: str
    seed: int
    first: int
    count: int
    patch: str = "1.0"


@lru_cache(maxsize=32)
def policy_of(name: str) -> Policy:
    """A scripted player, or the net in a folder; kept, because the next unit is of the same two."""
    if Path(name).is_dir():
        from levelcap.play.load import load_checkpoint

        return load_checkpoint(Path(name))
    return find(name, Door.REMOTE)


def play_unit(unit: Games) -> list[float]:
    """Scores of A, game by game: those `play.matchup.play_games` lays out for the same seed."""
    numbers = range(unit.first, unit.first + unit.count)
    seats = np.stack([seats_of_game(unit.world, game, unit.seed) for game in numbers])
    seeds = np.array([chain(unit.seed, game // 2) for game in numbers], np.uint64)
    players = [policy_of(unit.a), policy_of(unit.b)]
    found = play_batch(players, unit.world, seats, seeds, unit.patch)
    return [float(score) for score in scores_of(unit.world, seats, found["winner"])]


def cut(games: int) -> list[tuple[int, int]]:
    """First game and number of games of every unit."""
    return [(first, min(GAMES, games - first)) for first in range(0, games, GAMES)]


def play_series(
    backend: Backend, a: str, b: str, world: str, games: int, seed: int
) -> NDArray[np.float64]:
    """Scores of A in a series of games, cut into units for whoever plays them."""
    if games < 2 or games % 2:
        raise BadValue(refuse("games are played in pairs", games, "Give an even number"))
    units = [Games(a, b, world, seed, first, count) for first, count in cut(games)]
    return np.concatenate([np.array(scores) for scores in backend.run(play_unit, units)])
