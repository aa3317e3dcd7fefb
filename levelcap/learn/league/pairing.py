"""Whom a player meets, how often and why: the league's matchmaking on names and chances. No torch.

    plan(player, frozen, main, payoff, config)     # opponents, their shares of the matches, and why

A pairing with oneself is self-play. Every rule that gave an opponent its share is kept with the
numbers it used, so that a draw can be explained later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from levelcap.kit.errors import StateError, refuse
from levelcap.learn.league.config import BOT, MAIN, MAIN_EXPLOITER, SIBLING, LeagueConfig
from levelcap.learn.league.payoff import Payoff
from levelcap.learn.league.pfsp import pick, weigh
from levelcap.learn.league.players import Player


@dataclass(frozen=True)
class Why:
    """A rule that chose an opponent."""

    rule: str
    share: float
    """of all matches of the turn"""
    win_chance: float
    """the player's, as it was known then"""


@dataclass(frozen=True)
class Pairing:
    """One opponent of a turn."""

    opponent: str
    share: float
    why: tuple[Why, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def plan(
    player: Player, frozen: list[Player], main: Player, payoff: Payoff, config: LeagueConfig
) -> list[Pairing]:
    """All opponents of a player's next turn with their shares, which sum to 1.

    frozen: players that do not learn, the dead left out. main: the main player as it is.
    """
    name = player.player_id
    if player.agent_type in (MAIN, SIBLING):
        rules = _of_main(name, frozen, payoff, config)
    elif player.agent_type == MAIN_EXPLOITER:
        rules = _of_main_exploiter(name, main.player_id, frozen, payoff, config)
    else:
        rules = _pfsp(name, [*frozen, main], payoff, config, "hard", 1.0, "everyone, hard")
    found: dict[str, list[Why]] = {}
    for opponent, why in rules:
        found.setdefault(opponent, []).append(why)
    if set(found) <= {name}:
        what, remedy = "nobody to play against", "Give the league a bot: --set bots=veteran"
        raise StateError(refuse(what, name, remedy))
    return [
        Pairing(opponent, sum(why.share for why in whys), tuple(whys))
        for opponent, whys in found.items()
    ]


def narrowed(pairings: Sequence[Pairing], most: int, rng: np.random.Generator) -> list[Pairing]:
    """At most `most` of them, drawn by their shares."""
    shares = pick(np.array([pairing.share for pairing in pairings]), most, rng)
    return [
        Pairing(pairing.opponent, float(share), pairing.why)
        for pairing, share in zip(pairings, shares, strict=True)
        if share > 0
    ]


Rules = list[tuple[str, Why]]


def _of_main(name: str, frozen: list[Player], payoff: Payoff, config: LeagueConfig) -> Rules:
    """Itself, all of the past where it is hard, and whom it has forgotten how to beat."""
    rules: Rules = [(name, Why("self-play", config.self_play, 0.5))]
    forgotten = [
        player
        for player in frozen
        if player.agent_type != BOT and payoff.rate(name, player.player_id) < config.forgotten_below
    ]
    # Where nobody is forgotten the past gets that share, too.
    share = config.forgotten if forgotten else 0.0
    rest = 1 - config.self_play - share
    rules += _pfsp(name, frozen, payoff, config, "hard", rest, "the past, hard")
    return rules + _pfsp(name, forgotten, payoff, config, "hard", share, "forgotten")


def _of_main_exploiter(
    name: str,
    main: str,
    frozen: list[Player],
    payoff: Payoff,
    config: LeagueConfig,
) -> Rules:
    """The present main; while that is hopeless, its past selves of about the own strength."""
    past = [p for p in frozen if p.agent_type == MAIN]
    chance = payoff.rate(name, main)
    if past and chance < config.hopeless_below:
        return _pfsp(name, past, payoff, config, "var", 1.0, "main's past, var")
    return [(main, Why("the present main", 1.0, chance))]


def _pfsp(
    name: str,
    candidates: list[Player],
    payoff: Payoff,
    config: LeagueConfig,
    scheme: str,
    share: float,
    rule: str,
) -> Rules:
    chances = [payoff.rate(name, player.player_id) for player in candidates]
    shares = share * weigh(chances, scheme, config.power, config.floor)
    return [
        (player.player_id, Why(rule, float(part), chance))
        for player, part, chance in zip(candidates, shares, chances, strict=True)
    ]
