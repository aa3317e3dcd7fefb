"""Shots and abilities. Effects of one tick are collected first and applied together.

Everything here reads positions as they were when the tick began; displacements (dash, blink)
come in a pass of their own, so no player gains from having a lower seat number.
"""

from __future__ import annotations

from levelcap.kit.compiled import kernel
from levelcap.world.rules.terrain import length, sees, solid, standable

DASH, BLINK, BLAST, VOLLEY, HEAL, SHIELD, SNARE, WARD = 1, 2, 3, 4, 5, 6, 7, 8
AREA = 3.0  # radius of blast and snare around the cursor
# Directions of a volley's five shots: (cos, sin) of -16, -8, 0, 8, 16 degrees, as literals.
FAN_COS = (0.961262, 0.990268, 1.0, 0.990268, 0.961262)
FAN_SIN = (-0.275637, -0.139173, 0.0, 0.139173, 0.275637)


@kernel
def shoot(g, r, p, dx, dy, damage):
    """One shot of player p along the unit vector (dx, dy); nothing when too many are in flight."""
    if g.live_shots[p] >= r.max_live:
        return
    k = g.num_shots
    g.num_shots = k + 1
    g.live_shots[p] += 1
    g.shot_x[k], g.shot_y[k] = g.x[p], g.y[p]
    g.shot_vx[k], g.shot_vy[k] = dx * r.shot_speed, dy * r.shot_speed
    g.shot_life[k] = r.shot_life
    g.shot_owner[k] = p
    g.shot_damage[k] = damage


@kernel
def turn_and_fire(g, r, p):
    """Turn to the cursor; fire when asked, loaded and cooled down."""
    d = length(g.aim_x[p], g.aim_y[p])
    if d > 0.0:
        g.dir_x[p], g.dir_y[p] = g.aim_x[p] / d, g.aim_y[p] / d
    ready = g.fire_wait[p] == 0 and g.reload[p] == 0
    if g.fire[p] == 1 and ready and g.ammo[p] > 0:
        c = g.champion[p]
        shoot(g, r, p, g.dir_x[p], g.dir_y[p], r.champ_damage[c])
        g.ammo[p] -= 1
        g.fire_wait[p] = r.champ_cooldown[c]
        g.invulnerable[p] = 0
        if g.ammo[p] == 0 and r.respawns == 1:
            g.reload[p] = r.reload_ticks


@kernel
def strike(g, r, p, q, damage):
    """Player p hurts player q."""
    if g.invulnerable[q] > 0:
        return
    g.hurt[q] += damage
    g.hit_by[q] |= 1 << p
    g.dealt[p] += damage


@kernel
def _cursor(g, r, p, reach):
    """Where the cursor is, at most `reach` away."""
    ax, ay = g.aim_x[p], g.aim_y[p]
    d = length(ax, ay)
    if d > reach and d > 0.0:
        ax, ay = ax * reach / d, ay * reach / d
    return g.x[p] + ax, g.y[p] + ay


@kernel
def _blast(g, r, p, cx, cy, power):
    team = p // r.team_size
    damage = int(power * 1000.0)
    for q in range(r.num_players):
        if q // r.team_size != team and g.alive[q] == 1:
            if length(g.x[q] - cx, g.y[q] - cy) <= AREA and sees(r, cx, cy, g.x[q], g.y[q]):
                strike(g, r, p, q, damage)
    if r.has_lane == 1:
        for c in range(r.creep_most * (1 - team), r.creep_most * (2 - team)):
            if g.creep_hp[c] > 0:
                if length(g.creep_x[c] - cx, g.creep_y[c] - cy) <= AREA:
                    g.creep_hurt[c] += damage


@kernel
def _snare(g, r, p, cx, cy, power):
    team = p // r.team_size
    best, nearest = -1, AREA
    for q in range(r.num_players):
        if q // r.team_size != team and g.alive[q] == 1 and g.invulnerable[q] == 0:
            d = length(g.x[q] - cx, g.y[q] - cy)
            if d < nearest:
                best, nearest = q, d
    if best >= 0:
        ticks = int(power * r.tick_hz)
        if ticks > g.snare[best]:
            g.snare[best] = ticks


@kernel
def _support(g, r, p, kind, power, reach):
    team = p // r.team_size
    if kind == SHIELD:
        g.shield[p] = min(r.shield_max, g.shield[p] + int(power * 1000.0))
        return
    for q in range(team * r.team_size, (team + 1) * r.team_size):
        if g.alive[q] == 1:
            if length(g.x[q] - g.x[p], g.y[q] - g.y[p]) <= reach:
                g.heal[q] += int(power * 1000.0)


@kernel
def drop_guard(g, r, p):
    """A blast or volley about to be used ends the protection, before anything of the tick lands."""
    slot = g.ability[p] - 1
    if slot >= 0 and g.wait[p, slot] == 0:
        kind = r.ability_kind[g.champion[p], slot]
        if kind == BLAST or kind == VOLLEY:
            g.invulnerable[p] = 0


@kernel
def use_ability(g, r, p):
    """Abilities that read positions: blast, volley, heal, shield, snare, ward."""
    slot = g.ability[p] - 1
    if slot < 0 or g.wait[p, slot] > 0:
        return
    c = g.champion[p]
    kind = r.ability_kind[c, slot]
    power, reach = r.ability_power[c, slot], r.ability_range[c, slot]
    if kind == 0 or kind == DASH or kind == BLINK:
        return
    cx, cy = _cursor(g, r, p, reach)
    if kind == BLAST:
        _blast(g, r, p, cx, cy, power)
    elif kind == SNARE:
        _snare(g, r, p, cx, cy, power)
    elif kind == VOLLEY:
        dx, dy = g.dir_x[p], g.dir_y[p]
        for i in range(5):
            fx = dx * FAN_COS[i] - dy * FAN_SIN[i]
            fy = dx * FAN_SIN[i] + dy * FAN_COS[i]
            shoot(g, r, p, fx, fy, int(power * 1000.0))
    elif kind == WARD:
        g.ward[p] = int(power * r.tick_hz)
        g.ward_x[p], g.ward_y[p] = cx, cy
    else:
        _support(g, r, p, kind, power, reach)
    g.wait[p, slot] = r.ability_cooldown[c, slot]


@kernel
def displace(g, r, p):
    """Dash (along the movement, or the aim when standing) and blink (to the cursor)."""
    slot = g.ability[p] - 1
    if slot < 0 or g.wait[p, slot] > 0 or g.snare[p] > 0:
        return
    c = g.champion[p]
    kind, reach = r.ability_kind[c, slot], r.ability_range[c, slot]
    if kind == DASH:
        dx, dy = g.move_x[p], g.move_y[p]
        d = length(dx, dy)
        if d == 0.0:
            dx, dy, d = g.dir_x[p], g.dir_y[p], 1.0
        pace = reach / r.dash_ticks
        g.dash_x[p], g.dash_y[p] = dx / d * pace, dy / d * pace
        g.dash[p] = r.dash_ticks
        g.wait[p, slot] = r.ability_cooldown[c, slot]
    elif kind == BLINK:
        cx, cy = _cursor(g, r, p, reach)
        bx, by = g.x[p], g.y[p]
        for step in range(20, 0, -1):  # the farthest free spot on the way to the cursor
            share = step / 20.0
            tx, ty = bx + (cx - bx) * share, by + (cy - by) * share
            if standable(r, tx, ty):
                g.x[p], g.y[p] = tx, ty
                break
        g.wait[p, slot] = r.ability_cooldown[c, slot]


@kernel
def _keep_shot(g, k, to):
    """Move shot k up to slot `to`: the order of firing stays, the same for both sides."""
    if k != to:
        g.shot_x[to], g.shot_y[to] = g.shot_x[k], g.shot_y[k]
        g.shot_vx[to], g.shot_vy[to] = g.shot_vx[k], g.shot_vy[k]
        g.shot_life[to] = g.shot_life[k]
        g.shot_owner[to] = g.shot_owner[k]
        g.shot_damage[to] = g.shot_damage[k]


@kernel
def _hit_lane(g, r, k, x, y, team):
    """Does shot k meet a creep or a structure of the other side? Hurts it and says so."""
    limit = r.creep_radius * r.creep_radius
    best, nearest = -1, limit
    for c in range(r.creep_most * (1 - team), r.creep_most * (2 - team)):
        if g.creep_hp[c] > 0:
            dx, dy = g.creep_x[c] - x, g.creep_y[c] - y
            d = dx * dx + dy * dy
            if d < nearest:
                best, nearest = c, d
    if best >= 0:
        g.creep_hurt[best] += g.shot_damage[k]
        return True
    for t in range(3 * (1 - team), 3 * (2 - team)):
        if g.tower_hp[t] > 0:
            if length(r.tower_x[t] - x, r.tower_y[t] - y) <= r.tower_radius:
                if attackable(g, t):
                    damage = g.shot_damage[k]
                    if not escorted(g, r, t):
                        damage = int(damage * r.lone_factor)
                    g.tower_hurt[t] += damage
                return True
    return False


@kernel
def attackable(g, t):
    """Structures fall in order: is the one before this one down?"""
    return t % 3 == 0 or g.tower_hp[t - 1] <= 0


@kernel
def escorted(g, r, t):
    """Is a creep of the attacking side within the structure's reach?"""
    side = t // 3
    for c in range(r.creep_most * (1 - side), r.creep_most * (2 - side)):
        if g.creep_hp[c] > 0:
            if length(g.creep_x[c] - r.tower_x[t], g.creep_y[c] - r.tower_y[t]) <= (r.tower_reach):
                return True
    return False


@kernel
def fly(g, r):
    """Move every shot one tick; it ends in a wall, in a target, or of old age."""
    limit = r.hit_radius * r.hit_radius
    kept = 0
    for k in range(g.num_shots):
        x = g.shot_x[k] + g.shot_vx[k]
        y = g.shot_y[k] + g.shot_vy[k]
        g.shot_x[k], g.shot_y[k] = x, y
        g.shot_life[k] -= 1
        owner = g.shot_owner[k]
        team = owner // r.team_size
        best, nearest = -1, limit
        for q in range(r.num_players):
            if g.alive[q] == 1 and q // r.team_size != team:
                dx, dy = g.x[q] - x, g.y[q] - y
                d = dx * dx + dy * dy
                if d < nearest:
                    best, nearest = q, d
        gone = False
        if best >= 0:
            strike(g, r, owner, best, g.shot_damage[k])
            gone = True
        elif r.has_lane == 1:
            gone = _hit_lane(g, r, k, x, y, team)
        if gone or g.shot_life[k] <= 0 or solid(r, x, y):
            g.live_shots[owner] -= 1
        else:
            _keep_shot(g, k, kept)
            kept += 1
    g.num_shots = kept
