"""Rated matches: a newly frozen player against others, fixed weights on both sides."""

from __future__ import annotations

from typing import Any

import numpy as np

from levelcap.kit.backend import Backend
from levelcap.kit.seeds import chain, stream
from levelcap.learn.league.config import BOT
from levelcap.learn.league.players import Player
from levelcap.learn.league.shelf import Shelf
from levelcap.learn.league.state import League
from levelcap.play.units import play_all, series
from levelcap.world.spec import WORLD_VERSION, WORLDS


def rate_newcomer(
    league: League, newcomer: Player, shelf: Shelf, seed: int, backend: Backend
) -> list[dict[str, Any]]:
    """Play it against up to `rated_opponents` frozen players; the payoff learns from it.

    Returns a row for every match: game `g` of the series `seed` can be played again, its seats are
    `play.matchup.seats_of_game`'s and its match seed chain(seed, g // 2).
    """
    count = league.config.rated_games
    # Outside games have no match-ups; training results rate them.
    if league.world not in WORLDS or count == 0:
        return []
    others = [player for player in _opponents(league, newcomer, seed) if shelf.alive(player)]
    seeds = [chain(seed, index) for index in range(len(others))]
    seatings = [
        series(_name(league, newcomer), _name(league, other), league.world, count, own)
        for other, own in zip(others, seeds, strict=True)
    ]
    rows: list[dict[str, Any]] = []
    for other, own, scores in zip(others, seeds, play_all(backend, seatings), strict=True):
        wins, draws, losses = (int((scores == value).sum()) for value in (1.0, 0.5, 0.0))
        result = (wins, draws, losses)
        league.payoff.add(newcomer.player_id, other.player_id, result, fading=False)
        rows += [
            {
                "round": league.turn,
                "agent_a": newcomer.player_id,
                "agent_b": other.player_id,
                "sha256_a": newcomer.sha256,
                "sha256_b": other.sha256,
                "seed": own,
                "game": game,
                "world_version": WORLD_VERSION,
                "outcome": int(outcome),
            }
            for game, outcome in enumerate(np.rint(2 * scores - 1))
        ]
    return rows


def _opponents(league: League, newcomer: Player, seed: int) -> list[Player]:
    """Bots first: they tie the ratings to the anchor. Of the rest the newest half, then a draw."""
    others = [p for p in league.frozen() if p.player_id != newcomer.player_id]
    bots = [p for p in others if p.agent_type == BOT and "~" not in p.player_id]
    rest = [p for p in others if p not in bots]
    room = max(0, league.config.rated_opponents - len(bots))
    newest, older = rest[len(rest) - room // 2 :], rest[: len(rest) - room // 2]
    order = stream(seed, "rated opponents").permutation(len(older))
    drawn = [older[i] for i in order[: room - len(newest)]]
    return [*bots, *newest, *drawn][: league.config.rated_opponents]


def _name(league: League, player: Player) -> str:
    """What another process finds it by."""
    assert player.checkpoint is not None
    return player.player_id if player.agent_type == BOT else str(league.place / player.checkpoint)
