"""Many matches, one decision: decode, tick, reward, restart, observe. Called on chunks of matches.

`Buffers` are the arrays a world hands out; they are overwritten by every call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.compiled import entry, kernel
from levelcap.world.rules.chance import match_seed, row_key
from levelcap.world.rules.objects import write_objects
from levelcap.world.rules.observe import (
    may_fire,
    may_interact,
    may_use,
    scratch,
    survey,
    write_context,
    write_features,
    write_mask,
    write_player,
)
from levelcap.world.rules.sight import look
from levelcap.world.rules.terrain import frame_sign, length
from levelcap.world.rules.tick import keep_score, start_match, tick

AIM_UNITS = 2.0  # one aim bin, in units: +-5 bins reach +-10 u, the base sight


class Buffers(NamedTuple):
    """What `step` returns, for all matches; a view that was not asked for has no rows."""

    features: NDArray[np.float32]
    player: NDArray[np.float32]
    objects: NDArray[np.float32]
    context: NDArray[np.float32]
    mask: NDArray[np.uint8]
    key: NDArray[np.uint64]
    reset: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    active: NDArray[np.bool_]
    due: NDArray[np.bool_]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    ended: NDArray[np.bool_]  # [M]
    winner: NDArray[np.int8]  # [M]
    length: NDArray[np.int32]  # [M] decisions of a match that ended
    actions: NDArray[np.uint8]  # [M, P, 7] as carried out


class Setup(NamedTuple):
    """How a world was made, for kernels."""

    seed: np.uint64
    decision_ticks: int
    seat_ticks: NDArray[np.int64]  # [P] each seat's own rate, a multiple of decision_ticks
    champions: int
    lineup: NDArray[np.int64]  # [P], read when champions == 2
    auto_reset: int
    max_decisions: int  # 0 = no limit
    scale: float  # of pseudo-rewards
    draw_reward: float


@kernel
def is_due(setup, decision, p):
    """Is seat p asked at this decision of the grid?"""
    return (decision * setup.decision_ticks) % setup.seat_ticks[p] == 0


@kernel
def decode(g, r, b, setup, m, actions):
    """Bins in the viewer's frame -> inputs in the world's frame; what is masked does nothing."""
    for p in range(r.num_players):
        due = is_due(setup, g.decision, p)
        if due:
            for h in range(7):
                g.held[p, h] = actions[m, p, h]
        for h in range(7):
            b.actions[m, p, h] = g.held[p, h]
        if not due:  # inputs and masks are those of the seat's own last decision
            continue
        if g.alive[p] == 0:
            g.move_x[p] = g.move_y[p] = g.aim_x[p] = g.aim_y[p] = 0.0
            g.fire[p] = g.ability[p] = g.interact[p] = 0
            continue
        sign = frame_sign(r, p)
        mx = (np.int64(g.held[p, 0]) - 5) / 5.0
        my = (np.int64(g.held[p, 1]) - 5) / 5.0
        d = length(mx, my)
        if d > 1.0:
            mx, my = mx / d, my / d
        g.move_x[p], g.move_y[p] = sign * mx, sign * my
        fire, ability = g.held[p, 4], g.held[p, 5]
        g.fire[p] = 1 if fire == 1 and may_fire(g, r, p) else 0
        g.ability[p] = ability if ability > 0 and may_use(g, r, p, ability - 1) else 0
        g.interact[p] = 1 if g.held[p, 6] == 1 and may_interact(g, r, p) else 0
        g.aim_x[p] = g.aim_y[p] = 0.0
        if g.fire[p] == 1 or g.ability[p] > 0:  # an aim nobody uses turns nobody
            g.aim_x[p] = sign * AIM_UNITS * (np.int64(g.held[p, 2]) - 5)
            g.aim_y[p] = sign * AIM_UNITS * (np.int64(g.held[p, 3]) - 5)


@kernel
def _pseudo(g, r, setup, p, gained):
    """Pseudo-reward of one player for one decision, before sharing."""
    w = r.pseudo
    own = w[0] * (g.dealt[p] - g.taken[p]) / 100000.0
    own += w[1] * g.kills[p] + w[3] * g.picked[p]
    if r.num_teams == 2:
        own += w[2] * gained / 1000.0 * (1.0 if p < r.team_size else -1.0)
    return own * setup.scale


@kernel
def _reward(g, r, b, setup, m, gained):
    """Terminal rewards and ends of traces; then pseudo-rewards, half own and half the team's."""
    over = g.over == 1
    cut = setup.max_decisions > 0 and g.decision >= setup.max_decisions and not over
    for p in range(r.num_players):
        was_active = b.active[m, p]
        b.rewards[m, p] = 0.0
        b.terminated[m, p] = was_active and (over or g.out[p] == 1)
        b.truncated[m, p] = was_active and cut and not b.terminated[m, p]
        if b.terminated[m, p]:
            if not over:
                b.rewards[m, p] = -1.0
            elif g.winner < 0:
                b.rewards[m, p] = setup.draw_reward
            else:
                b.rewards[m, p] = 1.0 if g.winner == p // r.team_size else -1.0
        b.active[m, p] = g.out[p] == 0
    if setup.scale != 0.0:
        for team in range(r.num_teams):
            total = 0.0
            for p in range(team * r.team_size, (team + 1) * r.team_size):
                total += _pseudo(g, r, setup, p, gained)
            for p in range(team * r.team_size, (team + 1) * r.team_size):
                if b.active[m, p] or b.terminated[m, p]:
                    own = _pseudo(g, r, setup, p, gained)
                    b.rewards[m, p] += 0.5 * own + 0.5 * total / r.team_size
    for p in range(r.num_players):
        g.dealt[p] = g.taken[p] = g.kills[p] = g.picked[p] = 0
    return over or cut


@kernel
def play_decision(g, r, b, setup, m, actions):
    """One decision of match m: up to `decision_ticks` ticks and their rewards."""
    decode(g, r, b, setup, m, actions)
    for _ in range(setup.decision_ticks):
        tick(g, r)
        if g.over == 1:
            break
    g.decision += 1
    gained = keep_score(g, r)
    look(g, r)
    b.ended[m] = _reward(g, r, b, setup, m, gained)
    b.winner[m] = g.winner if g.over == 1 else -1
    b.length[m] = g.decision


@kernel
def restart(g, r, b, setup, m, seed):
    """Start match m over from `seed`; its rows read `reset`."""
    start_match(g, r, seed, setup.champions, setup.lineup)
    look(g, r)
    for p in range(r.num_players):
        b.active[m, p] = True
        b.reset[m, p] = True


@kernel
def observe(g, r, b, setup, m, found, near, who):
    """Write every view that was asked for, for all players of match m."""
    for p in range(r.num_players):
        living = g.alive[p] == 1
        b.alive[m, p] = living
        b.key[m, p] = row_key(g.seed, p, g.decision)
        b.due[m, p] = is_due(setup, g.decision, p)
        write_mask(g, r, p, b.mask, m)
        if not living:
            if b.features.shape[0] > 0:
                b.features[m, p, :] = 0.0
            if b.player.shape[0] > 0:
                b.player[m, p, :] = 0.0
            if b.objects.shape[0] > 0:
                b.objects[m, p, :, :] = 0.0
            if b.context.shape[0] > 0:
                b.context[m, p, :] = 0.0
            continue
        if b.features.shape[0] > 0 or b.context.shape[0] > 0:
            survey(g, r, p, found)
        if b.features.shape[0] > 0:
            write_features(g, r, p, found, b.features[m, p])
        if b.player.shape[0] > 0:
            write_player(g, r, p, b.player[m, p])
        if b.context.shape[0] > 0:
            write_context(g, r, p, found, b.context[m, p])
        if b.objects.shape[0] > 0:
            write_objects(g, r, p, b.objects[m, p], near, who)


ALL, PLAY, FINISH = 0, 1, 2


@entry
def step_matches(state, rules, b, setups, actions, first, last, part):
    """Step matches first..last-1. part: ALL, or PLAY and FINISH apart (final views between)."""
    found, near, who = scratch(), np.zeros(16), np.zeros(16, np.int64)
    r, setup = rules[0], setups[0]
    for m in range(first, last):
        g = state[m]
        if part != FINISH:
            if g.over == 1:  # only without auto-reset: a finished match waits
                b.ended[m] = False
                for p in range(r.num_players):
                    b.rewards[m, p] = 0.0
                    b.terminated[m, p] = b.truncated[m, p] = b.active[m, p] = False
                    b.reset[m, p] = False
                continue
            play_decision(g, r, b, setup, m, actions)
        if part != PLAY:
            for p in range(r.num_players):
                b.reset[m, p] = False
            if b.ended[m] and setup.auto_reset == 1:
                g.restart += 1
                restart(g, r, b, setup, m, match_seed(setup.seed, m, g.restart))
            elif b.ended[m]:
                g.over = 1  # a match cut short without auto-reset stays where it is
            observe(g, r, b, setup, m, found, near, who)


@entry
def start_matches(state, rules, b, setups, seeds, first, last):
    """Start matches first..last-1 from the given seeds and observe them."""
    found, near, who = scratch(), np.zeros(16), np.zeros(16, np.int64)
    r, setup = rules[0], setups[0]
    for m in range(first, last):
        g = state[m]
        b.ended[m] = False
        restart(g, r, b, setup, m, seeds[m])
        observe(g, r, b, setup, m, found, near, who)


@entry
def observe_matches(state, rules, b, setups, first, last):
    """Write the views of matches first..last-1 as they are now."""
    found, near, who = scratch(), np.zeros(16), np.zeros(16, np.int64)
    r, setup = rules[0], setups[0]
    for m in range(first, last):
        g = state[m]
        for p in range(r.num_players):
            b.reset[m, p] = g.decision == 0
            b.active[m, p] = g.out[p] == 0 and g.over == 0
        observe(g, r, b, setup, m, found, near, who)


@entry
def first_bad_action(actions, sizes):
    """Flat index of the first value outside its head, or -1."""
    for m in range(actions.shape[0]):
        for p in range(actions.shape[1]):
            for h in range(actions.shape[2]):
                if actions[m, p, h] < 0 or actions[m, p, h] >= sizes[h]:
                    return (m * actions.shape[1] + p) * actions.shape[2] + h
    return -1
