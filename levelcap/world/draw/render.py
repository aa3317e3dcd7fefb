"""State -> frames for nets: `write_frames` (pictures for people are in `picture`).

A frame is what one player may know, as 64 x 64 RGB, in the viewer's frame (turned by 180 degrees
for side 1 where there are two teams):

    rows 0-1   own hp, green; the shield lies over its upper row, cyan
    rows 2-3   ammunition, yellow; dim while reloading
    rows 4-5   time left, white
    rows 6-63  the map around the player, who is in the middle: 0.625 u a pixel, so +-20 u across
               and +-18 u up and down in every ruleset

Own team blue, enemies red; everyone is brighter with more hp, and a dot shows the facing. Enemies,
their shots and creeps, and items appear only while the team sees them; walls, structures, zone or
crown always. A dead viewer's map is black. Everything here is symmetric bit for bit: a mirrored
match gives side 1 the frames that side 0 had.
"""

from __future__ import annotations

from math import sqrt
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.compiled import entry, kernel
from levelcap.world.rules.sight import team_sees
from levelcap.world.rules.terrain import frame_sign, solid
from levelcap.world.spec import FRAME_SIZE

HUD_ROWS = 6
UNIT = 0.625  # units a pixel
MID_COLUMN = (FRAME_SIZE - 1) / 2
MID_ROW = (HUD_ROWS + FRAME_SIZE - 1) / 2

GROUND, GROUND_2, VOID, WALL = (30, 34, 42), (36, 41, 50), (8, 8, 10), (120, 126, 138)
TAKEN = (90, 80, 30)  # ground inside the crown's circle
SELF, ALLY, ENEMY = (235, 245, 255), (60, 150, 255), (255, 60, 60)
ALLY_SHOT, ENEMY_SHOT = (130, 220, 255), (255, 190, 60)
ALLY_CREEP, ENEMY_CREEP = (40, 90, 160), (170, 50, 40)
HEALTH, AMMO, WARD = (60, 230, 90), (240, 220, 60), (150, 110, 255)
HP_BAR, SHIELD_BAR, AMMO_BAR, CLOCK_BAR = (60, 230, 90), (60, 230, 230), (240, 220, 60), (255,) * 3

_FRAMES: WeakKeyDictionary[Any, NDArray[np.uint8]] = WeakKeyDictionary()


@kernel
def _put(frame, row, column, colour):
    if HUD_ROWS <= row < FRAME_SIZE and 0 <= column < FRAME_SIZE:
        for c in range(3):
            frame[row, column, c] = colour[c]


@kernel
def _dot(frame, row, column, radius, colour, shine):
    """A filled circle, soft at its edge; `shine` 0 to 1 is the brightness."""
    for i in range(int(row - radius), int(row + radius) + 2):
        for j in range(int(column - radius), int(column + radius) + 2):
            if HUD_ROWS <= i < FRAME_SIZE and 0 <= j < FRAME_SIZE:
                dy, dx = i - row, j - column
                share = min(1.0, radius + 0.5 - sqrt(dx * dx + dy * dy))
                if share > 0.0:
                    for c in range(3):
                        before = float(frame[i, j, c])
                        frame[i, j, c] = np.uint8(before + (colour[c] * shine - before) * share)


@kernel
def _place(g, p, sign, x, y):
    """Row and column of a point of the world in player p's frame."""
    column = MID_COLUMN + sign * (x - g.x[p]) / UNIT
    return MID_ROW - sign * (y - g.y[p]) / UNIT, column


@kernel
def _ground(g, r, p, sign, frame):
    """Floor, walls, and what lies outside the zone or inside the crown."""
    zone_x, zone_y, limit = g.zone[0], g.zone[1], g.zone[2] * g.zone[2]
    for i in range(HUD_ROWS, FRAME_SIZE):
        y = g.y[p] + sign * (MID_ROW - i) * UNIT
        for j in range(FRAME_SIZE):
            x = g.x[p] + sign * (j - MID_COLUMN) * UNIT
            if solid(r, x, y):
                inside = abs(x) <= r.half and abs(y) <= r.half
                colour = WALL if inside else VOID
            else:
                # Squares of 5 u show movement; looked up in one half plane, as walls are.
                hx, hy = x, y
                if x < 0.0 or (x == 0.0 and y < 0.0):
                    hx, hy = -x, -y
                odd = (int((hx + 500.0) * 0.2) + int((hy + 500.0) * 0.2)) & 1
                colour = GROUND_2 if odd else GROUND
            dx, dy = x - zone_x, y - zone_y
            away = dx * dx + dy * dy > limit
            for c in range(3):
                frame[i, j, c] = colour[c]
            if away and r.has_zone == 1:
                frame[i, j, 0] = np.uint8(colour[0] + 70)
            elif not away and r.has_crown == 1 and colour[0] < 100:
                for c in range(3):
                    frame[i, j, c] = TAKEN[c]


@kernel
def _structures(g, r, p, sign, frame):
    side = p // r.team_size
    for t in range(6):
        row, column = _place(g, p, sign, r.tower_x[t], r.tower_y[t])
        colour = ALLY if t // 3 == side else ENEMY
        radius = (r.tower_radius + 1.0 * (t % 3 == 2)) / UNIT
        shine = 0.25
        if g.tower_hp[t] > 0:
            shine = 0.4 + 0.6 * g.tower_hp[t] / r.tower_hp[t]
        _dot(frame, row, column, radius, colour, shine)
        if g.tower_hp[t] > 0:
            _dot(frame, row, column, radius * 0.5, CLOCK_BAR, shine)


@kernel
def _things(g, r, p, sign, frame, seen):
    """Items, wards, creeps and shots; `seen` tells what of the others' is in sight."""
    team = p // r.team_size
    for kind in range(1, 3):  # kind by kind: slots of a mirrored match are in another order
        for i in range(r.item_most):
            if g.item_kind[i] == kind and seen[i]:
                row, column = _place(g, p, sign, g.item_x[i], g.item_y[i])
                _dot(frame, row, column, 1.0, HEALTH if kind == 1 else AMMO, 1.0)
    for q in range(team * r.team_size, (team + 1) * r.team_size):
        if g.ward[q] > 0:
            row, column = _place(g, p, sign, g.ward_x[q], g.ward_y[q])
            _dot(frame, row, column, 0.7, WARD, 1.0)
    if r.has_lane == 1:
        first = r.item_most
        for k in range(2 * r.creep_most):  # own first, whichever half of the slots is own
            c = (k + team * r.creep_most) % (2 * r.creep_most)
            if g.creep_hp[c] > 0 and (k < r.creep_most or seen[first + c]):
                row, column = _place(g, p, sign, g.creep_x[c], g.creep_y[c])
                colour = ALLY_CREEP if k < r.creep_most else ENEMY_CREEP
                _dot(frame, row, column, 0.9, colour, 0.5 + 0.5 * g.creep_hp[c] / r.creep_hp)
    first = r.item_most + g.creep_hp.shape[0]
    for enemy in range(2):
        colour = ENEMY_SHOT if enemy else ALLY_SHOT
        for k in range(g.num_shots):
            theirs = g.shot_owner[k] // r.team_size != team
            if theirs == (enemy == 1) and (not theirs or seen[first + k]):
                row, column = _place(g, p, sign, g.shot_x[k], g.shot_y[k])
                _put(frame, int(row + 0.5), int(column + 0.5), colour)


@kernel
def _players(g, r, p, sign, frame):
    """Allies, then enemies in sight, then the viewer."""
    team = p // r.team_size
    for layer in range(3):
        for k in range(r.num_players):
            # Seats counted from the viewer's side, so that overlaps look the same to both.
            q = (k + team * r.team_size) % r.num_players
            own = q // r.team_size == team
            rank = 2 if q == p else (0 if own else 1)
            if rank != layer or g.alive[q] == 0 or (layer == 1 and g.seen_now[team, q] == 0):
                continue
            colour = SELF if layer == 2 else (ALLY if own else ENEMY)
            shine = 0.45 + 0.55 * min(1.0, g.hp[q] / r.champ_hp[g.champion[q]])
            row, column = _place(g, p, sign, g.x[q], g.y[q])
            _dot(frame, row, column, r.hit_radius / UNIT, colour, shine)
            row -= sign * g.dir_y[q] * 1.4 / UNIT
            column += sign * g.dir_x[q] * 1.4 / UNIT
            _put(frame, int(row + 0.5), int(column + 0.5), colour)


@kernel
def _bar(frame, row, share, colour, shine):
    for j in range(int(min(1.0, max(0.0, share)) * FRAME_SIZE + 0.5)):
        for c in range(3):
            frame[row, j, c] = np.uint8(colour[c] * shine)


@kernel
def _hud(g, r, p, frame):
    c = g.champion[p]
    living = float(g.alive[p])
    left = 1.0 - g.tick / r.time_limit
    for row in range(2):
        _bar(frame, row, g.hp[p] / r.champ_hp[c] * living, HP_BAR, 1.0)
        _bar(
            frame,
            2 + row,
            g.ammo[p] / r.champ_ammo[c] * living,
            AMMO_BAR,
            0.5 if g.reload[p] > 0 else 1.0,
        )
        _bar(frame, 4 + row, left, CLOCK_BAR, 1.0)
    if r.shield_max > 0:
        _bar(frame, 0, g.shield[p] / r.shield_max * living, SHIELD_BAR, 1.0)


@kernel
def _in_sight(g, r, team, seen):
    """Which items, creeps and shots of others a team sees: item slots, creep slots, shots."""
    creeps, shots = r.item_most, r.item_most + g.creep_hp.shape[0]
    for i in range(r.item_most):
        seen[i] = g.item_kind[i] > 0 and team_sees(g, r, team, g.item_x[i], g.item_y[i])
    if r.has_lane == 1:
        for c in range(r.creep_most * (1 - team), r.creep_most * (2 - team)):
            if g.creep_hp[c] > 0:
                seen[creeps + c] = team_sees(g, r, team, g.creep_x[c], g.creep_y[c])
    for k in range(g.num_shots):
        if g.shot_owner[k] // r.team_size != team:
            seen[shots + k] = team_sees(g, r, team, g.shot_x[k], g.shot_y[k])


@entry
def _write_matches(state, rules, frames, first, last):
    r = rules[0]
    sizes = state[0]
    room = r.item_most + sizes.creep_hp.shape[0] + sizes.shot_x.shape[0]
    seen = np.zeros(room, np.bool_)
    for m in range(first, last):
        g = state[m]
        for team in range(r.num_teams):
            _in_sight(g, r, team, seen)
            for p in range(team * r.team_size, (team + 1) * r.team_size):
                frame = frames[m, p]
                frame[:HUD_ROWS] = 0
                if g.alive[p] == 1:
                    sign = frame_sign(r, p)
                    _ground(g, r, p, sign, frame)
                    if r.has_lane == 1:
                        _structures(g, r, p, sign, frame)
                    _things(g, r, p, sign, frame, seen)
                    _players(g, r, p, sign, frame)
                else:
                    frame[HUD_ROWS:] = 0
                _hud(g, r, p, frame)


def write_frames(world: Any) -> NDArray[np.uint8]:
    """Every player's frame as uint8 [M, P, 64, 64, 3] (see the module's docstring).

    The array belongs to the world and is overwritten by the next call.
    """
    frames = _FRAMES.get(world)
    if frames is None:
        shape = (world.num_matches, world.rules.num_players, FRAME_SIZE, FRAME_SIZE, 3)
        frames = _FRAMES[world] = np.zeros(shape, np.uint8)
    world._spread(_write_matches, world.state, world._rules, frames)
    return frames
