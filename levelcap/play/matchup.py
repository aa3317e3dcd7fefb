"""A against B, N games, fair sides.

Games 0..N-1 are laid out before the first tick and each is played to its end. Games 2k and 2k+1
are a pair: same seed, champions and items, seats exchanged. In `lms` each policy has five seats,
drawn by seed, complementary in the second game; the match counts for the policy of the last one
standing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.kit.seeds import chain, check_seed, stream
from levelcap.kit.stats import paired_interval
from levelcap.play.seats import Seats, views_of
from levelcap.world import make
from levelcap.world.match import ArenaWorld
from levelcap.world.protocols import Policy, ticks_of
from levelcap.world.spec import WORLDS, arena_spec

BATCH = 512  # games at once: even, so that a pair is never split


@dataclass(frozen=True)
class Result:
    """Outcome of a match-up from A's side; `scores` are 1, 0.5 or 0 a game, in game order."""

    wins: int
    draws: int
    losses: int
    win_rate: float
    ci_low: float
    ci_high: float
    scores: NDArray[np.float64] = field(repr=False)
    lengths: NDArray[np.int32] = field(repr=False)  # ticks
    first_side: NDArray[np.float64] = field(repr=False)  # score of team 0, whoever played it
    stats: dict[str, NDArray[Any]] = field(repr=False, default_factory=dict)

    @property
    def games(self) -> int:
        """Games played."""
        return self.wins + self.draws + self.losses

    def as_json(self) -> dict[str, float | int]:
        """The numbers of the result block."""
        rates = ("win_rate", "ci_low", "ci_high")
        told = {name: round(getattr(self, name), 6) for name in rates}
        return told | {n: getattr(self, n) for n in ("wins", "draws", "losses", "games")}


def seats_of_game(ruleset: str, game: int, seed: int) -> NDArray[np.int64]:
    """Who sits where in one game: 0 = A, 1 = B; the second game of a pair is the exchange."""
    spec = arena_spec(ruleset)
    if spec.num_teams == 2:
        seats = np.arange(spec.num_players) // (spec.num_players // 2)
    else:
        order = stream(chain(seed, game // 2), "lms seats").permutation(spec.num_players)
        seats = np.zeros(spec.num_players, np.int64)
        seats[order[spec.num_players // 2 :]] = 1
    return seats if game % 2 == 0 else 1 - seats


def one_seat(ruleset: str, game: int, seed: int) -> NDArray[np.int64]:
    """A in one seat drawn by seed, B in all others."""
    seats = np.ones(arena_spec(ruleset).num_players, np.int64)
    seats[chain(seed, game, 1) % len(seats)] = 0
    return seats


def scores_of(ruleset: str, seats: NDArray[Any], winners: NDArray[Any]) -> NDArray[np.float64]:
    """Scores [M] of policy 0 from seats [M, P] and the teams that won [M] (-1 = draw)."""
    size = seats.shape[1] // arena_spec(ruleset).num_teams
    won_by = seats[np.arange(len(seats)), np.maximum(winners, 0) * size]
    return np.where(winners < 0, 0.5, np.where(won_by == 0, 1.0, 0.0))


def counted(scores: NDArray[np.float64], alone: bool) -> dict[str, Any]:
    """Wins, draws, losses and win rate with its interval; alone: every game has its own seed."""
    # A game of its own seed is a pair of one.
    low, high = paired_interval(np.repeat(scores, 2) if alone else scores)
    return {
        "wins": int((scores == 1).sum()),
        "draws": int((scores == 0.5).sum()),
        "losses": int((scores == 0).sum()),
        "win_rate": float(scores.mean()),
        "ci_low": low,
        "ci_high": high,
    }


def play_games(
    a: Policy,
    b: Policy,
    ruleset: str,
    games: int,
    seed: int = 0,
    *,
    patch: str | dict[str, Any] = "1.0",
    champions: str | None = None,
    one_among: bool = False,
) -> Result:
    """Play `games` games of policy `a` against policy `b` and count.

    seed: game g has the match seed chain(seed, g // 2). one_among (lms): A has one seat a game,
    drawn by seed, and every game a seed of its own.
    """
    if ruleset not in WORLDS:
        raise unknown_name("world", ruleset, (*WORLDS, "gym:<id>", "zoo:<module>"))
    if games < 1:
        raise BadValue(refuse("games must be at least 1", games, "Give --games 2 or more"))
    check_seed(seed)
    if one_among and arena_spec(ruleset).num_teams == 2:
        raise BadValue(refuse("one among nine is for lms", ruleset, "Use --world lms"))
    seat = one_seat if one_among else seats_of_game
    layout = np.stack([seat(ruleset, g, seed) for g in range(games)])
    seeds = np.array([chain(seed, g if one_among else g // 2) for g in range(games)], np.uint64)
    parts = [
        play_batch([a, b], ruleset, layout[i : i + BATCH], seeds[i : i + BATCH], patch, champions)
        for i in range(0, games, BATCH)
    ]
    winners = np.concatenate([p["winner"] for p in parts])
    scores = scores_of(ruleset, layout, winners)
    stats = {key: np.concatenate([p[key] for p in parts]) for key in parts[0]}
    return Result(
        **counted(scores, alone=one_among),
        scores=scores,
        lengths=stats["tick"],
        first_side=np.where(winners < 0, 0.5, np.where(winners == 0, 1.0, 0.0)),
        stats=stats,
    )


def play_batch(
    policies: list[Policy],
    ruleset: str,
    seats: NDArray[Any],
    seeds: NDArray[Any],
    patch: str | dict[str, Any] = "1.0",
    champions: str | None = None,
) -> dict[str, NDArray[Any]]:
    """Play one match a row of seats [M, P] (indices of policies) from seeds [M], each to its end.

    Returns arrays [M]: winner (team, -1 = draw), tick, num_deaths, early_deaths, lead_changes.
    """
    rate = arena_spec(ruleset).tick_hz
    ticks = np.array([ticks_of(policy, rate) for policy in policies])
    # A seat has one rate in a world: matches whose seats have the same rates are played together.
    found: dict[str, NDArray[Any]] = {}
    layouts, which = np.unique(ticks[seats], axis=0, return_inverse=True)
    for number, rates in enumerate(layouts):
        rows = np.flatnonzero(which.reshape(-1) == number)
        world = make(
            ruleset,
            len(rows),
            views=views_of(policies),
            match_seeds=seeds[rows],
            auto_reset=False,
            patch=patch,
            champions=champions,
            decision_ticks=int(np.gcd.reduce(rates)),
            seat_ticks=rates,
        )
        for name, values in _play_out(world, policies, seats[rows]).items():
            found.setdefault(name, np.zeros(len(seats), values.dtype))[rows] = values
    return found


def _play_out(
    world: ArenaWorld, policies: list[Policy], seats: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    table = Seats(world, policies, seats)
    views = world.reset()
    due: NDArray[np.bool_] | None = None
    while not world.state["over"].all():
        views, *_, info = world.step(table.act(views, due))
        due = info["due"]
    keep = ("winner", "tick", "num_deaths", "early_deaths", "lead_changes")
    return {key: world.state[key].copy() for key in keep}
