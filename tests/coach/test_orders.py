"""Orders: each test says yes to what carries the order out, and no to its opposite."""

import numpy as np
import pytest

from levelcap.coach.orders import ORDERS, read_deed, read_scene
from levelcap.world.rules.columns import BODY_AT, OBJ
from levelcap.world.spec import BODY, OBJECT, OBJECT_SLOTS

RIGHT, LEFT, STAY = (1.0, 0.0), (-1.0, 0.0), (0.0, 0.0)


def scene(*names, away=20.0, goal=0.0):
    """One object to the right, this far away, marked with these columns."""
    objects = np.zeros((1, OBJECT_SLOTS, len(OBJECT)), np.float32)
    for name in names:
        objects[0, 3, getattr(OBJ, name)] = 1
    objects[0, 3, [OBJ.dir_x, OBJ.distance]] = 1, away / 50
    body = np.zeros((1, len(BODY)), np.float32)
    body[0, BODY_AT.goal_x] = goal / 10
    return read_scene(objects, body)


ENEMY, TOWER, OWN = (
    ("is_player", "is_enemy"),
    ("is_structure", "is_enemy"),
    ("is_structure", "is_ally"),
)
CASES = [
    ("fight", scene(*ENEMY), (RIGHT, False), (LEFT, False)),
    ("fight", scene(*ENEMY, away=6), (LEFT, True), (LEFT, False)),
    ("flee", scene(*ENEMY), (LEFT, False), (STAY, False)),
    ("loot", scene("is_loot"), (RIGHT, False), (STAY, False)),
    ("explore", scene(), (RIGHT, False), (RIGHT, True)),
    ("be careful", scene(*ENEMY, away=9), (STAY, False), (RIGHT, False)),
    ("be careful", scene(*ENEMY, away=4), (LEFT, False), (STAY, True)),
    ("hold position", scene(), (STAY, True), (RIGHT, False)),
    ("attack the tower", scene(*TOWER), (RIGHT, False), (LEFT, True)),
    ("attack the tower", scene(*TOWER, away=8), (STAY, True), (STAY, False)),
    ("defend the tower", scene(*OWN), (RIGHT, False), (LEFT, False)),
    ("defend the tower", scene(*OWN, away=5), (LEFT, False), None),
    ("go for the objective", scene(goal=15.0), (RIGHT, False), (LEFT, False)),
    ("regroup", scene("is_player", "is_ally"), (RIGHT, False), (LEFT, False)),
]


@pytest.mark.parametrize(("name", "seen", "yes", "no"), CASES)
def test_an_order_knows_what_carries_it_out(name, seen, yes, no):
    order = ORDERS[name]
    assert order.applies(seen).tolist() == [True]
    for deed, right in ((yes, True), (no, False)):
        if deed is not None:
            move, fires = np.array([deed[0]], np.float32), np.array([deed[1]])
            assert order.holds(seen, move, fires).tolist() == [right], deed
            # Many deeds of one decision at once give the same.
            many = order.holds(seen, np.stack([move, move], 1), np.stack([fires, fires], 1))
            assert many.tolist() == [[right, right]]


def test_there_are_ten_and_most_do_not_apply_to_an_empty_scene():
    assert len(ORDERS) == 10
    applies = [name for name, order in ORDERS.items() if order.applies(scene()).all()]
    assert applies == ["explore", "hold position"]


def test_deeds_are_read_from_bins():
    move, fires = read_deed(np.array([[10, 0, 5, 5, 1, 0, 0], [5, 5, 9, 9, 0, 0, 0]]))
    assert move.tolist() == [[1, -1], [0, 0]] and fires.tolist() == [True, False]
