"""Claims: matches as a worker reports them, with all it takes to play them again. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.seeds import chain, check_seed
from levelcap.play.matchup import scores_of, seats_of_game
from levelcap.play.seats import Seats, views_of
from levelcap.world import make
from levelcap.world.protocols import Policy, ticks_of
from levelcap.world.replay import Recorder, Replay
from levelcap.world.spec import arena_spec


@dataclass(frozen=True)
class Claim:
    """A match as a worker reports it."""

    worker: str
    world: str
    players: tuple[str, str]
    """content hashes of A and B"""
    seats: tuple[int, ...]
    """who sits where: 0 = A, 1 = B"""
    seed: int
    """of the match; all this as the worker was told, what follows is what it says"""
    score: float
    """of A: 1, 0.5 or 0"""
    replay: Replay


def rate_of(players: Sequence[Policy], world: str) -> int:
    """Ticks between the decisions of both players.

    Raises:
        BadValue: players of different rates.
    """
    rates = {ticks_of(player, arena_spec(world).tick_hz) for player in players}
    if len(rates) > 1:
        remedy = "Give players that decide equally often"
        raise BadValue(refuse("claims are of players of one rate", sorted(rates), remedy))
    return rates.pop()


def play_claims(
    worker: str, players: tuple[Policy, Policy], ruleset: str, games: int, seed: int
) -> list[Claim]:
    """Play games of A against B as `play.matchup` lays them out, each kept as a replay.

    Raises:
        BadValue: one player against itself, or players of different rates.
    """
    check_seed(seed)
    hashes = players[0].content_hash, players[1].content_hash
    if hashes[0] == hashes[1]:
        raise BadValue(refuse("a match needs two players", hashes[0][:12], "Give another one"))
    layout = np.stack([seats_of_game(ruleset, game, seed) for game in range(games)])
    seeds = [chain(seed, game // 2) for game in range(games)]
    world = make(
        ruleset,
        games,
        views=views_of(players),
        match_seeds=np.array(seeds, np.uint64),
        auto_reset=False,
        decision_ticks=rate_of(players, ruleset),
    )
    table, views = Seats(world, players, layout), world.reset()
    names = [
        (player.name or digest[:12], digest) for player, digest in zip(players, hashes, strict=True)
    ]
    recorders = [Recorder(world, m, [names[i] for i in layout[m]]) for m in range(games)]
    while not all(recorder.done for recorder in recorders):
        views, *_, info = world.step(table.act(views))
        for recorder in recorders:
            recorder.record(info)
    scores = scores_of(ruleset, layout, world.state["winner"])
    return [
        Claim(worker, ruleset, hashes, tuple(seats), match_seed, float(score), recorder.replay())
        for seats, match_seed, score, recorder in zip(
            layout.tolist(), seeds, scores, recorders, strict=True
        )
    ]
