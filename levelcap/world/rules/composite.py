"""Views made of other views, `summary` and `body`, and `team` (layouts: `spec.py`).

A pass of their own, after a step has written the other views: who asks for none of them pays
nothing, not even for handing their arrays from kernel to kernel (that cost a duel 4 %).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.compiled import entry, kernel
from levelcap.world.rules.columns import BODY_AT, HEAD, OBJ
from levelcap.world.rules.objects import write_objects
from levelcap.world.rules.observe import pace, scratch, survey, write_context, write_player
from levelcap.world.rules.team import write_team
from levelcap.world.rules.terrain import frame_sign
from levelcap.world.spec import CONTEXT, MOVE_BINS, OBJECT, OBJECT_SLOTS, PLAYER, SUMMARY_OBJECTS

NUM_OWN, NUM_CONTEXT, NUM_OBJECT = len(PLAYER), len(CONTEXT), len(OBJECT)
FRONT = NUM_OWN + NUM_CONTEXT  # both begin with `player` and `context`
CENTRE = MOVE_BINS // 2
NOWHERE = 1e9


class Composites(NamedTuple):
    """The arrays of these views, for all matches; one that was not asked for has no rows."""

    summary: NDArray[np.float32]
    body: NDArray[np.float32]
    team: NDArray[np.float32]


@kernel
def _write_front(player, context, row):
    for i in range(NUM_OWN):
        row[i] = player[i]
    for i in range(NUM_OWN, FRONT):
        row[i] = context[i - NUM_OWN]


@kernel
def _is_used(slot):
    """Is there anything in this slot of `objects`? Everything is of one of four kinds."""
    kinds = slot[OBJ.is_enemy] + slot[OBJ.is_loot] + slot[OBJ.is_ally] + slot[OBJ.is_other]
    return kinds > 0.0


@kernel
def write_summary(player, context, objects, near, row):
    """`summary` into `row` [192], from the same player's other views; near [16]: scratch."""
    _write_front(player, context, row)
    for k in range(OBJECT_SLOTS):
        used = _is_used(objects[k]) and objects[k, OBJ.is_shot] == 0.0
        # The column, not the distance it was rounded from: `objects` alone tells the order.
        near[k] = objects[k, OBJ.distance] if used else NOWHERE
    at = FRONT
    for _ in range(SUMMARY_OBJECTS):
        best, nearest = -1, NOWHERE
        for k in range(OBJECT_SLOTS):
            if near[k] < nearest:
                best, nearest = k, near[k]
        for column in range(NUM_OBJECT):
            row[at + column] = objects[best, column] if best >= 0 else 0.0
        if best >= 0:
            near[best] = NOWHERE
        at += NUM_OBJECT


@kernel
def write_body(g, r, p, player, context, objects, row):
    """`body` into `row` [64], from the same player's other views."""
    _write_front(player, context, row)
    for column in range(NUM_OBJECT):
        row[FRONT + column] = objects[0, column]
    last, held = BODY_AT.last_move_x, g.held[p]
    for head in range(HEAD.fire):  # move and aim
        row[last + head] = (int(held[head]) - CENTRE) / CENTRE
    row[BODY_AT.last_fire], row[BODY_AT.last_interact] = held[HEAD.fire], held[HEAD.interact]
    row[BODY_AT.last_ability] = held[HEAD.ability] / 3.0
    sign = frame_sign(r, p)
    row[BODY_AT.vx], row[BODY_AT.vy] = pace(r, sign * g.vx[p]), pace(r, sign * g.vy[p])
    row[BODY_AT.zero_0] = row[BODY_AT.zero_1] = row[BODY_AT.zero_2] = 0.0


@entry
def compose_matches(state, rules, b, c, first, last):
    """Write these views of matches first..last-1; `b` holds the views of the same moment."""
    found, near, who = scratch(), np.zeros(OBJECT_SLOTS), np.zeros(OBJECT_SLOTS, np.int64)
    own, around = np.zeros(NUM_OWN, np.float32), np.zeros(NUM_CONTEXT, np.float32)
    slots = np.zeros((OBJECT_SLOTS, NUM_OBJECT), np.float32)
    has_player, has_context = b.player.shape[0] > 0, b.context.shape[0] > 0
    has_objects = b.objects.shape[0] > 0
    wants_summary, wants_body = c.summary.shape[0] > 0, c.body.shape[0] > 0
    r = rules[0]
    for m in range(first, last):
        g = state[m]
        for p in range(r.num_players):
            if c.team.shape[0] > 0:
                write_team(g, r, p, c.team[m, p])
            if g.alive[p] == 0:
                if wants_summary:
                    c.summary[m, p, :] = 0.0
                if wants_body:
                    c.body[m, p, :] = 0.0
                continue
            if not (wants_summary or wants_body):
                continue
            player = b.player[m, p] if has_player else own
            context = b.context[m, p] if has_context else around
            objects = b.objects[m, p] if has_objects else slots
            if not has_player:
                write_player(g, r, p, player)
            if not has_context:
                survey(g, r, p, found)
                write_context(g, r, p, found, context)
            if not has_objects:
                write_objects(g, r, p, objects, near, who)
            if wants_summary:
                write_summary(player, context, objects, near, c.summary[m, p])
            if wants_body:
                write_body(g, r, p, player, context, objects, c.body[m, p])
