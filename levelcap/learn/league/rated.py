"""Rated matches: a newly frozen player against others, fixed weights on both sides."""

from __future__ import annotations

from typing import Any

import numpy as np

from levelcap.kit.seeds import chain, stream
from levelcap.learn.league.config import BOT
from levelcap.learn.league.players import Player
from levelcap.learn.league.shelf import Shelf
from levelcap.learn.league.state import League
from levelcap.play.matchup import play_games
from levelcap.world.spec import WORLD_VERSION, WORLDS


def rate_newcomer(
    league: League, newcomer: Player, shelf: Shelf, seed: int
) -> list[dict[str, Any]]:
    """Play it against up to `rated_opponents` frozen players; the payoff learns from it.

    Returns a row for every match: game `g` of the series `seed` can be played again, its seats are
    `play.matchup.seats_of_game`'s and its match seed chain(seed, g // 2).
    """
    config, rows = league.config, []
    if league.world not in WORLDS:  # outside games have no match-ups; training results rate them
        return []
    others = [p for p in league.frozen() if p.player_id != newcomer.player_id]
    # Bots first: they tie the ratings to the anchor. Of the rest the newest half, then a draw.
    bots = [p for p in others if p.agent_type == BOT and "~" not in p.player_id]
    rest = [p for p in others if p not in bots]
    room = max(0, config.rated_opponents - len(bots))
    newest, older = rest[len(rest) - room // 2 :], rest[: len(rest) - room // 2]
    order = stream(seed, "rated opponents").permutation(len(older))
    drawn = [older[i] for i in order[: room - len(newest)]]
    for index, other in enumerate([*bots, *newest, *drawn][: config.rated_opponents]):
        if not shelf.alive(other) or config.rated_games == 0:
            continue
        series = chain(seed, index)
        pair = shelf.load(newcomer.key), shelf.load(other.key)
        found = play_games(*pair, league.world, config.rated_games, series)
        result = (found.wins, found.draws, found.losses)
        league.payoff.add(newcomer.player_id, other.player_id, result, fading=False)
        rows += [
            {
                "round": league.turn,
                "agent_a": newcomer.player_id,
                "agent_b": other.player_id,
                "sha256_a": newcomer.sha256,
                "sha256_b": other.sha256,
                "seed": series,
                "game": game,
                "world_version": WORLD_VERSION,
                "outcome": int(outcome),
            }
            for game, outcome in enumerate(np.rint(2 * found.scores - 1))
        ]
    return rows
