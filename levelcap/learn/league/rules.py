"""Rules of a season that look at the league alone: whose turn, who is frozen, who starts anew."""

from __future__ import annotations

import math

import numpy as np

from levelcap.kit.seeds import chain, stream
from levelcap.learn.engine.stops import Stops
from levelcap.learn.league.config import (
    LEAGUE_EXPLOITER,
    MAIN,
    MAIN_EXPLOITER,
    SIBLING,
)
from levelcap.learn.league.players import Player
from levelcap.learn.league.state import League


def weight(league: League, player: Player) -> float:
    """A learner's share of the turns."""
    total = sum(league.config.weight(learner.agent_type) for learner in league.learners())
    return league.config.weight(player.agent_type) / total


def next_learner(league: League) -> Player:
    """Whose turn it is: the one furthest behind its share; of equals the first."""
    # One more than were taken: before the first turn nobody is behind, the heaviest is ahead.
    done = sum(player.turns for player in league.learners()) + 1
    return max(league.learners(), key=lambda p: weight(league, p) * done - p.turns)


def length_of_life(league: League, player: Player, total: int) -> Stops:
    """When a learner's run is over: main's with the season, an exploiter's after a share of it.

    total: turns of the season.
    """
    config = league.config
    turns = math.ceil(weight(league, player) * total)
    if player.agent_type not in (MAIN, SIBLING):
        turns = math.ceil(turns * config.snapshot_share)
    if config.turn_updates:
        return Stops(updates=turns * config.turn_updates)
    return Stops(minutes=turns * config.turn_s / 60)


def is_due(league: League, player: Player, total: int) -> bool:
    """Is a learner to be frozen now, its life not being over?"""
    if is_strong(league, player):
        return True
    if player.agent_type != MAIN:
        return False
    # Main: a share of the season has passed since the last time, or this was its last turn.
    turns = weight(league, player) * total
    late = player.turns - player.frozen_at >= league.config.snapshot_share * turns
    return late or is_last(league, player, total)


def is_last(league: League, player: Player, total: int) -> bool:
    """Was this the last turn of a learner that has turns to the end of the season?"""
    return total - league.turn - 1 < 1 / weight(league, player)


def to_be_tuned(league: League, player: Player, total: int) -> bool:
    """Is main or a sibling to be compared with another of them now?"""
    if player.agent_type not in (MAIN, SIBLING) or not league.config.siblings:
        return False
    # Main once more at the end: it is what the season gives to others.
    last = player.agent_type == MAIN and is_last(league, player, total)
    return last or player.turns % league.config.tune_turns == 0


def is_strong(league: League, player: Player) -> bool:
    """Does it beat everybody it has to, on enough games?"""
    # An exploiter of main has done its work when main loses; nobody else matters to it.
    others = [p.player_id for p in league.frozen()]
    if player.agent_type == MAIN_EXPLOITER:
        others = [p.player_id for p in league.learners() if p.agent_type == MAIN]
    name, payoff, config = player.player_id, league.payoff, league.config
    return bool(others) and all(
        payoff.games(name, other) >= config.snapshot_games
        and payoff.rate(name, other) >= config.snapshot_at
        for other in others
    )


def starts_anew(league: League, player: Player, over: bool, seed: int) -> bool:
    """Does a learner that was frozen begin again? over: its life has reached its end."""
    if player.agent_type == MAIN:
        return False
    if player.agent_type != LEAGUE_EXPLOITER or over:
        return True
    chance = stream(chain(seed, league.turn), "league reset").random()
    return bool(chance < league.config.league_exploiter_reset)


def start_of_life(league: League, total: int) -> Player:
    """Whom an exploiter begins as: pi_sup; in the second half the best old main."""
    # Later exploiters begin where main was lately: from pi_sup its level is out of reach by then.
    mains = [p for p in league.frozen() if p.agent_type == MAIN]
    if league.turn < total / 2 or not mains:
        return league.players[f"{MAIN}-0"]
    names = [p.player_id for p in mains]
    means = [np.mean([league.payoff.rate(a, b) for b in names]) for a in names]
    return mains[int(np.argmax(means))]
