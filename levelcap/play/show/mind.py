"""What heroes have in mind, made small: kept with a replay, and sent beside every state; no torch.

    reader = MindReader(seats)
    kept = reader.read()                          # after every decision: a few bytes a seat
    rows = mind_records(kept, objects, rules, g)  # what of it is drawn, in places of the map

Shapes: P seats, S object slots. What is kept names slots of the hero's own `objects`, as they were
when it decided; a replay computes that view again, so places need not be stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.play.seats import Seats
from levelcap.play.show.frames import GOAL_CHANGED, HAS_PLAN, HAS_TARGET, LOOK, LOOKS, MIND, SPOTS
from levelcap.world.rules.columns import OBJ
from levelcap.world.spec import OBJECT_SLOTS

Kept = dict[str, NDArray[Any]]
UNKNOWN = 255  # confidence of a player without a plan, odds of one without a net
# A goal that turns by more than this (1 - cosine) within a second is another goal: a change of
# mode turns it by .7 to 1.3, a second in the same mode by less than .15 (imitated duel hero).
TURN = 0.3
FAINT = 0.04  # attention below it is not drawn
ENEMY, MEMORY, ALLY, TOWER, OWN_TOWER, CREEP, HEALTH, AMMO, SHOT = range(1, len(SPOTS))
DISTANCE = 50.0  # units of the column `distance`
CLOSE = 10.0  # allies this near count as company: the range of sight


class MindReader:
    """The minds of the one match at a table, after each decision."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats
        self._goal: NDArray[np.float32] | None = None

    def read(self) -> Kept:
        """Arrays [P, ...] to keep, empty where nobody shows a mind."""
        minds = {name: rows[0] for name, rows in self._seats.minds.items()}
        if not minds:
            return {}
        players = len(next(iter(minds.values())))
        nothing = np.full(players, np.nan, np.float32)
        slots = minds.get("attention", np.zeros((players, OBJECT_SLOTS + 1), np.float32))
        approach = minds.get("approach", np.zeros((players, 4), np.float32))
        target = minds.get("target", nothing)
        return {
            "confidence": _share(minds.get("confidence", nothing), UNKNOWN - 1, UNKNOWN),
            "odds": _share(minds.get("aim_odds", nothing), UNKNOWN - 1, UNKNOWN),
            "changed": self._changed(minds.get("goal")),
            "target": np.where(np.isnan(target), OBJECT_SLOTS, target).astype(np.uint8),
            "attention": _share(slots, 255, 0),
            "approach": np.rint(100 * np.clip(np.nan_to_num(approach), -1, 1)).astype(np.int8),
        }

    def _changed(self, goal: NDArray[np.float32] | None) -> NDArray[np.uint8]:
        """1 where a seat's goal is another one than at the decision before."""
        if goal is None:
            return np.zeros(self._seats.intents.shape[1], np.uint8)
        before, self._goal = self._goal, goal.copy()
        if before is None:
            return np.zeros(len(goal), np.uint8)
        lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(goal, axis=1)
        turn = 1 - (before * goal).sum(1) / np.maximum(lengths, 1e-9)
        return (turn > TURN).astype(np.uint8)  # NaN, of players without a goal, is not


def mind_records(kept: Mapping[str, NDArray[Any]], objects: Any, rules: Any, g: Any) -> Any:
    """`MIND` rows of the living seats that have one.

    objects [P, S, O] and g, the record of the match: at the moment of the decision. Replays from
    before minds were kept have nothing but intents and values: no rows.
    """
    if "attention" not in kept or "confidence" not in kept:
        return np.zeros(0, MIND)
    known = (kept["confidence"] != UNKNOWN) | (kept["odds"] != UNKNOWN)
    there = np.flatnonzero(known & (g["alive"][: rules.num_players] == 1))
    out = np.zeros(len(there), MIND)
    kinds = spots(objects)  # of all seats at once: this is done at every decision of a live match
    for row, seat in zip(out, there.tolist(), strict=True):
        turned = rules.num_teams == 2 and seat >= rules.team_size
        sign = -1.0 if turned else 1.0
        seen = objects[seat]
        planned = kept["confidence"][seat] != UNKNOWN
        row["seat"], row["confidence"] = seat, kept["confidence"][seat]
        row["odds"], row["order"] = kept["odds"][seat], kept.get("order", {seat: 0})[seat]
        row["flags"] = HAS_PLAN * planned | GOAL_CHANGED * int(kept["changed"][seat])
        _count(row, seen, kinds[seat])
        if planned:
            place = np.array([g["x"][seat], g["y"][seat]])
            target = int(kept["target"][seat])
            row["flags"] |= HAS_TARGET * (target < OBJECT_SLOTS)
            row["looks"] = _looks(seen, kinds[seat], kept["attention"][seat], target, place, sign)
            row["approach"] = kept["approach"][seat] * np.array([sign, sign, 1, 1])
    return out


def spots(seen: NDArray[Any]) -> NDArray[np.int64]:
    """What each slot [..., S] of views of objects holds: a number of `SPOTS`."""
    player = seen[..., OBJ.is_player] > 0
    enemy, ally = seen[..., OBJ.is_enemy] > 0, seen[..., OBJ.is_ally] > 0
    structure, loot = seen[..., OBJ.is_structure] > 0, seen[..., OBJ.is_loot] > 0
    cases = (
        (player & enemy & (seen[..., OBJ.visible] > 0), ENEMY),
        (player & enemy, MEMORY),
        (player & ally, ALLY),
        (structure & enemy, TOWER),
        (structure, OWN_TOWER),
        (seen[..., OBJ.is_creep] > 0, CREEP),
        (loot & (seen[..., OBJ.detail] > 0), HEALTH),
        (loot, AMMO),
        (seen[..., OBJ.is_shot] > 0, SHOT),
    )
    return np.select([case for case, _ in cases], [kind for _, kind in cases], 0)


def _count(row: Any, seen: NDArray[Any], kinds: NDArray[np.int64]) -> None:
    """How many of each are in view."""
    row["enemies"], row["hidden"] = (kinds == ENEMY).sum(), (kinds == MEMORY).sum()
    near = seen[:, OBJ.distance] * DISTANCE <= CLOSE
    row["allies"] = ((kinds == ALLY) & near).sum()
    row["loot"] = ((kinds == HEALTH) | (kinds == AMMO)).sum()


def _looks(
    seen: NDArray[Any],
    kinds: NDArray[np.int64],
    attention: NDArray[Any],
    target: int,
    place: NDArray[Any],
    sign: float,
) -> NDArray[Any]:
    """What is looked at most, the target first."""
    out = np.zeros(LOOKS, LOOK)
    weights = attention[:OBJECT_SLOTS].astype(np.int64)
    order = [slot for slot in np.argsort(-weights, kind="stable") if weights[slot] > 255 * FAINT]
    if target < OBJECT_SLOTS:
        order = [target, *(slot for slot in order if slot != target)]
    for look, slot in zip(out, order[:LOOKS], strict=False):
        away = seen[slot, [OBJ.dir_x, OBJ.dir_y]] * seen[slot, OBJ.distance] * DISTANCE
        look["x"], look["y"] = np.rint(100 * (place + sign * away))
        look["weight"], look["kind"] = weights[slot], kinds[slot]
    return out


def _share(values: NDArray[Any], scale: int, unknown: int) -> NDArray[np.uint8]:
    """Numbers in [0, 1] as whole ones up to `scale`."""
    scaled = np.rint(scale * np.clip(np.nan_to_num(values), 0, 1))
    return np.where(np.isnan(values), unknown, scaled).astype(np.uint8)
