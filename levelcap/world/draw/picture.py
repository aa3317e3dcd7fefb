"""`draw`: one match as a picture for people. The whole map, no fog, never rotated, with a HUD.

Pixels are Pillow's (`canvas`); this file says what is drawn where. Numbers here are looks, in units
of the map unless they say px.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.world.draw.canvas import FINE, Canvas, Colour, mixed
from levelcap.world.draw.hud import (
    FAINT,
    GOLD,
    RED,
    TEAM_COLOURS,
    WHITE,
    draw_banner,
    draw_hud,
    text_scale,
)
from levelcap.world.draw.scoreboard import player_letter, read_scoreboard
from levelcap.world.rules.combat import AREA, BLAST, HEAL, SNARE
from levelcap.world.rules.lane import CREEP
from levelcap.world.rules.rulebook import MILLI
from levelcap.world.rules.sight import WARD_SIGHT

GROUND: Colour = (19, 23, 30)
LANE: Colour = (38, 44, 54)
WALL: Colour = (62, 72, 88)
WALL_EDGE: Colour = (112, 126, 148)
ZONE: Colour = (255, 70, 60)
GREEN: Colour = (80, 220, 110)
BLACK: Colour = (8, 10, 14)
SHIELD: Colour = (120, 225, 240)
MIN_SIZE, MAX_SIZE = 160, 4096


def draw(
    world: Any,
    match: int = 0,
    size: int = 640,
    names: Sequence[str] = (),
    banner: str | None = None,
) -> NDArray[np.uint8]:
    """One match as uint8 [height, width, 3]; the width is `size`, the HUD comes on top.

    names: policies, one a side. banner: a line to show large, "" for none; by default the result
    once the match is over (which only a world with auto_reset=False shows: the others restart).
    """
    if not MIN_SIZE <= size <= MAX_SIZE:
        remedy = f"Give pixels from {MIN_SIZE} to {MAX_SIZE}"
        raise BadValue(refuse("size of a picture out of range", size, remedy))
    board = read_scoreboard(world, match, names)
    ground = Canvas(FINE * size, FINE * size, GROUND)
    _Scene(ground, world, match).draw()
    draw_banner(ground, board, banner)
    return np.concatenate([draw_hud(FINE * size, board).shrunk(), ground.shrunk()])


class _Scene:
    """The map of one match on one canvas."""

    def __init__(self, canvas: Canvas, world: Any, match: int) -> None:
        self.canvas, self.world, self.match = canvas, world, match
        self.g, self.r = world.state[match], world.rules
        self.side = canvas.width
        self.unit = self.side / (2.0 * self.r.half)  # px a unit
        self.body = max(1.0 * self.unit, 6.0 * self.side / 480.0)  # px, a player's radius
        self.scale = text_scale(self.side)
        self.thin = max(1.0, self.side / 480.0)  # px, a fine line

    def at(self, x: Any, y: Any) -> tuple[float, float]:
        """Pixels of a point of the world."""
        half = self.r.half
        return (float(x) + half) * self.unit, (half - float(y)) * self.unit

    def colour(self, seat: Any) -> Colour:
        return TEAM_COLOURS[int(seat) // self.r.team_size]

    def draw(self) -> None:
        self._ground()
        if self.r.has_crown:
            self._crown()
        self._walls()
        self._items()
        self._wards()
        if self.r.has_lane:
            self._lane()
        self._fallen()
        self._abilities()
        self._shots()
        for p in range(self.r.num_players):
            if self.g["alive"][p]:
                self._player(p)

    def _ground(self) -> None:
        """The zone (red outside it), a grid of 10 u, the lane, and the bases."""
        half = self.r.half
        if self.r.has_zone:
            self.canvas.box(0, 0, self.side, self.side, mixed(GROUND, ZONE, 0.28))
            x, y = self.at(self.g["zone"][0], self.g["zone"][1])
            radius = float(self.g["zone"][2]) * self.unit
            self.canvas.disc(x, y, radius, GROUND)
            self.canvas.ring(x, y, radius, 2.0 * self.thin, ZONE)
        for k in range(int(-half // 10) * 10, int(half) + 1, 10):
            x, y = self.at(k, k)
            self.canvas.line((x, 0, x, self.side), self.thin, WHITE, 0.05)
            self.canvas.line((0, y, self.side, y), self.thin, WHITE, 0.05)
        if self.r.has_lane:
            a, b = self.at(self.r.tower_x[2], 0), self.at(self.r.tower_x[5], 0)
            self.canvas.line((*a, *b), 6.0 * self.unit, LANE)
        if self.r.respawns:
            for team in range(2):
                seat = team * self.r.team_size + self.r.team_size // 2
                x, y = self.at(self.r.base_x[seat], self.r.base_y[seat])
                self.canvas.disc(x, y, 6.0 * self.unit, mixed(GROUND, TEAM_COLOURS[team], 0.12))

    def _crown(self) -> None:
        """The circle in the colour of the side that is scoring, and the points over it."""
        x, y = self.at(0, 0)
        radius = self.r.crown_radius * self.unit
        inside = self._counts_in_crown()
        holder = GOLD
        if inside[0] != inside[1]:
            holder = TEAM_COLOURS[0 if inside[0] > inside[1] else 1]
        self.canvas.disc(x, y, radius, mixed(GROUND, holder, 0.16))
        self.canvas.ring(x, y, radius, 2.5 * self.thin, GOLD, 0.9)
        # Above the circle: inside it the fight would hide them.
        scale, line = 2 * self.scale, y - radius - 2.0 * self.unit
        for team, shift in ((0, -0.5), (1, 0.5)):
            points = f"{int(self.g['score'][team]) // MILLI}"
            colour = TEAM_COLOURS[team]
            self.canvas.text(points, x + shift * radius, line, scale, colour, 0.7)
        self.canvas.text(":", x, line, scale, WHITE, 0.5)

    def _counts_in_crown(self) -> tuple[int, int]:
        g, r = self.g, self.r
        near = (np.hypot(g["x"], g["y"]) <= r.crown_radius) & (g["alive"] == 1)
        return int(near[: r.team_size].sum()), int(near[r.team_size :].sum())

    def _walls(self) -> None:
        r, edge = self.r, 1.2 * self.thin
        for w in range(r.num_walls):
            left, top = self.at(r.wall_x[w] - r.wall_w[w], r.wall_y[w] + r.wall_h[w])
            right, bottom = self.at(r.wall_x[w] + r.wall_w[w], r.wall_y[w] - r.wall_h[w])
            self.canvas.box(left, top, right, bottom, WALL_EDGE)
            self.canvas.box(left + edge, top + edge, right - edge, bottom - edge, WALL)

    def _items(self) -> None:
        """A green cross heals, a yellow box holds ammunition."""
        size = max(0.9 * self.unit, 4.5 * self.thin)
        for i in range(self.r.item_most):
            kind = int(self.g["item_kind"][i])
            if kind == 0:
                continue
            x, y = self.at(self.g["item_x"][i], self.g["item_y"][i])
            self.canvas.disc(x, y, 1.5 * size, BLACK, 0.5)
            if kind == 1:
                arm = 0.36 * size
                self.canvas.box(x - size, y - arm, x + size, y + arm, GREEN)
                self.canvas.box(x - arm, y - size, x + arm, y + size, GREEN)
            else:
                low = 0.75 * size
                self.canvas.box(x - size, y - low, x + size, y + low, GOLD)
                self.canvas.box(x - size, y - 0.12 * size, x + size, y + 0.12 * size, BLACK, 0.7)

    def _wards(self) -> None:
        for p in np.flatnonzero(self.g["ward"][: self.r.num_players] > 0):
            x, y = self.at(self.g["ward_x"][p], self.g["ward_y"][p])
            reach = self.r.sight * WARD_SIGHT * self.unit
            self.canvas.disc(x, y, reach, self.colour(p), 0.05)
            self.canvas.ring(x, y, 0.6 * self.body, 1.5 * self.thin, self.colour(p))
            self.canvas.disc(x, y, 0.22 * self.body, WHITE)

    def _lane(self) -> None:
        for t in range(6):
            self._structure(t)
        most, size = self.r.creep_most, max(0.8 * self.unit, 3.2 * self.thin)
        for c in np.flatnonzero(self.g["creep_hp"][: 2 * most] > 0):
            x, y = self.at(self.g["creep_x"][c], self.g["creep_y"][c])
            share = float(self.g["creep_hp"][c]) / self.r.creep_hp
            self.canvas.diamond(x, y, size + self.thin, BLACK)
            colour = mixed(GROUND, TEAM_COLOURS[c // most], 0.45 + 0.4 * share)
            self.canvas.diamond(x, y, size, colour)
        for t in range(6):
            self._beam(t)

    def _structure(self, t: int) -> None:
        """A tower or a core with its reach, its hp and its name; a ruin once it has fallen."""
        x, y = self.at(self.r.tower_x[t], self.r.tower_y[t])
        colour, is_core = TEAM_COLOURS[t // 3], t % 3 == 2
        radius = (self.r.tower_radius + (0.8 if is_core else 0.0)) * self.unit
        share = float(self.g["tower_hp"][t]) / float(self.r.tower_hp[t])
        if share <= 0.0:
            self.canvas.disc(x, y, radius, BLACK, 0.8)
            self.canvas.ring(x, y, radius, self.thin, colour, 0.35)
            self.canvas.cross(x, y, 0.5 * radius, 2.0 * self.thin, colour)
            return
        self.canvas.ring(x, y, self.r.tower_reach * self.unit, self.thin, colour, 0.22)
        dark = mixed(BLACK, colour, 0.3)
        if is_core:
            self.canvas.diamond(x, y, 1.5 * radius, colour)
            self.canvas.diamond(x, y, 1.5 * radius - 2.5 * self.thin, dark)
            self.canvas.diamond(x, y, 0.8 * radius, mixed(colour, WHITE, 0.35))
        else:
            self.canvas.disc(x, y, radius, colour)
            self.canvas.disc(x, y, radius - 2.0 * self.thin, dark)
            self.canvas.disc(x, y, 0.45 * radius, colour)
        if t % 3 > 0 and self.g["tower_hp"][t - 1] > 0:  # safe until the one before it falls
            self.canvas.ring(x, y, 1.45 * radius, self.thin, WHITE, 0.4)
        width, top = 2.6 * radius, y - 1.55 * radius - 6.0 * self.thin
        self._bar(x - width / 2, top, width, 3.0 * self.thin, share, colour)
        name = "CORE" if is_core else "TOWER"
        middle = y + 1.6 * radius + 5.0 * self.thin
        self.canvas.text(name, x, middle, 0.6 * self.scale, colour, 0.9)

    def _beam(self, t: int) -> None:
        """From a structure to what it burns; thicker the longer it is the same target."""
        target = int(self.g["tower_target"][t])
        if target < 0 or self.g["tower_hp"][t] <= 0:
            return
        if target >= CREEP:
            c = target - CREEP
            hit, alive = (self.g["creep_x"][c], self.g["creep_y"][c]), self.g["creep_hp"][c] > 0
        else:
            hit, alive = (self.g["x"][target], self.g["y"][target]), self.g["alive"][target]
        if not alive:
            return
        ends = (*self.at(self.r.tower_x[t], self.r.tower_y[t]), *self.at(*hit))
        heat = min(1.0, 0.4 + float(self.g["tower_time"][t]) / (4.0 * self.r.tick_hz))
        colour = TEAM_COLOURS[t // 3]
        self.canvas.line(ends, 4.5 * self.thin * heat, colour, 0.35)
        self.canvas.line(ends, 1.6 * self.thin, mixed(colour, WHITE, 0.6), 0.9)

    def _fallen(self) -> None:
        """Where somebody died: a ghost with the seconds until the return, or a cross for good."""
        for p in np.flatnonzero(self.g["alive"][: self.r.num_players] == 0):
            x, y = self.at(self.g["x"][p], self.g["y"][p])
            colour, size = self.colour(p), self.body
            if self.r.respawns:
                self.canvas.ring(x, y, size, self.thin, colour, 0.45)
                seconds = -(-int(self.g["respawn"][p]) // self.r.tick_hz)
                self.canvas.text(f"{seconds}", x, y, 0.6 * self.scale, colour, 0.6)
            else:
                self.canvas.cross(x, y, 0.6 * size, 2.2 * self.thin, colour)

    def _abilities(self) -> None:
        """Blasts, snares and heals of this decision, read from cooldowns that have just begun."""
        g, r, fresh = self.g, self.r, self.world.decision_ticks
        for p in range(r.num_players):
            for slot in range(3):
                c = int(g["champion"][p])
                age = int(r.ability_cooldown[c, slot]) - int(g["wait"][p, slot])
                kind = int(r.ability_kind[c, slot])
                if age > fresh or g["ability"][p] != slot + 1:
                    continue
                reach = float(r.ability_range[c, slot])
                if kind in (BLAST, SNARE):
                    ax, ay = float(g["aim_x"][p]), float(g["aim_y"][p])
                    share = min(1.0, reach / max(1e-9, float(np.hypot(ax, ay))))
                    x, y = self.at(g["x"][p] + ax * share, g["y"][p] + ay * share)
                    colour = GOLD if kind == SNARE else self.colour(p)
                    self.canvas.disc(x, y, AREA * self.unit, colour, 0.35)
                    self.canvas.ring(x, y, AREA * self.unit, 2.0 * self.thin, WHITE, 0.8)
                elif kind == HEAL:
                    x, y = self.at(g["x"][p], g["y"][p])
                    self.canvas.ring(x, y, reach * self.unit, 2.0 * self.thin, GREEN, 0.6)

    def _shots(self) -> None:
        g, tail = self.g, 2.2  # ticks of flight
        for k in range(int(g["num_shots"])):
            x, y, vx, vy = (float(g[n][k]) for n in ("shot_x", "shot_y", "shot_vx", "shot_vy"))
            ends = (*self.at(x - tail * vx, y - tail * vy), *self.at(x, y))
            colour = mixed(self.colour(g["shot_owner"][k]), WHITE, 0.4)
            self.canvas.line(ends, 1.8 * self.thin, colour)

    def _player(self, p: int) -> None:
        """Disc, facing, letter, states, and a bar of hp and shield above."""
        g, colour, size = self.g, self.colour(p), self.body
        x, y = self.at(g["x"][p], g["y"][p])
        dx, dy = float(g["dir_x"][p]) * size, -float(g["dir_y"][p]) * size
        self.canvas.disc(x, y, size + 1.5 * self.thin, BLACK, 0.8)
        ends = (x + 0.8 * dx, y + 0.8 * dy, x + 1.5 * dx, y + 1.5 * dy)
        self.canvas.line(ends, 2.6 * self.thin, mixed(colour, WHITE, 0.5))
        self.canvas.disc(x, y, size, colour)
        self.canvas.text(player_letter(self.world, self.match, p), x, y, size / 5.5, BLACK)
        if g["shield"][p] > 0:
            self.canvas.ring(x, y, size + 2.5 * self.thin, 1.5 * self.thin, SHIELD, 0.9)
        if g["invulnerable"][p] > 0:
            self.canvas.ring(x, y, size + 4.0 * self.thin, 1.2 * self.thin, WHITE, 0.8)
        if g["snare"][p] > 0:
            self.canvas.ring(x, y, size + 4.0 * self.thin, 2.0 * self.thin, GOLD, 0.9)
        full = float(self.r.champ_hp[g["champion"][p]])
        width, top = 2.4 * size, y - size - 6.5 * self.thin
        share = float(g["hp"][p]) / full
        tone = mixed(RED, GREEN, min(1.0, max(0.0, 1.6 * share - 0.3)))
        self._bar(x - width / 2, top, width, 3.0 * self.thin, share, tone)
        if g["shield"][p] > 0:
            extra = width * min(1.0, float(g["shield"][p]) / full)
            left = x - width / 2
            self.canvas.box(left, top - 2.0 * self.thin, left + extra, top, SHIELD)

    def _bar(
        self, left: float, top: float, width: float, height: float, share: float, colour: Colour
    ) -> None:
        edge = self.thin
        self.canvas.box(
            left - edge, top - edge, left + width + edge, top + height + edge, BLACK, 0.85
        )
        self.canvas.box(left, top, left + width, top + height, FAINT)
        self.canvas.box(left, top, left + width * min(1.0, max(0.0, share)), top + height, colour)
