"""Where each column of a view stands, by name, for kernels: `objects[k, OBJ.hp]`.

Generated from `spec`, so that a column has one place where it is named. The tuples are constants to
the compiler: a name costs nothing at run time.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import Any, NamedTuple

from levelcap.world.spec import (
    BODY,
    CONTEXT,
    FEATURES,
    HEAD_OFFSETS,
    HEADS,
    MEMBER,
    OBJECT,
    OBJECT_CLASSES,
    OBJECT_SLOTS,
    PLAYER,
    STANDING,
)


def _named(kind: str, names: Iterable[str], places: Iterable[int] | None = None) -> Any:
    names = list(names)
    return namedtuple(kind, names)(*(range(len(names)) if places is None else places))  # type: ignore[arg-type]


FEAT = _named("FEAT", FEATURES)
OWN = _named("OWN", PLAYER)
OBJ = _named("OBJ", OBJECT)
CTX = _named("CTX", CONTEXT)
BODY_AT = _named("BODY_AT", BODY)
MATE = _named("MATE", MEMBER)
MATCH = _named("MATCH", STANDING)
HEAD = _named("HEAD", (head.name for head in HEADS))
BIN = _named("BIN", (head.name for head in HEADS), HEAD_OFFSETS)  # where its bins start in the mask

# What `observe.survey` finds out before any view is written.
SURVEY = (
    "enemies",
    "enemy",
    "enemy_dist",
    "threat",
    "items",
    "item",
    "item_dist",
    "loot",
    "allies",
)
FOUND = _named("FOUND", SURVEY)


class Slots(NamedTuple):
    """First slot and number of slots of every class of objects; 0 slots: the ruleset has none."""

    enemy: int
    enemies: int
    ally: int
    allies: int
    structure: int
    structures: int
    item: int
    items: int
    shot: int
    shots: int
    rest: int  # creeps, items and shots mixed, nearest first
    rests: int


def slots_of(ruleset: str) -> Slots:
    """The slots of a ruleset, as `spec.OBJECT_CLASSES` lays them out."""
    places = {name: (first, count) for name, first, count in OBJECT_CLASSES[ruleset]}
    found: list[int] = []
    for name in ("enemy", "ally", "structure", "item", "shot", "rest"):
        found += places.get(name, (OBJECT_SLOTS, 0))
    return Slots(*found)


DUEL, LMS, TEAMS = slots_of("duel"), slots_of("lms"), slots_of("siege")
assert DUEL.enemy == LMS.enemy == TEAMS.enemy == 0, "`body` reads the nearest enemy there"
assert slots_of("crown") == TEAMS, "both team rulesets share their kernels"
