"""State -> what each player sees: features, player, context, mask (columns: `spec.py`).

Everything is in the viewer's frame: `sign` is -1 for side 1 of a two-team ruleset. A dead player
sees zeros and may only do nothing.
"""

from __future__ import annotations

import numpy as np

from levelcap.kit.compiled import allocating, kernel
from levelcap.world.combat import attackable
from levelcap.world.contest import item_in_reach, outside_zone
from levelcap.world.sight import team_sees
from levelcap.world.terrain import clearance, frame_sign, length

FIRE, ABILITY, INTERACT = 44, 46, 50  # where these heads start in the mask row
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

    found: [0] enemies seen, [1] nearest enemy's seat, [2] its distance, [3] threat = sum of 1/d,
    [4] items seen, [5] nearest item's slot, [6] its distance, [7] loot value, [8] allies alive.
    """
    x, y = g.x[p], g.y[p]
    team = p // r.team_size
    sign = frame_sign(r, p)
    found[:] = 0.0
    found[1] = found[5] = -1.0
    nearest = 1e9
    for q in range(r.num_players):
        if q // r.team_size == team:
            if q != p and g.alive[q] == 1:
                found[8] += 1.0
        elif g.seen_now[team, q] == 1:
            d = length(g.x[q] - x, g.y[q] - y)
            found[0] += 1.0
            found[3] += 1.0 / max(d, 1.0)
            if d < nearest:
                nearest = d
                found[1], found[2] = q, d
    nearest = 1e9
    for i in range(r.item_most):
        if g.item_kind[i] > 0:
            ix, iy = g.item_x[i], g.item_y[i]
            if team_sees(g, r, team, ix, iy):
                d = length(ix - x, iy - y)
                found[4] += 1.0
                found[7] += 1.0 / max(d, 1.0)
                right = sign * ix > 0.0 or (ix == 0.0 and sign * iy > 0.0)
                if d < nearest or (d == nearest and right):
                    nearest = d
                    found[5], found[6] = i, d


@kernel
def write_features(g, r, p, found, row):
    """The 19 numbers of the flat baseline into `row` [19]."""
    sign = frame_sign(r, p)
    x, y = g.x[p], g.y[p]
    goal_x, goal_y, goal = objective(g, r, p)
    row[0], row[1] = sign * x / r.half, sign * y / r.half
    # 5 u/s reads 1; a dash is faster.
    row[2] = min(2.0, max(-2.0, sign * g.vx[p] * 6.0))
    row[3] = min(2.0, max(-2.0, sign * g.vy[p] * 6.0))
    row[4], row[5] = g.hp[p] / 100000.0, g.ammo[p] / 30.0
    row[6], row[7], row[8] = sign * goal_x / r.half, sign * goal_y / r.half, goal
    row[9] = 1.0 if _is_safe(g, r, p, x, y) else 0.0
    q = int(found[1])
    if q >= 0:
        row[10], row[11] = sign * (g.x[q] - x) / 10.0, sign * (g.y[q] - y) / 10.0
        row[12], row[17] = g.hp[q] / 100000.0, found[2] / 10.0
    else:
        row[10] = row[11] = row[12] = row[17] = 0.0
    i = int(found[5])
    if i >= 0:
        row[13] = sign * (g.item_x[i] - x) / 10.0
        row[14] = sign * (g.item_y[i] - y) / 10.0
        row[18] = found[6] / 10.0
    else:
        row[13] = row[14] = row[18] = 0.0
    row[15], row[16] = (found[0] + found[8]) / 10.0, found[4] / 5.0


@kernel
def _write_champion(c, row):
    """One-hot for roster entries 0-7, two-hot in lexicographic order for later ones."""
    if c == 0:
        return
    if c <= 8:
        row[7 + c] = 1.0
        return
    left = c - 9
    for a in range(8):
        if left < 7 - a:
            row[8 + a] = 1.0
            row[9 + a + left] = 1.0
            return
        left -= 7 - a


@kernel
def write_player(g, r, p, row):
    """The player's own body and champion into `row` [16]."""
    c = g.champion[p]
    row[:] = 0.0
    row[0], row[1] = g.hp[p] / 100000.0, g.shield[p] / 100000.0
    row[2], row[3] = g.ammo[p] / 30.0, g.fire_wait[p] / r.champ_cooldown[c]
    for a in range(3):
        if r.ability_cooldown[c, a] > 0:
            row[4 + a] = g.wait[p, a] / r.ability_cooldown[c, a]
    if g.snare[p] > 0:
        row[7] = SNARED
    elif g.dash[p] > 0:
        row[7] = DASHING
    elif g.reload[p] > 0:
        row[7] = RELOADING
    elif g.invulnerable[p] > 0:
        row[7] = SAFE
    _write_champion(c, row)


@kernel
def write_context(g, r, p, found, row):
    """Counts, walls, objective and clock into `row` [16]."""
    sign = frame_sign(r, p)
    x, y = g.x[p], g.y[p]
    goal_x, goal_y, goal = objective(g, r, p)
    row[0], row[1] = sign * x / r.half, sign * y / r.half
    row[2], row[4] = found[0] / 5.0, found[4] / 5.0
    if r.num_teams == 2:
        row[3] = found[8] / 4.0
    else:  # each for themselves: how many others are left
        left = 0
        for q in range(r.num_players):
            left += g.alive[q]
        row[3] = (left - 1) / 9.0
    row[5], row[6], row[7] = found[2] / 10.0, min(found[3], 3.0), min(found[7], 3.0)
    row[8] = clearance(r, x, y, sign, 0.0) / 10.0
    row[9] = clearance(r, x, y, 0.0, sign) / 10.0
    row[10] = clearance(r, x, y, -sign, 0.0) / 10.0
    row[11] = clearance(r, x, y, 0.0, -sign) / 10.0
    row[12], row[13] = sign * (goal_x - x) / r.half, sign * (goal_y - y) / r.half
    row[14] = goal
    if r.respawns == 1:
        row[14] = g.stand / 1000.0 * (1.0 if p < r.team_size else -1.0)
    row[15] = 1.0 - g.tick / r.time_limit


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
    for b in range(FIRE):
        mask[m, p, b] = anything
    for b in range(5, FIRE, 11):
        mask[m, p, b] = 1
    mask[m, p, FIRE] = mask[m, p, ABILITY] = mask[m, p, INTERACT] = 1
    mask[m, p, FIRE + 1] = 1 if living and may_fire(g, r, p) else 0
    for slot in range(3):
        mask[m, p, ABILITY + 1 + slot] = 1 if living and may_use(g, r, p, slot) else 0
    mask[m, p, INTERACT + 1] = 1 if living and may_interact(g, r, p) else 0


@kernel
def structure_detail(g, r, t, escorted):
    """0 invulnerable, 0.5 attackable alone (damage reduced), 1 attackable with an escort."""
    if not attackable(g, t):
        return 0.0
    return 1.0 if escorted else 0.5


@allocating
def scratch():
    """Room for one survey."""
    return np.zeros(9)
