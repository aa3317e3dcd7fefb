"""The `team` view: the true state of the own team, the structures and the match, for a critic.

Never for whoever acts: a player knows its allies' places, not their cooldowns.
"""

from __future__ import annotations

from levelcap.kit.compiled import kernel
from levelcap.world.rules.columns import MATCH, MATE
from levelcap.world.rules.combat import escorted
from levelcap.world.rules.observe import pace, structure_detail, write_player
from levelcap.world.rules.terrain import frame_sign
from levelcap.world.spec import MEMBER, STRUCTURE, STRUCTURES, TEAM_MEMBERS

NUM_MEMBER, NUM_STRUCTURE = len(MEMBER), len(STRUCTURE)
STRUCTURES_AT = TEAM_MEMBERS * NUM_MEMBER
STANDING_AT = STRUCTURES_AT + NUM_STRUCTURE * len(STRUCTURES)


@kernel
def _write_member(g, r, p, row):
    """One member into `row` [22]; of the dead only when they return."""
    row[:] = 0.0
    if g.alive[p] == 0:
        if r.respawns == 1:
            row[MATE.respawn] = g.respawn[p] / r.respawn_ticks
        return
    sign = frame_sign(r, p)
    row[MATE.alive] = 1.0
    row[MATE.px], row[MATE.py] = sign * g.x[p] / r.half, sign * g.y[p] / r.half
    row[MATE.vx], row[MATE.vy] = pace(r, sign * g.vx[p]), pace(r, sign * g.vy[p])
    write_player(g, r, p, row[MATE.hp :])


@kernel
def _write_structures(g, r, side, row):
    """Own outer tower, inner tower and core, then the enemy's, into `row` [12]."""
    for i in range(6):
        t = (i + 3 * side) % 6
        at = NUM_STRUCTURE * i
        if g.tower_hp[t] > 0:
            row[at] = g.tower_hp[t] / r.tower_hp[t]
            row[at + 1] = structure_detail(g, r, t, escorted(g, r, t))


@kernel
def _write_standing(g, r, side, row):
    """Clock, zone and who is ahead, seen from a side, into `row` [6]."""
    row[MATCH.clock] = 1.0 - g.tick / r.time_limit
    row[MATCH.zone_radius] = g.zone[2] / r.half
    if r.respawns == 0:
        return
    row[MATCH.balance] = g.stand / 1000.0 * (1.0 if side == 0 else -1.0)
    row[MATCH.own_score] = g.score[side] / r.crown_goal
    row[MATCH.enemy_score] = g.score[1 - side] / r.crown_goal
    if r.has_lane == 1:
        living = 0
        for c in range(r.creep_most * side, r.creep_most * (side + 1)):
            if g.creep_hp[c] > 0:
                living += 1
        row[MATCH.own_creeps] = living / r.creep_most


@kernel
def write_team(g, r, p, row):
    """The whole view of player p into `row` [128], dead or alive."""
    first, seat = p // r.team_size * r.team_size, p % r.team_size
    row[STRUCTURES_AT:] = 0.0
    for k in range(TEAM_MEMBERS):
        member = row[NUM_MEMBER * k : NUM_MEMBER * (k + 1)]
        if k >= r.team_size:
            member[:] = 0.0
        else:  # the viewer, then those before its seat, then those behind
            other = seat if k == 0 else (k - 1 if k <= seat else k)
            _write_member(g, r, first + other, member)
    side = p // r.team_size
    if r.has_lane == 1:
        _write_structures(g, r, side, row[STRUCTURES_AT:STANDING_AT])
    _write_standing(g, r, side, row[STANDING_AT:])
