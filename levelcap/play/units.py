"""The stage of games: 64 matches of players who are named, not handed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.backend import Backend
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.seeds import chain
from levelcap.play.matchup import play_batch, scores_of, seats_of_game
from levelcap.play.roster import Door, find
from levelcap.world.protocols import Policy

PRELOAD = ("levelcap.play.load",)  # torch: seconds for every new process
GAMES = 64  # of a unit: even, so that a pair is never split


@dataclass(frozen=True)
class Seating:
    """Matches of players by name or snapshot: who sits where, and the seed of each."""

    players: tuple[str, ...]
    world: str
    seats: NDArray[np.int64] = field(repr=False)  # [m, P], numbers of players
    seeds: NDArray[np.uint64] = field(repr=False)  # [m]
    patch: str = "1.0"


@lru_cache(maxsize=32)
def policy_of(name: str) -> Policy:
    """A scripted player, or the net in a folder; kept, because the next unit is of the same two."""
    if Path(name).is_dir():
        from levelcap.play.load import load_checkpoint

        return load_checkpoint(Path(name))
    return find(name, Door.REMOTE)


def play_unit(unit: Seating) -> list[float]:
    """Scores of the first player, match by match."""
    players = [policy_of(name) for name in unit.players]
    found = play_batch(players, unit.world, unit.seats, unit.seeds, unit.patch)
    # Whoever is not the first player is its opponent.
    sides = np.minimum(unit.seats, 1)
    return [float(score) for score in scores_of(unit.world, sides, found["winner"])]


def cut(whole: Seating) -> list[Seating]:
    """The same matches in units."""
    return [
        Seating(
            whole.players,
            whole.world,
            whole.seats[first : first + GAMES],
            whole.seeds[first : first + GAMES],
            whole.patch,
        )
        for first in range(0, len(whole.seeds), GAMES)
    ]


def series(a: str, b: str, world: str, games: int, seed: int) -> Seating:
    """Games 0 to `games` - 1 of A against B: those `play.matchup.play_games` lays out."""
    if games < 2 or games % 2:
        raise BadValue(refuse("games are played in pairs", games, "Give an even number"))
    seats = np.stack([seats_of_game(world, game, seed) for game in range(games)])
    seeds = np.array([chain(seed, game // 2) for game in range(games)], np.uint64)
    return Seating((a, b), world, seats, seeds)


def play_all(backend: Backend, seatings: Sequence[Seating]) -> list[NDArray[np.float64]]:
    """Scores of the first player in each seating, all of them cut into units for the backend."""
    units = [cut(seating) for seating in seatings]
    found = iter(backend.run(play_unit, [unit for cuts in units for unit in cuts]))
    return [np.concatenate([np.array(next(found)) for _ in cuts]) for cuts in units]


def play_series(
    backend: Backend, a: str, b: str, world: str, games: int, seed: int
) -> NDArray[np.float64]:
    """Scores of A in a series of games."""
    return play_all(backend, [series(a, b, world, games, seed)])[0]
