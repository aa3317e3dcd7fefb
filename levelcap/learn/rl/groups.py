"""The worlds a run plays in: one for matches against itself, one for matches against others."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

import levelcap.world
from levelcap.kit.seeds import chain, stream
from levelcap.learn.rl.config import RlConfig
from levelcap.learn.rl.match_group import MatchGroup
from levelcap.learn.rl.opponents import Pool
from levelcap.play.roster import Door, find
from levelcap.world.players.bots import Bot
from levelcap.world.spec import WorldSpec

SELF, OTHERS = 1, 2  # purposes of the seeds


def build_groups(
    spec: WorldSpec, views: tuple[str, ...], config: RlConfig, pool: Pool, seed: int
) -> list[MatchGroup]:
    """Groups whose lanes together are about `config.lanes`, a multiple of the minibatches.

    views: what the learner's net reads, its critic included.
    """
    players, minibatches = spec.num_players, config.minibatches
    outside = ":" in spec.name
    # Without opponents every lane plays the learner itself.
    share = 1.0 if not pool.members else config.self_play
    own = _matches(config.lanes * share, players, minibatches)
    seats = seats_of_learner(spec, config)
    other = _matches(config.lanes * (1 - share), seats, minibatches) if pool.members else 0
    teacher = find(config.teacher, Door.TRAINING) if config.teacher else None
    shares = (config.team_reward, config.drill)
    groups = []
    if own:
        seen = views if teacher is None else _with_bots(views)
        world = _world(spec, own, seen, chain(seed, SELF), config, outside)
        learned = np.ones((own, players), np.bool_)
        groups.append(MatchGroup(world, learned, None, teacher, *shares))
    if other:
        world = _world(spec, other, _with_bots(views), chain(seed, OTHERS), config, outside)
        learned = learned_seats(spec, other, seats, seed)
        groups.append(MatchGroup(world, learned, pool, copy.copy(teacher), *shares))
    return groups


def _with_bots(views: tuple[str, ...]) -> tuple[str, ...]:
    """The net's views and the bots'."""
    return tuple(dict.fromkeys((*views, *Bot.views)))


def _matches(lanes: float, seats: int, minibatches: int) -> int:
    return 0 if lanes == 0 else minibatches * max(1, round(lanes / seats / minibatches))


def seats_of_learner(spec: WorldSpec, config: RlConfig) -> int:
    """The learner's seats in a match against others: its team, or half of them all."""
    if spec.num_teams < spec.num_players or spec.num_players == 2:
        return spec.num_players // spec.num_teams
    return config.learned_seats or max(1, spec.num_players // 2)


def learned_seats(spec: WorldSpec, matches: int, seats: int, seed: int) -> NDArray[np.bool_]:
    """[M, P]: teams in turn; without teams, seats drawn by seed."""
    learned = np.zeros((matches, spec.num_players), np.bool_)
    team = np.arange(spec.num_players) * spec.num_teams // spec.num_players
    rng = stream(seed, "learned seats")
    for match in range(matches):
        # Both sides in turn, so that no side is learned better than the other.
        if spec.num_teams == 2:
            learned[match] = team == match % 2
        else:
            learned[match, rng.permutation(spec.num_players)[:seats]] = True
    return learned


def _world(
    spec: WorldSpec,
    matches: int,
    views: tuple[str, ...],
    seed: int,
    config: RlConfig,
    outside: bool,
) -> Any:
    if outside:
        return levelcap.world.make(spec.name, matches, seed=seed)
    return levelcap.world.make(
        spec.name,
        matches,
        seed=seed,
        views=views,
        patch=spec.patch,
        threads=1,
        pseudo_reward_scale=config.pseudo_reward,
    )
