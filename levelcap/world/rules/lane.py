"""The lane of `siege`: creep waves, towers, cores.

Target codes: -1 nobody, p a player, 100 + c a creep, 200 + t a structure. All choices of a tick
are made before anything moves.
"""

from __future__ import annotations

from levelcap.kit.compiled import kernel
from levelcap.world.rules.combat import attackable
from levelcap.world.rules.terrain import length

CREEP, TOWER = 100, 200


@kernel
def _aim_creep(g, r, c, side):
    """Nearest enemy creep, player or attackable structure within the creep's sight."""
    x, y = g.creep_x[c], g.creep_y[c]
    best, nearest = -1, r.creep_sight * r.creep_sight
    for q in range(r.creep_most * (1 - side), r.creep_most * (2 - side)):
        if g.creep_hp[q] > 0:
            dx, dy = g.creep_x[q] - x, g.creep_y[q] - y
            d = dx * dx + dy * dy
            if d < nearest:
                best, nearest = CREEP + q, d
    for q in range(r.team_size * (1 - side), r.team_size * (2 - side)):
        if g.alive[q] == 1 and g.invulnerable[q] == 0:
            dx, dy = g.x[q] - x, g.y[q] - y
            d = dx * dx + dy * dy
            if d < nearest:
                best, nearest = q, d
    for t in range(3 * (1 - side), 3 * (2 - side)):
        if g.tower_hp[t] > 0 and attackable(g, t):
            dx, dy = r.tower_x[t] - x, r.tower_y[t] - y
            d = dx * dx + dy * dy
            if d < nearest:
                best, nearest = TOWER + t, d
    return best


@kernel
def fury(g, r, side):
    """Creeps grow with every enemy tower that fell: what makes an advantage end the match."""
    fallen = 0
    for t in range(3 * (1 - side), 3 * (1 - side) + 2):
        if g.tower_hp[t] <= 0:
            fallen += 1
    return 1.0 + r.creep_boost * fallen


@kernel
def _march(g, r, c, side, anger):
    """Velocity towards the target, or down the lane to the next standing structure."""
    target = g.creep_target[c]
    x, y = g.creep_x[c], g.creep_y[c]
    if target >= TOWER:
        gx, gy = r.tower_x[target - TOWER], r.tower_y[target - TOWER]
    elif target >= CREEP:
        gx, gy = g.creep_x[target - CREEP], g.creep_y[target - CREEP]
    elif target >= 0:
        gx, gy = g.x[target], g.y[target]
    else:
        t = 3 * (1 - side)
        while t % 3 < 2 and g.tower_hp[t] <= 0:
            t += 1
        gx, gy = r.tower_x[t], r.tower_y[t]
    dx, dy = gx - x, gy - y
    d = length(dx, dy)
    g.creep_vx[c] = g.creep_vy[c] = 0.0
    if target >= 0 and d <= r.creep_reach:
        if target >= TOWER:
            g.tower_hurt[target - TOWER] += int(r.creep_structure_damage * anger)
        elif target >= CREEP:
            g.creep_hurt[target - CREEP] += int(r.creep_damage * anger)
        else:
            g.hurt[target] += int(r.creep_damage * anger)
    elif d > 0.0:
        g.creep_vx[c] = dx / d * r.creep_speed
        g.creep_vy[c] = dy / d * r.creep_speed


@kernel
def move_creeps(g, r):
    """Every creep thinks, strikes or walks."""
    think = g.tick % r.think_ticks == 0
    anger0, anger1 = fury(g, r, 0), fury(g, r, 1)
    for c in range(2 * r.creep_most):
        if g.creep_hp[c] > 0:
            side = c // r.creep_most
            if think:
                g.creep_target[c] = _aim_creep(g, r, c, side)
            _march(g, r, c, side, anger0 if side == 0 else anger1)
    for c in range(2 * r.creep_most):
        if g.creep_hp[c] > 0:
            g.creep_x[c] += g.creep_vx[c]
            g.creep_y[c] += g.creep_vy[c]


@kernel
def _aim_tower(g, r, t, side):
    best, nearest = -1, r.tower_reach * r.tower_reach
    x, y = r.tower_x[t], r.tower_y[t]
    for q in range(r.creep_most * (1 - side), r.creep_most * (2 - side)):
        if g.creep_hp[q] > 0:
            dx, dy = g.creep_x[q] - x, g.creep_y[q] - y
            d = dx * dx + dy * dy
            if d < nearest:
                best, nearest = CREEP + q, d
    for q in range(r.team_size * (1 - side), r.team_size * (2 - side)):
        if g.alive[q] == 1 and g.invulnerable[q] == 0:
            dx, dy = g.x[q] - x, g.y[q] - y
            d = dx * dx + dy * dy
            if d < nearest:
                best, nearest = q, d
    return best


@kernel
def fire_towers(g, r):
    """Standing structures burn the nearest enemy, harder the longer it is the same one."""
    think = g.tick % r.think_ticks == 0
    for t in range(6):
        if g.tower_hp[t] <= 0:
            continue
        if think:
            target = _aim_tower(g, r, t, t // 3)
            if target != g.tower_target[t]:
                g.tower_target[t], g.tower_time[t] = target, 0
        target = g.tower_target[t]
        if target < 0:
            continue
        damage = int(r.tower_damage * (1.0 + r.tower_ramp * g.tower_time[t]))
        g.tower_time[t] += 1
        if target >= CREEP:
            g.creep_hurt[target - CREEP] += damage
        elif g.alive[target] == 1:
            g.hurt[target] += damage


@kernel
def apply_lane(g, r):
    """Creeps and structures take what was collected; late towers crumble."""
    for c in range(2 * r.creep_most):
        if g.creep_hurt[c] > 0:
            g.creep_hp[c] = max(0, g.creep_hp[c] - g.creep_hurt[c])
            g.creep_hurt[c] = 0
    for t in range(6):
        hurt = g.tower_hurt[t]
        if g.tick >= r.decay_from and t % 3 < 2:
            hurt += int(r.tower_hp[t] * r.decay)
        if hurt > 0:
            g.tower_hp[t] = max(0, g.tower_hp[t] - hurt)
            g.tower_hurt[t] = 0


@kernel
def send_wave(g, r):
    """A wave a side, into free slots; a side that is full sends fewer."""
    if g.tick % r.creep_every != 0:
        return
    for side in range(2):
        left = r.creep_wave
        sign = 1.0 - 2.0 * side
        for c in range(r.creep_most * side, r.creep_most * (side + 1)):
            if left > 0 and g.creep_hp[c] <= 0:
                left -= 1
                g.creep_hp[c] = int(r.creep_hp * fury(g, r, side))
                g.creep_x[c] = sign * (r.tower_x[2] + 3.0)
                g.creep_y[c] = sign * (left * 1.2 - 1.8)
                g.creep_vx[c] = g.creep_vy[c] = 0.0
                g.creep_target[c] = -1
