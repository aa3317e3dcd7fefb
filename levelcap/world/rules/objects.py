"""The `objects` view: 16 slots by class, nearest first in each class.

Enemies and allies are players; an enemy out of sight stays where it was last seen, with its age.
Creeps and shots are the enemy's only, and only while seen; structures are always known.
"""

from __future__ import annotations

from levelcap.kit.compiled import kernel
from levelcap.world.rules.columns import DUEL, LMS, OBJ, TEAMS
from levelcap.world.rules.combat import escorted
from levelcap.world.rules.observe import structure_detail
from levelcap.world.rules.sight import team_sees
from levelcap.world.rules.terrain import frame_sign, length
from levelcap.world.spec import OBJECT_SLOTS

NOTHING = -1  # no column for its body: items have none


@kernel
def _insert(near, who, first, size, d, code):
    """Keep the `size` nearest of one class in slots first..first+size-1, sorted, stable."""
    at = first + size - 1
    if d >= near[at]:
        return
    while at > first and near[at - 1] > d:
        near[at], who[at] = near[at - 1], who[at - 1]
        at -= 1
    near[at], who[at] = d, code


@kernel
def _fill(r, row, sign, dx, dy, vx, vy, hp, kind, body):
    """The columns every object has. Velocities come per tick."""
    d = length(dx, dy)
    row[OBJ.dx] = min(2.0, max(-2.0, sign * dx / 10.0))
    row[OBJ.dy] = min(2.0, max(-2.0, sign * dy / 10.0))
    row[OBJ.distance] = d / 50.0
    if d > 0.0:
        row[OBJ.dir_x], row[OBJ.dir_y] = sign * dx / d, sign * dy / d
    row[OBJ.vx], row[OBJ.vy] = sign * vx * r.object_pace, sign * vy * r.object_pace
    row[OBJ.hp] = hp
    row[kind] = 1.0
    if body >= 0:
        row[body] = 1.0
    row[OBJ.visible] = 1.0


@kernel
def _players(g, r, p, view, near, who, slots):
    team = p // r.team_size
    sign = frame_sign(r, p)
    x, y = g.x[p], g.y[p]
    for q in range(r.num_players):
        if q == p or g.alive[q] == 0:
            continue
        if q // r.team_size == team:
            _insert(near, who, slots.ally, slots.allies, length(g.x[q] - x, g.y[q] - y), q)
        else:
            seen = g.seen_tick[team, q]
            if seen >= 0 and g.tick - seen <= r.remember_ticks:
                d = length(g.seen_x[team, q] - x, g.seen_y[team, q] - y)
                _insert(near, who, slots.enemy, slots.enemies, d, q)
    for k in range(slots.enemy, slots.enemy + slots.enemies):
        q = who[k]
        if q >= 0:
            dx, dy = g.seen_x[team, q] - x, g.seen_y[team, q] - y
            vx, vy = g.seen_vx[team, q], g.seen_vy[team, q]
            hp = g.seen_hp[team, q] / 100000.0
            _fill(r, view[k], sign, dx, dy, vx, vy, hp, OBJ.is_enemy, OBJ.is_player)
            view[k, OBJ.age] = min(2.0, (g.tick - g.seen_tick[team, q]) / r.age_ticks)
            view[k, OBJ.visible] = g.seen_now[team, q]
            if g.seen_now[team, q] == 1:
                view[k, OBJ.shield] = g.shield[q] / 100000.0
    for k in range(slots.ally, slots.ally + slots.allies):
        q = who[k]
        if q >= 0:
            dx, dy = g.x[q] - x, g.y[q] - y
            hp = g.hp[q] / 100000.0
            _fill(r, view[k], sign, dx, dy, g.vx[q], g.vy[q], hp, OBJ.is_ally, OBJ.is_player)
            view[k, OBJ.shield] = g.shield[q] / 100000.0


@kernel
def _structures(g, r, p, view, near, who, first, size):
    side = p // r.team_size
    sign = frame_sign(r, p)
    x, y = g.x[p], g.y[p]
    for i in range(6):
        t = (i + 3 * side) % 6  # own side first: a tie reads the same from both sides
        if g.tower_hp[t] > 0:
            _insert(near, who, first, size, length(r.tower_x[t] - x, r.tower_y[t] - y), t)
    for k in range(first, first + size):
        t = who[k]
        if t >= 0:
            kind = OBJ.is_ally if t // 3 == side else OBJ.is_enemy
            hp = g.tower_hp[t] / r.tower_hp[t]
            dx, dy = r.tower_x[t] - x, r.tower_y[t] - y
            _fill(r, view[k], sign, dx, dy, 0.0, 0.0, hp, kind, OBJ.is_structure)
            view[k, OBJ.detail] = structure_detail(g, r, t, escorted(g, r, t))


@kernel
def _items(g, r, p, near, who, first, size):
    team = p // r.team_size
    sign = frame_sign(r, p)
    for half in range(2):  # of a pair equally far away, the one in the viewer's right half first
        for i in range(r.item_most):
            if g.item_kind[i] > 0:
                ix, iy = g.item_x[i], g.item_y[i]
                right = sign * ix > 0.0 or (ix == 0.0 and sign * iy > 0.0)
                if right != (half == 0):
                    continue
                d = length(ix - g.x[p], iy - g.y[p])
                if d < near[first + size - 1] and team_sees(g, r, team, ix, iy):
                    _insert(near, who, first, size, d, i)


@kernel
def _shots(g, r, p, near, who, first, size):
    team = p // r.team_size
    for k in range(g.num_shots):
        if g.shot_owner[k] // r.team_size != team:
            sx, sy = g.shot_x[k], g.shot_y[k]
            d = length(sx - g.x[p], sy - g.y[p])
            if d < near[first + size - 1] and team_sees(g, r, team, sx, sy):
                _insert(near, who, first, size, d, 1000 + k)


@kernel
def _creeps(g, r, p, near, who, first, size):
    team = p // r.team_size
    for c in range(r.creep_most * (1 - team), r.creep_most * (2 - team)):
        if g.creep_hp[c] > 0:
            cx, cy = g.creep_x[c], g.creep_y[c]
            d = length(cx - g.x[p], cy - g.y[p])
            if d < near[first + size - 1] and team_sees(g, r, team, cx, cy):
                _insert(near, who, first, size, d, 100 + c)


@kernel
def _write_rest(g, r, p, view, who, first, size):
    """Items (code < 100), creeps (100 + c) and shots (1000 + k) of the mixed slots."""
    sign = frame_sign(r, p)
    x, y = g.x[p], g.y[p]
    for k in range(first, first + size):
        code = who[k]
        if code >= 1000:
            j = code - 1000
            dx, dy = g.shot_x[j] - x, g.shot_y[j] - y
            _fill(
                r, view[k], sign, dx, dy, g.shot_vx[j], g.shot_vy[j], 0.0, OBJ.is_enemy, OBJ.is_shot
            )
            view[k, OBJ.detail] = g.shot_damage[j] / 20000.0
        elif code >= 100:
            j = code - 100
            dx, dy = g.creep_x[j] - x, g.creep_y[j] - y
            hp = min(2.0, g.creep_hp[j] / r.creep_hp)
            _fill(
                r,
                view[k],
                sign,
                dx,
                dy,
                g.creep_vx[j],
                g.creep_vy[j],
                hp,
                OBJ.is_enemy,
                OBJ.is_creep,
            )
        elif code >= 0:
            dx, dy = g.item_x[code] - x, g.item_y[code] - y
            _fill(r, view[k], sign, dx, dy, 0.0, 0.0, 0.0, OBJ.is_loot, NOTHING)
            view[k, OBJ.detail] = 1.0 if g.item_kind[code] == 1 else -1.0


@kernel
def write_objects(g, r, p, view, near, who):
    """All slots of player p into `view` [16, 20]; near, who: scratch [16]."""
    for k in range(OBJECT_SLOTS):
        near[k], who[k] = 1e9, -1
        for column in range(view.shape[1]):
            view[k, column] = 0.0
    if r.respawns == 1:
        first, size = TEAMS.rest, TEAMS.rests
        _players(g, r, p, view, near, who, TEAMS)
        if r.has_lane == 1:
            _structures(g, r, p, view, near, who, TEAMS.structure, TEAMS.structures)
            _creeps(g, r, p, near, who, first, size)
        _items(g, r, p, near, who, first, size)
        _shots(g, r, p, near, who, first, size)
        _write_rest(g, r, p, view, who, first, size)
        return
    slots = DUEL if r.num_teams == 2 else LMS
    _players(g, r, p, view, near, who, slots)
    _items(g, r, p, near, who, slots.item, slots.items)
    _shots(g, r, p, near, who, slots.shot, slots.shots)
    _write_rest(g, r, p, view, who, slots.item, slots.items + slots.shots)
