"""Who sees what: line of sight shared in a team, and the memory of where somebody was last seen."""

from __future__ import annotations

from levelcap.kit.compiled import kernel
from levelcap.world.rules.terrain import sees

WARD_SIGHT = 0.7  # of a player's sight


@kernel
def team_sees(g, r, team, x, y):
    """Does a living member of the team, or a ward of theirs, see the point?"""
    limit = r.sight * r.sight
    for p in range(team * r.team_size, (team + 1) * r.team_size):
        if g.alive[p] == 1:
            dx, dy = g.x[p] - x, g.y[p] - y
            if dx * dx + dy * dy <= limit and sees(r, g.x[p], g.y[p], x, y):
                return True
        if g.ward[p] > 0:
            dx, dy = g.ward_x[p] - x, g.ward_y[p] - y
            if dx * dx + dy * dy <= limit * WARD_SIGHT * WARD_SIGHT:
                if sees(r, g.ward_x[p], g.ward_y[p], x, y):
                    return True
    return False


@kernel
def look(g, r):
    """Once per decision: what each team sees of each enemy now, remembered with its tick."""
    for team in range(r.num_teams):
        for q in range(r.num_players):
            if q // r.team_size == team:
                continue
            visible = g.alive[q] == 1 and team_sees(g, r, team, g.x[q], g.y[q])
            g.seen_now[team, q] = 1 if visible else 0
            if visible:
                g.seen_tick[team, q] = g.tick
                g.seen_x[team, q], g.seen_y[team, q] = g.x[q], g.y[q]
                g.seen_vx[team, q], g.seen_vy[team, q] = g.vx[q], g.vy[q]
                g.seen_hp[team, q] = g.hp[q]
