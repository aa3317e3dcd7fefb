"""Ten orders a hero can be given, each with its own test: does a decision carry it out?

    scene = read_scene(objects, body)
    obeyed = ORDERS["flee"].holds(scene, move, fires)[ORDERS["flee"].applies(scene)]

Shapes: n decisions; a test is asked about one deed a decision, [n, 2] and [n], or about k of them,
[n, k, 2] and [n, k]. An order that makes no sense now (loot, where nothing lies) does not apply,
and such decisions are not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.world.actions import CENTRE
from levelcap.world.rules.columns import BODY_AT, HEAD, OBJ

Bools = NDArray[np.bool_]
Floats = NDArray[Any]
SIGHT, DISTANCE = 10.0, 50.0  # units of the columns goal_x, goal_y, and distance
NEARER = 0.3  # a step with at least this share of full speed in the direction
STILL = 0.3
SHOT = 12.0  # units: shots at something nearer than this count as fight
CARE = 8.0  # units between a careful hero and an enemy
GUARD = 10.0  # units around a tower from which it is defended
COMPANY = 5.0  # units between allies who are together


@dataclass(frozen=True)
class Place:
    """Something an order is about: where it is from the hero."""

    there: Bools  # [n]
    way: Floats  # [n, 2] unit vector
    away: Floats  # [n] units


@dataclass(frozen=True)
class Scene:
    """What the tests look at, of n decisions."""

    enemy: Place
    item: Place
    ally: Place
    tower: Place
    own_tower: Place
    objective: Place


Test = Callable[[Scene, Floats, Bools], Bools]


@dataclass(frozen=True)
class Order:
    """applies: is there what it is about? holds: does a deed (move, fires) carry it out?"""

    name: str
    applies: Callable[[Scene], Bools]
    holds: Test


def read_scene(objects: NDArray[Any], body: NDArray[Any]) -> Scene:
    """The scene of n decisions from their views `objects` [n, S, O] and `body` [n, 64]."""
    enemy, ally = objects[..., OBJ.is_enemy] > 0, objects[..., OBJ.is_ally] > 0
    player, structure = objects[..., OBJ.is_player] > 0, objects[..., OBJ.is_structure] > 0
    goal = SIGHT * body[:, [BODY_AT.goal_x, BODY_AT.goal_y]]
    far = np.hypot(goal[:, 0], goal[:, 1])
    way = goal / np.maximum(far, 1e-6)[:, None]
    return Scene(
        _nearest(objects, player & enemy),
        _nearest(objects, objects[..., OBJ.is_loot] > 0),
        _nearest(objects, player & ally),
        _nearest(objects, structure & enemy),
        _nearest(objects, structure & ally),
        Place(far > 0, way, far),
    )


def read_deed(actions: NDArray[Any]) -> tuple[Floats, Bools]:
    """Move [..., 2] in [-1, 1] and whether it fires [...], of actions in bins [..., heads]."""
    move = (actions[..., [HEAD.move_x, HEAD.move_y]].astype(np.float32) - CENTRE) / CENTRE
    return move, actions[..., HEAD.fire] != 0


def _nearest(objects: NDArray[Any], wanted: Bools) -> Place:
    apart = np.where(wanted, objects[..., OBJ.distance], np.inf)
    slot = apart.argmin(1)
    row = objects[np.arange(len(objects)), slot]
    there: Bools = np.asarray(wanted.any(1))
    away = np.where(there, row[:, OBJ.distance] * DISTANCE, np.inf).astype(np.float32)
    return Place(there, row[:, [OBJ.dir_x, OBJ.dir_y]], away)


def _like(values: NDArray[Any], move: Floats) -> NDArray[Any]:
    """A number a decision, for each of its deeds."""
    return values if move.ndim == 2 else values[:, None]


def _toward(place: Place, move: Floats) -> Floats:
    """Share of full speed in the direction of a place."""
    way = place.way if move.ndim == 2 else place.way[:, None]
    found: Floats = (move * way).sum(-1)
    return found


def _pace(move: Floats) -> Floats:
    found: Floats = np.hypot(move[..., 0], move[..., 1])
    return found


def _fight(s: Scene, move: Floats, fires: Bools) -> Bools:
    return fires & _like(s.enemy.away < SHOT, move) | (_toward(s.enemy, move) > NEARER)


def _careful(s: Scene, move: Floats, fires: Bools) -> Bools:
    closes = _toward(s.enemy, move)
    return (closes < -0.1) | (_like(s.enemy.away > CARE, move) & (closes < NEARER))


def _near_or_toward(place: Place, reach: float, move: Floats) -> Bools:
    return _like(place.away < reach, move) | (_toward(place, move) > NEARER)


_ROWS = (
    Order("fight", lambda s: s.enemy.there, _fight),
    Order("flee", lambda s: s.enemy.there, lambda s, m, f: _toward(s.enemy, m) < -0.2),
    Order("loot", lambda s: s.item.there, lambda s, m, f: _near_or_toward(s.item, 2.0, m)),
    Order("explore", lambda s: np.ones_like(s.item.there), lambda s, m, f: (_pace(m) > 0.5) & ~f),
    Order("be careful", lambda s: s.enemy.there, _careful),
    Order("hold position", lambda s: np.ones_like(s.item.there), lambda s, m, f: _pace(m) < STILL),
    Order(
        "attack the tower",
        lambda s: s.tower.there,
        lambda s, m, f: f & _like(s.tower.away < SHOT, m) | (_toward(s.tower, m) > NEARER),
    ),
    Order(
        "defend the tower",
        lambda s: s.own_tower.there,
        lambda s, m, f: _near_or_toward(s.own_tower, GUARD, m),
    ),
    Order(
        "go for the objective",
        lambda s: s.objective.there,
        lambda s, m, f: _toward(s.objective, m) > NEARER,
    ),
    Order("regroup", lambda s: s.ally.there, lambda s, m, f: _near_or_toward(s.ally, COMPANY, m)),
)
ORDERS: dict[str, Order] = {order.name: order for order in _ROWS}
