"""One tick of one match, and how a match starts.

The order of a tick: abilities and shots are fired, bodies move, shots fly, the lane and the zone
strike, items are taken; then everything collected is applied at once, timers run down, the dead
return, new items and creeps appear, and the match is judged.
"""

from __future__ import annotations

import numpy as np

from levelcap.kit.compiled import allocating, kernel
from levelcap.world.rules.chance import LINEUP, SHUFFLE, SPAWN, ZONE, draw, mix, uniform
from levelcap.world.rules.combat import displace, drop_guard, fly, turn_and_fire, use_ability
from levelcap.world.rules.contest import (
    balance,
    hold_crown,
    interact,
    judge,
    outside_zone,
    place_items,
    shrink_zone,
    unit_vector,
)
from levelcap.world.rules.lane import apply_lane, fire_towers, move_creeps, send_wave
from levelcap.world.rules.terrain import length, standable


@kernel
def _walk(g, r, p):
    """Move along each axis where the way is free; walls stop only the blocked axis."""
    if g.dash[p] > 0:
        vx, vy = g.dash_x[p], g.dash_y[p]
        g.dash[p] -= 1
    elif g.snare[p] > 0:
        vx, vy = 0.0, 0.0
    else:
        speed = r.champ_speed[g.champion[p]]
        vx, vy = g.move_x[p] * speed, g.move_y[p] * speed
    x, y = g.x[p], g.y[p]
    if vx != 0.0 and not standable(r, x + vx, y):
        vx = 0.0
    if vy != 0.0 and not standable(r, x + vx, y + vy):
        vy = 0.0
    g.x[p], g.y[p] = x + vx, y + vy
    g.vx[p], g.vy[p] = vx, vy


@kernel
def _die(g, r, p):
    g.alive[p] = 0
    g.vx[p] = g.vy[p] = 0.0
    g.hp[p] = g.shield[p] = 0
    g.dash[p] = g.snare[p] = g.reload[p] = 0
    g.num_deaths += 1
    if g.since_spawn[p] < r.early_ticks and g.tick > r.early_ticks:
        g.early_deaths += 1
    for q in range(r.num_players):
        if g.hit_by[p] & (1 << q):
            g.kills[q] += 1
    if r.respawns == 1:
        g.respawn[p] = r.respawn_ticks + r.respawn_per_min * (g.tick // (60 * r.tick_hz))
    else:
        g.out[p] = 1


@kernel
def _settle(g, r):
    """Heal, shield, hurt and die, for everyone at once."""
    for p in range(r.num_players):
        if g.alive[p] == 1:
            full = r.champ_hp[g.champion[p]]
            if g.heal[p] > 0 and not outside_zone(g, r, p):
                g.hp[p] = min(full, g.hp[p] + g.heal[p])
            hurt = g.hurt[p] if g.invulnerable[p] == 0 else 0
            g.taken[p] += hurt
            soaked = min(hurt, g.shield[p])
            g.shield[p] -= soaked
            g.hp[p] -= hurt - soaked
            if g.hp[p] <= 0:
                _die(g, r, p)
        g.heal[p] = g.hurt[p] = g.hit_by[p] = 0


@kernel
def _stand_up(g, r, p):
    """Put a player at its base, whole and loaded."""
    c = g.champion[p]
    g.alive[p] = 1
    g.hp[p], g.shield[p], g.ammo[p] = r.champ_hp[c], 0, r.champ_ammo[c]
    g.x[p], g.y[p] = r.base_x[p], r.base_y[p]
    g.vx[p] = g.vy[p] = 0.0
    g.fire_wait[p] = g.reload[p] = g.respawn[p] = g.since_spawn[p] = 0


@kernel
def _run_timers(g, r):
    for p in range(r.num_players):
        g.since_spawn[p] += 1
        if g.ward[p] > 0:
            g.ward[p] -= 1
        for a in range(3):
            if g.wait[p, a] > 0:
                g.wait[p, a] -= 1
        if g.alive[p] == 1:
            if g.fire_wait[p] > 0:
                g.fire_wait[p] -= 1
            if g.snare[p] > 0:
                g.snare[p] -= 1
            if g.invulnerable[p] > 0:
                g.invulnerable[p] -= 1
            if g.reload[p] > 0:
                g.reload[p] -= 1
                if g.reload[p] == 0:
                    g.ammo[p] = r.champ_ammo[g.champion[p]]
        elif r.respawns == 1:
            g.respawn[p] -= 1
            if g.respawn[p] <= 0:
                _stand_up(g, r, p)
                g.invulnerable[p] = r.invulnerable_ticks


@kernel
def tick(g, r):
    """Advance match m by one tick."""
    for p in range(r.num_players):
        if g.alive[p] == 1:
            turn_and_fire(g, r, p)
            drop_guard(g, r, p)
    for p in range(r.num_players):
        if g.alive[p] == 1 and g.ability[p] > 0:
            use_ability(g, r, p)
    for p in range(r.num_players):
        if g.alive[p] == 1:
            if g.ability[p] > 0:
                displace(g, r, p)
            _walk(g, r, p)
    fly(g, r)
    if r.has_lane == 1:
        move_creeps(g, r)
        fire_towers(g, r)
        apply_lane(g, r)
    if r.has_zone == 1:
        shrink_zone(g, r)
    if r.has_crown == 1:
        hold_crown(g, r)
    interact(g, r)
    _settle(g, r)
    _run_timers(g, r)
    g.tick += 1
    place_items(g, r)
    if r.has_lane == 1:
        send_wave(g, r)
    judge(g, r)


@kernel
def keep_score(g, r):
    """After each decision: the objective's balance and who leads."""
    ahead = balance(g, r)
    gained = ahead - g.stand
    g.stand = ahead
    leader = 1 if ahead > 0 else (-1 if ahead < 0 else 0)
    if leader != 0:
        if g.leader != 0 and leader != g.leader:
            g.lead_changes += 1
        g.leader = leader
    return gained


@allocating
def _draw_spawns(g, r):
    seed = g.seed
    if r.num_teams == 2:
        x, y = r.spawn_radius, 0.0
        bits = draw(seed, 0, SPAWN, 0)
        for _ in range(16):
            bits = mix(bits)
            ux, uy = unit_vector(bits)
            x, y = ux * r.spawn_radius, uy * r.spawn_radius
            if standable(r, x, y):
                break
        g.x[0], g.y[0], g.x[1], g.y[1] = x, y, -x, -y
        return
    order = np.arange(r.num_players)
    for i in range(r.num_players - 1, 0, -1):
        j = np.int64(draw(seed, i, SHUFFLE, 0) % np.uint64(i + 1))
        order[i], order[j] = order[j], order[i]
    for p in range(r.num_players):
        g.x[p], g.y[p] = r.base_x[order[p]], r.base_y[order[p]]


@allocating
def _draw_champions(g, r, random_champions):
    """One line-up per match, used by both teams, without repeats inside a team."""
    roster = r.num_champions - 1
    pool = np.arange(1, roster + 1)
    for i in range(roster - 1, 0, -1):
        j = np.int64(draw(g.seed, i, LINEUP, 0) % np.uint64(i + 1))
        pool[i], pool[j] = pool[j], pool[i]
    for p in range(r.num_players):
        seat = p % r.team_size if r.num_teams == 2 else p
        g.champion[p] = pool[seat % roster] if random_champions else 0


@kernel
def start_match(g, r, seed, champions, fixed):
    """Begin match m from `seed`.

    champions: 0 base for everyone, 1 drawn by seed, 2 as given in `fixed` [P].
    """
    g.seed = seed
    g.tick = g.decision = g.over = g.stand = g.num_shots = 0
    g.num_deaths = g.early_deaths = g.lead_changes = g.leader = 0
    g.winner = -1
    g.score[0] = g.score[1] = 0
    g.zone[0] = g.zone[1] = 0.0
    g.zone[2] = r.zone_start if r.has_zone == 1 else r.crown_radius * r.has_crown
    if r.has_zone == 1 and r.num_teams > 2:
        ux, uy = unit_vector(draw(seed, 0, ZONE, 0))
        reach = 0.3 * r.half * uniform(draw(seed, 1, ZONE, 0))
        g.zone[0], g.zone[1] = ux * reach, uy * reach
    _draw_champions(g, r, champions == 1)
    if champions == 2:
        for p in range(r.num_players):
            g.champion[p] = fixed[p]
    for p in range(r.num_players):
        _stand_up(g, r, p)
        g.out[p] = g.ward[p] = g.dash[p] = g.snare[p] = 0
        g.invulnerable[p] = g.live_shots[p] = 0
        g.hurt[p] = g.heal[p] = g.hit_by[p] = 0
        g.dealt[p] = g.taken[p] = g.kills[p] = g.picked[p] = 0
        g.dash_x[p] = g.dash_y[p] = g.ward_x[p] = g.ward_y[p] = 0.0
        g.move_x[p] = g.move_y[p] = g.aim_x[p] = g.aim_y[p] = 0.0
        g.fire[p] = g.ability[p] = g.interact[p] = 0
        for a in range(3):
            g.wait[p, a] = 0
        for h in range(7):
            g.held[p, h] = 5 if h < 4 else 0
    if r.respawns == 0:
        _draw_spawns(g, r)
    for p in range(r.num_players):  # face the centre
        d = length(g.x[p], g.y[p])
        g.dir_x[p], g.dir_y[p] = -g.x[p] / d, -g.y[p] / d
    for i in range(r.item_most):
        g.item_kind[i] = 0
        g.item_x[i] = g.item_y[i] = 0.0
    for c in range(g.creep_hp.shape[0]):
        g.creep_hp[c] = g.creep_hurt[c] = 0
        g.creep_x[c] = g.creep_y[c] = g.creep_vx[c] = g.creep_vy[c] = 0.0
        g.creep_target[c] = -1
    for t in range(6):
        g.tower_hp[t] = r.tower_hp[t]
        g.tower_target[t] = -1
        g.tower_time[t] = g.tower_hurt[t] = 0
    for a in range(r.num_teams):
        for p in range(r.num_players):
            g.seen_now[a, p] = 0
            g.seen_tick[a, p] = -1
            g.seen_x[a, p] = g.seen_y[a, p] = 0.0
            g.seen_vx[a, p] = g.seen_vy[a, p] = 0.0
            g.seen_hp[a, p] = 0
