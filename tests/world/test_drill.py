"""Drills: what a player does who has been told what to want."""

import numpy as np
import pytest

from levelcap.world.actions import CENTRE
from levelcap.world.players.brain import CAUTIOUS, EXPLORE, FIGHT, FLEE, LOOT
from levelcap.world.players.drill import NONE, drilled
from levelcap.world.rules.columns import BIN, CTX, HEAD, OBJ
from levelcap.world.spec import MASK_SIZE

TEACHER = [5, 5, 8, 2, 1, 2, 0]  # stands, aims, fires, uses its second ability


def scene(*things, goal=(0.5, 0.0)):
    """One player's views: things are (slot, dx, dy, columns set to 1)."""
    objects = np.zeros((1, 16, len(OBJ)), np.float32)
    for slot, x, y, *marks in things:
        row, far = objects[0, slot], np.hypot(x, y)
        row[OBJ.dx], row[OBJ.dy], row[OBJ.distance] = x / 20, y / 20, far / 50
        row[OBJ.dir_x], row[OBJ.dir_y] = x / far, y / far
        for mark in marks:
            row[getattr(OBJ, mark)] = 1
    context = np.zeros((1, len(CTX)), np.float32)
    context[0, [CTX.goal_x, CTX.goal_y]] = goal
    mask = np.ones((1, MASK_SIZE), np.uint8)
    return {"objects": objects, "context": context, "mask": mask}


def act(views, intent, ruleset="siege"):
    actions, targets = drilled(
        views, np.array([TEACHER], np.int16), np.array([intent], np.int16), ruleset
    )
    return actions[0].tolist(), int(targets[0])


ENEMY = (1, 10.0, 0.0, "is_enemy", "is_player", "visible")
ITEM = (12, 0.0, -4.0, "is_loot")
TOWER = (9, 0.0, 20.0, "is_structure", "is_enemy", "detail")


def test_each_intent_has_its_own_way_and_target():
    views = scene(ENEMY, ITEM, TOWER)
    assert act(views, FIGHT) == ([10, 5, *TEACHER[2:]], 1)  # towards it, and the teacher's fire
    quiet = [5, 5, 0, 0]
    assert act(views, LOOT) == ([5, 0, *quiet, 0], 12)
    assert act(views, FLEE) == ([0, 5, *quiet, 0], 1)
    assert act(views, EXPLORE) == ([10, 5, *quiet, 0], 9)
    assert act(views, CAUTIOUS) == ([0, 5, *TEACHER[2:]], 1)  # back, still shooting


def test_flight_leads_home_in_siege_and_into_the_zone_elsewhere():
    views = scene((0, 0.0, 10.0, "is_enemy", "is_player"))
    assert act(views, FLEE)[0][: HEAD.move_y + 1] == [2, 0]
    assert act(views, FLEE, "lms")[0][: HEAD.move_y + 1] == [8, 0]


def test_an_item_in_reach_is_taken_where_that_is_allowed():
    views = scene((12, 1.5, 0.0, "is_loot"))
    assert act(views, LOOT)[0][HEAD.interact] == 1
    views["mask"][0, BIN.interact + 1] = 0
    assert act(views, LOOT)[0][HEAD.interact] == 0


@pytest.mark.parametrize("intent", [FIGHT, LOOT, FLEE, CAUTIOUS])
def test_where_an_intent_says_nothing_the_teacher_stands(intent):
    assert act(scene(), intent) == (TEACHER, -1)


def test_who_explores_where_nothing_is_to_fall_looks_at_nobody():
    actions, target = act(scene(ENEMY, goal=(0.0, 0.1)), EXPLORE)
    assert target == NONE and actions[:2] == [CENTRE, CENTRE]  # there: as the teacher walks
    forgotten = scene(ENEMY)
    forgotten["objects"][0, 1, OBJ.age] = 1
    assert act(forgotten, FLEE) == (TEACHER, -1)
