"""How a scripted bot decides: one row of views in, one row of bins and an intent out.

A bot reads `player`, `objects`, `context` and `mask`, nothing else, and uses the same action grid
as everybody. What it decides is carried out `reaction` decisions later. Chance comes from the
row's key alone.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from levelcap.kit.compiled import kernel
from levelcap.world.rules.chance import draw, uniform
from levelcap.world.rules.columns import CTX, OBJ, OWN
from levelcap.world.spec import HEADS, INTENTS, OBJECT_SLOTS

FIGHT, LOOT, FLEE, EXPLORE, CAUTIOUS = (INTENTS.index(name) for name in INTENTS)
INTENT = len(HEADS)  # column of a decided row, behind the heads
RING = 16
SHOT_SPEED = 20.0  # u/s; bots know the base numbers of patch 1.0
# Purposes of a row's chance.
AIM, STRAFE, ROAM_X, ROAM_Y, DODGE, SIDE = 1, 2, 3, 4, 5, 6

# One bot's memory between decisions.
MIND = np.dtype(
    [
        ("ring", "i1", (RING, INTENT + 1)),  # decided, not yet carried out: heads and intent
        ("at", "i8"),
        ("goal_x", "f8"),  # where it roams to, relative to the objective
        ("goal_y", "f8"),
        ("goal_left", "i8"),
        ("side", "f8"),  # which way round a wall
        ("side_left", "i8"),
        ("strafe", "f8"),
        ("strafe_left", "i8"),
    ],
    align=True,
)


class Traits(NamedTuple):
    """A bot's parameters: data/bots/<name>.toml; one left out is 0, switches are 0 or 1."""

    active: float
    reaction: float  # decisions of the 3-tick grid between seeing and doing
    aim_noise: float  # sideways error as a share of distance
    lead: float  # share of the target's motion foreseen
    range: float  # distance kept in a fight, units
    fire_range: float  # opens fire at this distance, units
    courage: float  # flees below this share of hp
    greed: float  # goes this far for an item, units
    roam: float  # walks to points this far around the goal, units
    ability: float  # 0 none, 1 attacks, 2 all
    kite: float  # keeps `range`, strafes
    dodge: float  # share of shots sidestepped
    retreat: float  # hurt: health packs first, no brawl
    loot: float  # goes for items
    group: float  # waits for its team when outnumbered
    objective: float  # plays zone, crown and lane properly
    wander: float  # walks about, fights nobody


class Ground(NamedTuple):
    """What a bot knows of the ruleset."""

    half: float
    zone: int
    lane: int
    crown: int
    enemies: int
    allies: int  # ally slots start behind the enemies
    structures: int
    rest: int  # first slot of items, creeps and shots


@kernel
def noise(key, purpose):
    """About normal, standard deviation 1, from three uniforms."""
    total = 0.0
    for i in range(3):
        total += uniform(draw(key, purpose, i, 7))
    return (total - 1.5) * 2.0


@kernel
def find_enemy(objects, ground, team_fights):
    """Slot of the enemy to fight: the nearest seen; in team games the weakest of those near."""
    best, value = -1, 1e9
    for k in range(ground.enemies):
        if objects[k, OBJ.is_enemy] > 0.5 and objects[k, OBJ.visible] > 0.5:
            d = objects[k, OBJ.distance] * 50.0
            score = d
            if team_fights:
                score += objects[k, OBJ.hp] * 6.0
            if score < value:
                best, value = k, score
    return best


@kernel
def find_known(objects, ground):
    """Slot of the nearest enemy seen within 5 s, or -1."""
    best, value = -1, 1e9
    for k in range(ground.enemies):
        if (
            objects[k, OBJ.is_enemy] > 0.5
            and objects[k, OBJ.age] < 1.0
            and objects[k, OBJ.distance] < value
        ):
            best, value = k, objects[k, OBJ.distance]
    return best


@kernel
def find_item(player, objects, ground, traits):
    """Slot of the nearest useful item within the bot's greed, or -1."""
    best, value = -1, traits.greed
    hungry = traits.greed * 2.0 if traits.retreat > 0.5 and player[OWN.hp] < 0.5 else traits.greed
    for k in range(ground.rest, OBJECT_SLOTS):
        if objects[k, OBJ.is_loot] > 0.5:
            d = objects[k, OBJ.distance] * 50.0
            health = objects[k, OBJ.detail] > 0.0
            useful = player[OWN.hp] < 0.8 if health else player[OWN.ammo] < 0.6
            limit = hungry if health else traits.greed
            if useful and d < limit and (best < 0 or d < value):
                best, value = k, d
    return best


@kernel
def find_creep(objects, ground):
    """Slot of the nearest enemy creep, or -1."""
    for k in range(ground.rest, OBJECT_SLOTS):
        if objects[k, OBJ.is_creep] > 0.5:
            return k
    return -1


@kernel
def find_structure(objects, ground):
    """Slot of the nearest enemy structure that can be hurt, or -1."""
    if ground.structures == 0:
        return -1
    first = ground.enemies + ground.allies
    for k in range(first, first + ground.structures):
        if (
            objects[k, OBJ.is_structure] > 0.5
            and objects[k, OBJ.is_enemy] > 0.5
            and objects[k, OBJ.detail] > 0.0
        ):
            return k
    return -1


@kernel
def aim_bins(dx, dy):
    """The bins whose direction is nearest to (dx, dy)."""
    d = sqrt(dx * dx + dy * dy)
    if d < 1e-9:
        return 5, 5
    ux, uy = dx / d, dy / d
    best, bx, by = -2.0, 5, 5
    for i in range(-5, 6):
        for j in range(-5, 6):
            if i == 0 and j == 0:
                continue
            dot = (i * ux + j * uy) / sqrt(float(i * i + j * j))
            # Among equal directions the one nearest to the target's distance: abilities land there.
            gap = abs(sqrt(float(i * i + j * j)) * 2.0 - d)
            score = dot - 1e-4 * gap
            if score > best:
                best, bx, by = score, i + 5, j + 5
    return bx, by


@kernel
def sidestep(objects, ground, key, traits):
    """A sideways step out of the path of the most pressing shot: (x, y), zero when none."""
    ox, oy, soonest = 0.0, 0.0, 0.6
    for k in range(ground.rest, OBJECT_SLOTS):
        if objects[k, OBJ.is_shot] < 0.5:
            continue
        px, py = (
            objects[k, OBJ.dir_x] * objects[k, OBJ.distance] * 50.0,
            objects[k, OBJ.dir_y] * objects[k, OBJ.distance] * 50.0,
        )
        vx, vy = objects[k, OBJ.vx] * 10.0, objects[k, OBJ.vy] * 10.0
        vv = vx * vx + vy * vy
        if vv < 1.0:
            continue
        t = -(px * vx + py * vy) / vv
        if t <= 0.0 or t >= soonest:
            continue
        cx, cy = px + vx * t, py + vy * t
        if cx * cx + cy * cy < 1.7 * 1.7 and uniform(draw(key, DODGE, k, 0)) < traits.dodge:
            side = 1.0 if vx * cy - vy * cx < 0.0 else -1.0
            v = sqrt(vv)
            ox, oy, soonest = -vy / v * side, vx / v * side, t
    return ox, oy


@kernel
def around_walls(context, mind, key, mx, my):
    """Turn aside where the way is blocked, and keep to that side for a while."""
    near = 0.08
    blocked_x = (mx > 0.1 and context[CTX.wall_right] < near) or (
        mx < -0.1 and context[CTX.wall_left] < near
    )
    blocked_y = (my > 0.1 and context[CTX.wall_up] < near) or (
        my < -0.1 and context[CTX.wall_down] < near
    )
    if mind.side_left > 0:
        mind.side_left -= 1
    if (blocked_x and abs(mx) >= abs(my)) or (blocked_y and abs(my) > abs(mx)):
        along = my if blocked_x and abs(mx) >= abs(my) else mx
        if mind.side_left == 0:
            if abs(along) > 0.15:
                mind.side = 1.0 if along > 0.0 else -1.0
            else:
                mind.side = 1.0 if uniform(draw(key, SIDE, 0, 0)) < 0.5 else -1.0
        mind.side_left = 12
        if blocked_x and abs(mx) >= abs(my):
            shut = context[CTX.wall_up] < near if mind.side > 0.0 else context[CTX.wall_down] < near
            if shut:
                mind.side = -mind.side
            return mx * 0.2, mind.side
        shut = context[CTX.wall_right] < near if mind.side > 0.0 else context[CTX.wall_left] < near
        if shut:
            mind.side = -mind.side
        return mind.side, my * 0.2
    return mx, my


@kernel
def toward(dx, dy):
    d = sqrt(dx * dx + dy * dy)
    if d < 1e-9:
        return 0.0, 0.0
    return dx / d, dy / d


@kernel
def keep_range(mind, key, dx, dy, d, want, skill):
    """Keep the wanted distance and move across the line of fire, as much as skill allows."""
    if mind.strafe_left <= 0:
        mind.strafe = 1.0 if uniform(draw(key, STRAFE, 0, 0)) < 0.5 else -1.0
        mind.strafe_left = 6 + int(uniform(draw(key, STRAFE, 1, 0)) * 10.0)
    mind.strafe_left -= 1
    ux, uy = dx / max(d, 1e-6), dy / max(d, 1e-6)
    pull = 0.0
    if d > want + 1.0:
        pull = 0.8
    elif d < want - 1.0:
        pull = -0.9
    sideways = mind.strafe * skill
    return ux * pull - uy * sideways, uy * pull + ux * sideways


@kernel
def walk_about(mind, context, ground, traits, key):
    """Walk to a random point around the objective; a new one when there or bored."""
    gx = context[CTX.goal_x] * ground.half + mind.goal_x
    gy = context[CTX.goal_y] * ground.half + mind.goal_y
    mind.goal_left -= 1
    if mind.goal_left <= 0 or gx * gx + gy * gy < 2.0:
        mind.goal_x = (uniform(draw(key, ROAM_X, 0, 0)) * 2.0 - 1.0) * traits.roam
        mind.goal_y = (uniform(draw(key, ROAM_Y, 0, 0)) * 2.0 - 1.0) * traits.roam
        mind.goal_left = 60
        gx = context[CTX.goal_x] * ground.half + mind.goal_x
        gy = context[CTX.goal_y] * ground.half + mind.goal_y
    return toward(gx, gy)


@kernel
def outnumbered(objects, ground):
    """More enemies seen near than allies near (self counted)."""
    foes, friends = 0, 1
    for k in range(ground.enemies):
        if (
            objects[k, OBJ.is_enemy] > 0.5
            and objects[k, OBJ.age] < 0.4
            and objects[k, OBJ.distance] * 50.0 < 14.0
        ):
            foes += 1
    for k in range(ground.enemies, ground.enemies + ground.allies):
        if objects[k, OBJ.is_ally] > 0.5 and objects[k, OBJ.distance] * 50.0 < 14.0:
            friends += 1
    return foes > friends


@kernel
def to_allies(objects, ground):
    """Direction to the middle of the allies; to the own base (-x) when there are none."""
    sx, sy, n = 0.0, 0.0, 0
    for k in range(ground.enemies, ground.enemies + ground.allies):
        if objects[k, OBJ.is_ally] > 0.5:
            sx += objects[k, OBJ.dir_x] * objects[k, OBJ.distance]
            sy += objects[k, OBJ.dir_y] * objects[k, OBJ.distance]
            n += 1
    if n == 0 or sx * sx + sy * sy < 1e-4:
        return -1.0, 0.0
    return toward(sx, sy)
