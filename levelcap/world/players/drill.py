"""What a player does who has been told what to want: the five intents as exercises.

A scripted bot wants one thing in one situation, so who copies it need not listen to what it wants.
A drill says for the same situation what would be done with another intent: run although one could
fight, go for the item although an enemy is near. Rated bots never act like this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.world.actions import CENTRE
from levelcap.world.players.brain import CAUTIOUS, EXPLORE, FIGHT, FLEE, LOOT
from levelcap.world.protocols import Views
from levelcap.world.rules.columns import BIN, CTX, HEAD, OBJ
from levelcap.world.spec import OBJECT_SLOTS

UNITS = 50.0  # of `distance`
CLOSE = 7.5  # units: the range a master keeps in a fight
WARY = 15.0  # units: just beyond the range at which a master opens fire
REACH = 2.0  # units: from here an item can be taken
THERE = 0.15  # of half the map: this near the objective one walks about as the teacher does
HOMEWARD = 0.6  # share of a flight that leads home, or into the zone
NONE = OBJECT_SLOTS  # the target of who looks at nothing


def drilled(
    views: Views, told: NDArray[np.int16], intents: NDArray[Any], ruleset: str
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Bins [n, 7] and target slots [n] of players with these intents [n].

    told [n, 7]: what the teacher does of itself; it stands wherever an intent says nothing, e.g.
    where there is no item to take or nobody to run from.
    """
    objects, context = views["objects"], views["context"]
    actions = told.copy()
    targets = np.full(len(told), -1, np.int16)  # unknown
    far = objects[..., OBJ.distance] * UNITS
    foe = (objects[..., OBJ.is_enemy] > 0) & (objects[..., OBJ.is_player] > 0)
    near, known = _nearest(far, foe & (objects[..., OBJ.age] < 1))
    at = np.arange(len(told))
    to_foe, foe_far = objects[at, near][:, [OBJ.dir_x, OBJ.dir_y]], far[at, near]
    goal = _unit(context[:, [CTX.goal_x, CTX.goal_y]])

    fights = (intents == FIGHT) & known
    _walk(actions, fights & (foe_far > CLOSE), to_foe)
    targets[fights] = near[fights]

    item, lies = _nearest(far, objects[..., OBJ.is_loot] > 0)
    loots = (intents == LOOT) & lies
    _walk(actions, loots, objects[at, item][:, [OBJ.dir_x, OBJ.dir_y]])
    takes = loots & (far[at, item] <= REACH) & (views["mask"][:, BIN.interact + 1] > 0)
    actions[takes, HEAD.interact] = 1
    targets[loots] = item[loots]

    flees = (intents == FLEE) & known
    # Where the fallen return home is behind; where a zone closes, life is inside.
    home = -goal if ruleset == "siege" else goal
    _walk(actions, flees, HOMEWARD * home - to_foe)
    targets[flees] = near[flees]

    explores = intents == EXPLORE
    distance = np.hypot(context[:, CTX.goal_x], context[:, CTX.goal_y])
    _walk(actions, explores & (distance > THERE), goal)
    structure, stands = _nearest(far, _sieged(objects))
    targets[explores] = np.where(stands, structure, NONE)[explores]
    _hold_fire(actions, loots | flees | explores)

    waits = (intents == CAUTIOUS) & known
    _walk(actions, waits, np.where((foe_far < WARY)[:, None], -to_foe, 0.0))
    targets[waits] = near[waits]
    return actions, targets


def _sieged(objects: NDArray[Any]) -> NDArray[np.bool_]:
    """Structures that are to fall."""
    enemy = (objects[..., OBJ.is_structure] > 0) & (objects[..., OBJ.is_enemy] > 0)
    found: NDArray[np.bool_] = enemy & (objects[..., OBJ.detail] > 0)
    return found


def _nearest(
    far: NDArray[Any], which: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Slot [n] of the nearest of `which` [n, S], and whether there is one."""
    return np.where(which, far, np.inf).argmin(1), np.asarray(which.any(1))


def _walk(actions: NDArray[np.int16], rows: NDArray[np.bool_], way: NDArray[Any]) -> None:
    """Full speed in this direction [n, 2]; no direction: stand."""
    longest = np.maximum(np.abs(way).max(1, keepdims=True), 1e-9)
    bins = np.rint(way / longest * CENTRE).astype(np.int16) + CENTRE
    actions[rows, HEAD.move_x : HEAD.move_y + 1] = bins[rows]


def _hold_fire(actions: NDArray[np.int16], rows: NDArray[np.bool_]) -> None:
    actions[rows, HEAD.aim_x : HEAD.aim_y + 1] = CENTRE
    actions[rows, HEAD.fire] = actions[rows, HEAD.ability] = 0


def _unit(way: NDArray[Any]) -> NDArray[Any]:
    """Directions [n, 2] of length 1; none stays none."""
    return way / np.maximum(np.hypot(way[:, :1], way[:, 1:]), 1e-9)
