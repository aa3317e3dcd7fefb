"""Walls: may one stand here, and can one see from here to there.

Maps are symmetric through the centre, and so are these tests, bit for bit: a point is looked up in
the half plane it shares with its mirror image, and the segment test uses only distances.
"""

from __future__ import annotations

from math import sqrt

from levelcap.kit.compiled import kernel


@kernel
def _cell(grid, x, y, half, per_unit):
    if x < 0.0 or (x == 0.0 and y < 0.0):
        x, y = -x, -y
    column = int((x + half) * per_unit)
    row = int((y + half) * per_unit)
    size = int(2.0 * half * per_unit)
    if row >= size:
        row = size - 1
    if row < 0:
        row = 0
    if column >= size:
        column = size - 1
    return grid[row, column]


@kernel
def solid(r, x, y):
    """Is the point inside a wall or outside the map? (shots)"""
    if x > r.half or x < -r.half or y > r.half or y < -r.half:
        return True
    return _cell(r.solid, x, y, r.half, 1.0) != 0


@kernel
def standable(r, x, y):
    """May a player stand here? Walls are grown by half a unit, the player's body."""
    edge = r.half - 0.5
    if x > edge or x < -edge or y > edge or y < -edge:
        return False
    return _cell(r.walk, x, y, r.half, 2.0) == 0


@kernel
def sees(r, ax, ay, bx, by):
    """Is the segment from a to b free of walls? Separating-axis test against every rectangle."""
    mx, my = (ax + bx) * 0.5, (ay + by) * 0.5
    ex, ey = (bx - ax) * 0.5, (by - ay) * 0.5
    fx, fy = abs(ex), abs(ey)
    for w in range(r.num_walls):
        dx, dy = mx - r.wall_x[w], my - r.wall_y[w]
        hw, hh = r.wall_w[w], r.wall_h[w]
        if abs(dx) > hw + fx or abs(dy) > hh + fy:
            continue
        if abs(ex * dy - ey * dx) > hw * fy + hh * fx:
            continue
        return False
    return True


@kernel
def length(x, y):
    """Euclidean length of a vector."""
    return sqrt(x * x + y * y)


@kernel
def clearance(r, x, y, sx, sy):
    """Distance to the first wall from (x, y) along an axis direction, in half units up to 10."""
    for step in range(1, 21):
        if not standable(r, x + sx * 0.5 * step, y + sy * 0.5 * step):
            return 0.5 * (step - 1)
    return 10.0


@kernel
def frame_sign(r, p):
    """-1 when this player sees the world turned round, else 1."""
    return -1.0 if r.num_teams == 2 and p >= r.team_size else 1.0
