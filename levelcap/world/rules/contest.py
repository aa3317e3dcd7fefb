"""What a match is about: zone, items, crown, structures, and who has won."""

from __future__ import annotations

from math import sqrt

import numpy as np

from levelcap.kit.compiled import kernel
from levelcap.world.rules.chance import ITEM_KIND, ITEM_PLACE, draw, mix, uniform
from levelcap.world.rules.terrain import frame_sign, length, standable

HEALTH, AMMO = 1, 2
PLACE_TRIES = 12


@kernel
def outside_zone(g, r, p):
    """Is the player outside the safe zone? Never where there is none."""
    if r.has_zone == 0:
        return False
    return length(g.x[p] - g.zone[0], g.y[p] - g.zone[1]) > g.zone[2]


@kernel
def shrink_zone(g, r):
    """The zone closes at a steady pace; outside it hurts, more as time goes by."""
    t = g.tick
    g.zone[2] = max(0.0, r.zone_start * (1.0 - t / r.zone_close))
    damage = int(r.zone_damage + r.zone_growth * t)
    for p in range(r.num_players):
        if g.alive[p] == 1 and outside_zone(g, r, p):
            g.hurt[p] += damage


@kernel
def item_in_reach(g, r, p):
    """Slot of the nearest item within reach, or -1."""
    best, nearest, sign = -1, r.item_reach * r.item_reach, frame_sign(r, p)
    for i in range(r.item_most):
        if g.item_kind[i] > 0:
            dx, dy = g.item_x[i] - g.x[p], g.item_y[i] - g.y[p]
            d = dx * dx + dy * dy
            # Of a mirrored pair equally far away, the one on the player's own right.
            right = sign * g.item_x[i] > 0.0
            if d < nearest or (d == nearest and (best < 0 or right)):
                best, nearest = i, d
    return best


@kernel
def _take(g, r, p, i):
    if g.item_kind[i] == HEALTH:
        g.heal[p] += r.item_health
    else:
        g.ammo[p] = min(r.champ_ammo[g.champion[p]], g.ammo[p] + r.item_ammo)
    g.picked[p] += 1


@kernel
def interact(g, r):
    """Pick up what is in reach (an item claimed twice stays), or reload."""
    taken = 0  # bit mask of slots to clear after all claims are known
    for p in range(r.num_players):
        if g.interact[p] == 0 or g.alive[p] == 0:
            continue
        i = item_in_reach(g, r, p)
        if i >= 0:
            rivals = 0
            for q in range(r.num_players):
                if q != p and g.interact[q] == 1 and g.alive[q] == 1:
                    if item_in_reach(g, r, q) == i:
                        rivals += 1
            if rivals == 0:
                _take(g, r, p, i)
                taken |= 1 << i
        elif r.respawns == 1 and g.reload[p] == 0:
            if g.ammo[p] < r.champ_ammo[g.champion[p]]:
                g.reload[p] = r.reload_ticks
    if taken:
        for i in range(r.item_most):
            if taken & (1 << i):
                g.item_kind[i] = 0


@kernel
def place_items(g, r):
    """A new item now and then: a mirrored pair where there are two teams."""
    if g.tick % r.item_every != 0:
        return
    wanted = 2 if r.num_teams == 2 else 1
    free = 0
    for i in range(r.item_most):
        if g.item_kind[i] == 0:
            free += 1
    if free < wanted:
        return
    bits = draw(g.seed, g.tick, ITEM_PLACE, 0)
    reach = r.half - 2.0
    if r.has_zone == 1:
        reach = min(reach, g.zone[2] * 0.9)
    for _ in range(PLACE_TRIES):
        bits = mix(bits)
        ux = uniform(bits) * 2.0 - 1.0
        bits = mix(bits)
        uy = uniform(bits) * 2.0 - 1.0
        if ux * ux + uy * uy > 1.0 and r.has_zone == 1:
            continue
        x, y = g.zone[0] + ux * reach, g.zone[1] + uy * reach
        if not standable(r, x, y):
            continue
        pick = draw(g.seed, g.tick, ITEM_KIND, 0) % np.uint64(r.num_kinds)
        kind = r.item_kinds[np.int64(pick)]
        for i in range(r.item_most):
            if wanted > 0 and g.item_kind[i] == 0:
                g.item_kind[i] = kind
                g.item_x[i], g.item_y[i] = x, y
                x, y = -x, -y
                wanted -= 1
        return


@kernel
def hold_crown(g, r):
    """The side with more living players near the centre scores, and heals while it holds."""
    lead = 0
    for p in range(r.num_players):
        if g.alive[p] == 1 and length(g.x[p], g.y[p]) <= r.crown_radius:
            lead += 1 if p < r.team_size else -1
    if lead == 0:
        return
    side = 0 if lead > 0 else 1
    g.score[side] += (
        r.crown_points * g.tick // r.tick_hz - r.crown_points * (g.tick - 1) // r.tick_hz
    )
    for p in range(side * r.team_size, (side + 1) * r.team_size):
        if length(g.x[p], g.y[p]) <= r.crown_radius:
            g.heal[p] += r.crown_heal


@kernel
def balance(g, r):
    """How far side 0 is ahead, in thousandths of the whole objective."""
    if r.has_crown == 1:
        return int((g.score[0] - g.score[1]) / (r.crown_goal / 1000.0))
    if r.has_lane == 1:
        mine, theirs, full = 0, 0, 0
        for t in range(3):
            mine += g.tower_hp[t]
            theirs += g.tower_hp[t + 3]
            full += r.tower_hp[t]
        return int((mine - theirs) / (full / 1000.0))
    return 0


@kernel
def _by_hp(g, r):
    """Team of the healthiest living player; -1 when two teams are equal."""
    best, team = -1, -1
    for p in range(r.num_players):
        hp = g.hp[p] if g.alive[p] == 1 else 0
        if hp > best:
            best, team = hp, p // r.team_size
        elif hp == best:
            team = -1
    return team


@kernel
def judge(g, r):
    """Set `over` and `winner` when the match is decided."""
    late = g.tick >= r.time_limit
    if r.respawns == 0:
        living, last = 0, -1
        for p in range(r.num_players):
            if g.alive[p] == 1:
                living += 1
                last = p
        if living <= 1:
            g.over, g.winner = 1, last
        elif late:
            g.over, g.winner = 1, _by_hp(g, r)
        return
    if r.has_lane == 1:
        fell0, fell1 = g.tower_hp[2] <= 0, g.tower_hp[5] <= 0
        if fell0 or fell1:
            g.over = 1
            g.winner = -1 if fell0 and fell1 else (1 if fell0 else 0)
            return
    elif g.score[0] >= r.crown_goal or g.score[1] >= r.crown_goal:
        g.over = 1
        g.winner = 0 if g.score[0] > g.score[1] else 1
        return
    if late:
        ahead = g.score[0] - g.score[1]
        if r.has_lane == 1:
            for t in range(3):
                ahead += g.tower_hp[t] - g.tower_hp[t + 3]
        g.over = 1
        g.winner = 0 if ahead > 0 else (1 if ahead < 0 else -1)


@kernel
def unit_vector(bits):
    """A direction without sine or cosine: a point of the unit disc, normalised."""
    x, y, d = 1.0, 0.0, 1.0
    for _ in range(16):
        bits = mix(bits)
        x = uniform(bits) * 2.0 - 1.0
        bits = mix(bits)
        y = uniform(bits) * 2.0 - 1.0
        d = x * x + y * y
        if 0.01 < d <= 1.0:
            break
    if d <= 0.0:
        return 1.0, 0.0
    d = sqrt(d)
    return x / d, y / d
