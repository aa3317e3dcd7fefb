"""The scripted bots' decisions, put together from `brain.py`, for whole batches of rows."""

from __future__ import annotations

from math import sqrt

from levelcap.kit.compiled import entry, kernel
from levelcap.world.players.brain import (
    AIM,
    CAUTIOUS,
    EXPLORE,
    FIGHT,
    FLEE,
    INTENT,
    LOOT,
    RING,
    SHOT_SPEED,
    aim_bins,
    around_walls,
    find_creep,
    find_enemy,
    find_item,
    find_known,
    find_structure,
    keep_range,
    noise,
    outnumbered,
    sidestep,
    to_allies,
    toward,
    walk_about,
)
from levelcap.world.rules.columns import BIN, CTX, HEAD, OBJ, OWN
from levelcap.world.rules.combat import BLAST, BLINK, DASH, HEAL, SHIELD, SNARE, VOLLEY
from levelcap.world.spec import OBJECT_SLOTS

STAND_OFF = 13.5  # from here shots reach a structure and the structure does not reach back
DECISION_S = 0.1
NEAR_EDGE = 4.0


@kernel
def _march(player, objects, context, key, mind, traits, ground):
    """Where to go when nothing else matters: (x, y, urgent)."""
    gx, gy = context[CTX.goal_x] * ground.half, context[CTX.goal_y] * ground.half
    far = sqrt(gx * gx + gy * gy)
    if traits.wander > 0.5:
        mx, my = walk_about(mind, context, ground, traits, key)
        return mx, my, False
    if ground.zone == 1:
        edge = context[CTX.goal_state] * ground.half
        late = NEAR_EDGE if traits.objective > 0.5 else -1.0
        if far > max(edge - late, 1.0):
            mx, my = toward(gx, gy)
            return mx, my, True
        mx, my = walk_about(mind, context, ground, traits, key)
        return mx, my, False
    if ground.crown == 1:
        if far > 7.0:
            mx, my = toward(gx, gy)
        else:
            mx, my = walk_about(mind, context, ground, traits, key)
        return mx, my, False
    return _lane_march(objects, key, mind, traits, ground, gx, gy, far)


@kernel
def _lane_march(objects, key, mind, traits, ground, gx, gy, far):
    """Down the lane; who knows better besieges from where the structure does not reach back."""
    if traits.objective < 0.5:
        if far > 7.0:
            mx, my = toward(gx, gy)
            return mx, my, False
        return 0.0, 0.0, False
    mx, my = toward(gx, gy)
    if far > STAND_OFF + 0.7:
        return mx, my, False
    if far < STAND_OFF - 1.0:
        return -mx, -my, True
    return 0.0, 0.0, False


@kernel
def _target(objects, traits, ground, enemy):
    """(slot, distance) of what to shoot at: an enemy, a creep, a structure; slot -1 when none."""
    if enemy >= 0:
        d = objects[enemy, OBJ.distance] * 50.0
        if d <= traits.fire_range:
            return enemy, d
    if ground.lane == 1:
        k = find_creep(objects, ground)
        if k >= 0 and objects[k, OBJ.distance] * 50.0 <= traits.fire_range:
            return k, objects[k, OBJ.distance] * 50.0
        k = find_structure(objects, ground)
        if k >= 0 and objects[k, OBJ.distance] * 50.0 <= 16.0:
            return k, objects[k, OBJ.distance] * 50.0
    return -1, 0.0


@kernel
def _aim_at(objects, k, d, key, traits):
    """Bins towards where slot k will be, with the bot's error."""
    ahead = traits.lead * (d / SHOT_SPEED + traits.reaction * DECISION_S)
    dx = objects[k, OBJ.dir_x] * d + objects[k, OBJ.vx] * 10.0 * ahead
    dy = objects[k, OBJ.dir_y] * d + objects[k, OBJ.vy] * 10.0 * ahead
    error = noise(key, AIM) * traits.aim_noise
    if objects[k, OBJ.is_structure] > 0.5:  # a structure does not move
        error *= 0.3
    return aim_bins(dx - dy * error, dy + dx * error)


@kernel
def _ability(player, mask, kinds, traits, fighting, fleeing):
    """Which ready ability fits the moment: 0 none, 1-3."""
    if traits.ability < 0.5:
        return 0
    champion = -1
    first, second = -1, -1
    for c in range(8):
        if player[OWN.champion_0 + c] > 0.5:
            if first < 0:
                first = c
            else:
                second = c
    if first < 0:
        return 0
    champion = first + 1
    if second >= 0:  # two-hot: a champion that a patch added
        champion = 9 + (second - first - 1)
        for a in range(first):
            champion += 7 - a
    if champion >= kinds.shape[0]:
        return 0
    for slot in range(3):
        if mask[BIN.ability + 1 + slot] == 0:
            continue
        kind = kinds[champion, slot]
        if fighting and (kind == BLAST or kind == VOLLEY or kind == SNARE):
            return slot + 1
        if traits.ability > 1.5:
            hurt = player[OWN.hp] < 0.6
            if hurt and (kind == HEAL or (kind == SHIELD and fighting)):
                return slot + 1
            if fleeing and (kind == DASH or kind == BLINK):
                return slot + 1
    return 0


@kernel
def _grab(player, objects, mask, traits, ground, enemy):
    """Interact now? For a useful item in reach, or to reload in a quiet moment."""
    if mask[BIN.interact + 1] == 0:
        return 0
    for k in range(ground.rest, OBJECT_SLOTS):
        if objects[k, OBJ.is_loot] > 0.5 and objects[k, OBJ.distance] * 50.0 <= 2.0:
            return 1 if traits.loot > 0.5 else 0
    quiet = enemy < 0 and player[OWN.ammo] < 0.5
    return 1 if ground.zone == 0 and quiet else 0


@kernel
def _move(player, objects, context, key, mind, traits, ground, enemy, target, d):
    """(x, y, intent) of the body: flee, loot, fight or march."""
    mx, my, urgent = _march(player, objects, context, key, mind, traits, ground)
    intent = EXPLORE
    known = find_known(objects, ground)
    lost = traits.group > 0.5 and ground.allies > 0 and outnumbered(objects, ground)
    item = find_item(player, objects, ground, traits) if traits.loot > 0.5 else -1
    # Where the fallen return whole, running away only gives ground.
    flees = ground.zone == 1 and traits.retreat > 0.5
    weak = flees and player[OWN.hp] < traits.courage and known >= 0
    if weak and ground.enemies == 1 and enemy >= 0 and objects[enemy, OBJ.hp] < player[OWN.hp]:
        weak = False  # the other one is worse off: finish it
    if target >= 0 and traits.wander < 0.5:
        intent = FIGHT
        dx, dy = objects[target, OBJ.dir_x] * d, objects[target, OBJ.dir_y] * d
        if target == enemy:
            want = traits.range
            if traits.retreat > 0.5 and player[OWN.hp] < 0.4:
                want += 3.0
            if traits.kite > 0.0:
                kx, ky = keep_range(mind, key, dx, dy, d, want, traits.kite)
                if ground.lane == 0 or not urgent:
                    mx, my = kx, ky
            elif d > traits.range:
                mx, my = toward(dx, dy)
            else:
                mx, my = 0.0, 0.0
            if ground.crown == 1 and traits.objective > 0.5:
                # Fight from inside the crown.
                cx, cy = context[CTX.goal_x] * ground.half, context[CTX.goal_y] * ground.half
                if cx * cx + cy * cy > 36.0:
                    px, py = toward(cx, cy)
                    mx, my = mx + 1.5 * px, my + 1.5 * py
    elif known >= 0 and traits.wander < 0.5 and not urgent:
        intent = CAUTIOUS
        if traits.kite > 0.0 and ground.allies == 0 and player[OWN.hp] > 0.4:
            reach = objects[known, OBJ.distance] * 50.0
            mx, my = toward(objects[known, OBJ.dir_x] * reach, objects[known, OBJ.dir_y] * reach)
    if target >= 0 and traits.wander > 0.5:
        intent = FIGHT
    if item >= 0 and (target < 0 or player[OWN.hp] < 0.6 or player[OWN.ammo] < 0.3):
        reach = objects[item, OBJ.distance] * 50.0
        mx, my = toward(objects[item, OBJ.dir_x] * reach, objects[item, OBJ.dir_y] * reach)
        if target < 0:
            intent = LOOT
    elif weak or lost:
        ax, ay = -objects[known, OBJ.dir_x], -objects[known, OBJ.dir_y]
        if lost and not weak:
            ax, ay = to_allies(objects, ground)
        if ground.lane == 1 and weak:
            ax -= 0.8
        if not urgent:
            mx, my = ax, ay
        intent = FLEE
    if ground.zone == 1 and urgent:
        zx, zy = toward(context[CTX.goal_x], context[CTX.goal_y])
        mx, my = mx * 0.4 + zx, my * 0.4 + zy
    if traits.dodge > 0.0:
        ox, oy = sidestep(objects, ground, key, traits)
        if ox != 0.0 or oy != 0.0:
            mx, my = mx * 0.3 + ox, my * 0.3 + oy
    return mx, my, intent


@kernel
def think(player, objects, context, mask, key, mind, traits, ground, kinds, out):
    """Decide one row into `out` [8]: seven bins and the intent."""
    enemy = find_enemy(objects, ground, ground.allies > 0)
    target, d = _target(objects, traits, ground, enemy)
    mx, my, intent = _move(player, objects, context, key, mind, traits, ground, enemy, target, d)
    mx, my = around_walls(context, mind, key, mx, my)
    longest = max(abs(mx), abs(my))
    if longest > 1.0:
        mx, my = mx / longest, my / longest
    fire, ax, ay = 0, 5, 5
    if target >= 0:
        ax, ay = _aim_at(objects, target, d, key, traits)
        fire = 1
    ability = _ability(player, mask, kinds, traits, target >= 0, intent == FLEE)
    out[HEAD.move_x], out[HEAD.move_y] = int(round(mx * 5.0)) + 5, int(round(my * 5.0)) + 5
    out[HEAD.aim_x], out[HEAD.aim_y] = ax, ay
    out[HEAD.fire], out[HEAD.ability] = fire, ability
    out[HEAD.interact] = _grab(player, objects, mask, traits, ground, enemy)
    out[INTENT] = intent


@kernel
def _forget(mind):
    mind.at = mind.goal_left = mind.side_left = mind.strafe_left = 0
    mind.goal_x = mind.goal_y = mind.side = mind.strafe = 0.0
    for i in range(RING):
        for h in range(8):
            mind.ring[i, h] = 5 if h < 4 else 0
        mind.ring[i, INTENT] = EXPLORE


@entry
def act_rows(player, objects, context, mask, key, reset, alive, minds, traits, ground, kinds, out):
    """Decide for all rows; out [n, 8] int8. A dead player does nothing and forgets nothing."""
    wait = int(traits.reaction)
    for i in range(key.shape[0]):
        mind = minds[i]
        if reset[i]:
            _forget(mind)
        for h in range(8):
            out[i, h] = 5 if h < 4 else 0
        out[i, INTENT] = EXPLORE
        if not alive[i] or traits.active < 0.5:
            continue
        slot = mind.ring[(mind.at + wait) % RING]
        think(player[i], objects[i], context[i], mask[i], key[i], mind, traits, ground, kinds, slot)
        for h in range(8):
            out[i, h] = mind.ring[mind.at, h]
        mind.at = (mind.at + 1) % RING
        # What was decided a while ago may no longer be allowed.
        if mask[i, BIN.fire + 1] == 0:
            out[i, HEAD.fire] = 0
        if out[i, HEAD.ability] > 0 and mask[i, BIN.ability + out[i, HEAD.ability]] == 0:
            out[i, HEAD.ability] = 0
        if mask[i, BIN.interact + 1] == 0:
            out[i, HEAD.interact] = 0
