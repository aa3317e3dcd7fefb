"""State -> what each player sees: features, player, context, mask (columns: `spec.py`).

Everything is in the viewer's frame: `sign` is -1 for side 1 of a two-team ruleset. A dead player
sees zeros and may only do nothing.
"""

from __future__ import annotations

import numpy as np

from levelcap.kit.compiled import allocating, kernel
from levelcap.world.rules.columns import BIN, CTX, FEAT, FOUND, OWN, SURVEY
from levelcap.world.rules.combat import attackable
from levelcap.world.rules.contest import item_in_reach, outside_zone
from levelcap.world.rules.sight import team_sees
from levelcap.world.rules.terrain import clearance, frame_sign, length
from levelcap.world.spec import MOVE_BINS

NUM_FOUND = len(SURVEY)
DASHING, SNARED, SAFE, RELOADING = 0.5, 1.0, -1.0, -0.5


@kernel
def objective(g, r, p):
    """(x, y, state) of what this player's side should go for, in world coordinates.

    duel, lms: the zone and its radius; crown: the centre and its radius; siege: the enemy's next
    structure and the share of its hp that is left.
    """
    if r.has_lane == 0:
        return g.zone[0], g.zone[1], g.zone[2] / r.half
    t = 3 * (1 - p // r.team_size)
    while t % 3 < 2 and g.tower_hp[t] <= 0:
        t += 1
    return r.tower_x[t], r.tower_y[t], g.tower_hp[t] / r.tower_hp[t]


@kernel
def _is_safe(g, r, p, x, y):
    if r.has_zone == 1:
        return not outside_zone(g, r, p)
    if r.has_crown == 1:
        return length(x, y) <= r.crown_radius
    side = p // r.team_size
    for t in range(3 * (1 - side), 3 * (2 - side)):
        if g.tower_hp[t] > 0:
            if length(r.tower_x[t] - x, r.tower_y[t] - y) <= r.tower_reach:
                return False
    return True


@kernel
def survey(g, r, p, found):
    """Fill `found` with what is in sight of the player's team, seen from the player.

    found: a row by `FOUND`; enemies and items seen, seat or slot of the nearest (-1: none) and its
    distance, threat and loot = sums of 1/d, allies alive.
    """
    x, y = g.x[p], g.y[p]
    team = p // r.team_size
    sign = frame_sign(r, p)
    found[:] = 0.0
    found[FOUND.enemy] = found[FOUND.item] = -1.0
    nearest = 1e9
    for q in range(r.num_players):
        if q // r.team_size == team:
            if q != p and g.alive[q] == 1:
                found[FOUND.allies] += 1.0
        elif g.seen_now[team, q] == 1:
            d = length(g.x[q] - x, g.y[q] - y)
            found[FOUND.enemies] += 1.0
            found[FOUND.threat] += 1.0 / max(d, 1.0)
            if d < nearest:
                nearest = d
                found[FOUND.enemy], found[FOUND.enemy_dist] = q, d
    nearest = 1e9
    for i in range(r.item_most):
        if g.item_kind[i] > 0:
            ix, iy = g.item_x[i], g.item_y[i]
            if team_sees(g, r, team, ix, iy):
                d = length(ix - x, iy - y)
                found[FOUND.items] += 1.0
                found[FOUND.loot] += 1.0 / max(d, 1.0)
                right = sign * ix > 0.0 or (ix == 0.0 and sign * iy > 0.0)
                if d < nearest or (d == nearest and right):
                    nearest = d
                    found[FOUND.item], found[FOUND.item_dist] = i, d


@kernel
def pace(r, per_tick):
    """One axis of a velocity, as views show it: 5 u/s reads 1; a dash is faster."""
    return min(2.0, max(-2.0, per_tick * r.own_pace))


@kernel
def write_features(g, r, p, found, row):
    """The 19 numbers of the flat baseline into `row` [19]."""
    sign = frame_sign(r, p)
    x, y = g.x[p], g.y[p]
    goal_x, goal_y, goal = objective(g, r, p)
    row[FEAT.px], row[FEAT.py] = sign * x / r.half, sign * y / r.half
    row[FEAT.vx], row[FEAT.vy] = pace(r, sign * g.vx[p]), pace(r, sign * g.vy[p])
    row[FEAT.hp], row[FEAT.ammo] = g.hp[p] / 100000.0, g.ammo[p] / 30.0
    row[FEAT.zone_x], row[FEAT.zone_y], row[FEAT.zone_radius] = (
        sign * goal_x / r.half,
        sign * goal_y / r.half,
        goal,
    )
    row[FEAT.is_safe] = 1.0 if _is_safe(g, r, p, x, y) else 0.0
    q = int(found[FOUND.enemy])
    if q >= 0:
        row[FEAT.enemy_x], row[FEAT.enemy_y] = (
            sign * (g.x[q] - x) / 10.0,
            sign * (g.y[q] - y) / 10.0,
        )
        row[FEAT.enemy_hp], row[FEAT.enemy_dist] = (
            g.hp[q] / 100000.0,
            found[FOUND.enemy_dist] / 10.0,
        )
    else:
        row[FEAT.enemy_x] = row[FEAT.enemy_y] = row[FEAT.enemy_hp] = row[FEAT.enemy_dist] = 0.0
    i = int(found[FOUND.item])
    if i >= 0:
        row[FEAT.item_x] = sign * (g.item_x[i] - x) / 10.0
        row[FEAT.item_y] = sign * (g.item_y[i] - y) / 10.0
        row[FEAT.item_dist] = found[FOUND.item_dist] / 10.0
    else:
        row[FEAT.item_x] = row[FEAT.item_y] = row[FEAT.item_dist] = 0.0
    row[FEAT.n_entities], row[FEAT.n_items] = (
        (found[FOUND.enemies] + found[FOUND.allies]) / 10.0,
        found[FOUND.items] / 5.0,
    )


@kernel
def _write_champion(c, row):
    """One-hot for roster entries 0-7, two-hot in lexicographic order for later ones."""
    if c == 0:
        return
    if c <= 8:
        row[OWN.champion_0 + c - 1] = 1.0
        return
    left = c - 9
    for a in range(8):
        if left < 7 - a:
            row[OWN.champion_0 + a] = 1.0
            row[OWN.champion_0 + 1 + a + left] = 1.0
            return
        left -= 7 - a


@kernel
def write_player(g, r, p, row):
    """The player's own body and champion into `row` [16]."""
    c = g.champion[p]
    row[:] = 0.0
    row[OWN.hp], row[OWN.shield] = g.hp[p] / 100000.0, g.shield[p] / 100000.0
    row[OWN.ammo], row[OWN.fire_cooldown] = g.ammo[p] / 30.0, g.fire_wait[p] / r.champ_cooldown[c]
    for a in range(3):
        if r.ability_cooldown[c, a] > 0:
            row[OWN.cooldown_q + a] = g.wait[p, a] / r.ability_cooldown[c, a]
    if g.snare[p] > 0:
        row[OWN.status] = SNARED
    elif g.dash[p] > 0:
        row[OWN.status] = DASHING
    elif g.reload[p] > 0:
        row[OWN.status] = RELOADING
    elif g.invulnerable[p] > 0:
        row[OWN.status] = SAFE
    _write_champion(c, row)


@kernel
def write_context(g, r, p, found, row):
    """Counts, walls, objective and clock into `row` [16]."""
    sign = frame_sign(r, p)
    x, y = g.x[p], g.y[p]
    goal_x, goal_y, goal = objective(g, r, p)
    row[CTX.px], row[CTX.py] = sign * x / r.half, sign * y / r.half
    row[CTX.num_enemies], row[CTX.num_items] = found[FOUND.enemies] / 5.0, found[FOUND.items] / 5.0
    if r.num_teams == 2:
        row[CTX.num_allies] = found[FOUND.allies] / 4.0
    else:  # each for themselves: how many others are left
        left = 0
        for q in range(r.num_players):
            left += g.alive[q]
        row[CTX.num_allies] = (left - 1) / 9.0
    row[CTX.enemy_dist], row[CTX.threat], row[CTX.loot_value] = (
        found[FOUND.enemy_dist] / 10.0,
        min(found[FOUND.threat], 3.0),
        min(found[FOUND.loot], 3.0),
    )
    row[CTX.wall_right] = clearance(r, x, y, sign, 0.0) / 10.0
    row[CTX.wall_up] = clearance(r, x, y, 0.0, sign) / 10.0
    row[CTX.wall_left] = clearance(r, x, y, -sign, 0.0) / 10.0
    row[CTX.wall_down] = clearance(r, x, y, 0.0, -sign) / 10.0
    row[CTX.goal_x], row[CTX.goal_y] = sign * (goal_x - x) / r.half, sign * (goal_y - y) / r.half
    row[CTX.goal_state] = goal
    if r.respawns == 1:
        row[CTX.goal_state] = g.stand / 1000.0 * (1.0 if p < r.team_size else -1.0)
    row[CTX.clock] = 1.0 - g.tick / r.time_limit


@kernel
def may_fire(g, r, p):
    """Loaded, cooled down, not reloading."""
    return g.ammo[p] > 0 and g.fire_wait[p] == 0 and g.reload[p] == 0


@kernel
def may_use(g, r, p, slot):
    """Does the champion have this ability, and is it ready?"""
    return r.ability_kind[g.champion[p], slot] > 0 and g.wait[p, slot] == 0


@kernel
def may_interact(g, r, p):
    """Something to pick up, or something to reload."""
    if item_in_reach(g, r, p) >= 0:
        return True
    full = r.champ_ammo[g.champion[p]]
    return r.respawns == 1 and g.reload[p] == 0 and g.ammo[p] < full


@kernel
def write_mask(g, r, p, mask, m):
    """Allowed bins of all heads into mask[m, p]; the dead may only do nothing."""
    living = g.alive[p] == 1
    anything = 1 if living else 0
    for b in range(BIN.fire):
        mask[m, p, b] = anything
    for b in range(MOVE_BINS // 2, BIN.fire, MOVE_BINS):  # standing still, aiming nowhere
        mask[m, p, b] = 1
    mask[m, p, BIN.fire] = mask[m, p, BIN.ability] = mask[m, p, BIN.interact] = 1
    mask[m, p, BIN.fire + 1] = 1 if living and may_fire(g, r, p) else 0
    for slot in range(3):
        mask[m, p, BIN.ability + 1 + slot] = 1 if living and may_use(g, r, p, slot) else 0
    mask[m, p, BIN.interact + 1] = 1 if living and may_interact(g, r, p) else 0


@kernel
def structure_detail(g, r, t, escorted):
    """0 invulnerable, 0.5 attackable alone (damage reduced), 1 attackable with an escort."""
    if not attackable(g, t):
        return 0.0
    return 1.0 if escorted else 0.5


@allocating
def scratch():
    """Room for one survey."""
    return np.zeros(NUM_FOUND)
