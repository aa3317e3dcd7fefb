"""The coach of rules: it reads the recorded state and the teacher's stated intent, no picture.

    folder = label_shard(shard, out)        # a published folder of labels, the shard its parent

Needs no model and gives ground truth: intent is the majority of what the player stated in the
window, target the enemy it aimed at most often, confidence the share of the majority.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.coach.label import TACTICS, Label
from levelcap.coach.windows import majority, windows_of
from levelcap.kit.backend import Backend, Inline
from levelcap.kit.errors import BadValue, refuse
from levelcap.lake.labels import write_labels
from levelcap.lake.shard import Shard
from levelcap.world.actions import CENTRE
from levelcap.world.rules.columns import HEAD, OBJ, OWN
from levelcap.world.spec import INTENTS, OBJECT_SLOTS

# A cursor this far from every object aims at none of them: one and a half bins.
REACH = 0.3
FAR = 0.6  # units of sight: beyond it a fight is fought from afar
FIGHT, LOOT, FLEE, EXPLORE, CAUTIOUS = range(len(INTENTS))
PLAIN = {LOOT: "collect", FLEE: "retreat", EXPLORE: "roam", CAUTIOUS: "hold"}


def aimed_at(
    objects: NDArray[Any], cursor: NDArray[Any], used: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Slot [...] of the enemy nearest to the cursor; -1: none within reach, or nothing aimed.

    objects [..., S, O], cursor [..., 2] in units of sight, used [...].
    """
    enemy = (objects[..., OBJ.is_enemy] > 0) & (objects[..., OBJ.is_shot] == 0)
    apart = np.hypot(
        objects[..., OBJ.dx] - cursor[..., None, 0], objects[..., OBJ.dy] - cursor[..., None, 1]
    )
    apart = np.where(enemy, apart, np.inf)
    slot = apart.argmin(-1)
    near = np.take_along_axis(apart, slot[..., None], -1)[..., 0] <= REACH
    return np.where(used & near, slot, -1).astype(np.int64)


Group = tuple[Path, int, str]  # a shard, one of its groups, the view of the player


def label_shard(shard: Shard, out: Path, backend: Backend | None = None) -> int:
    """Publish labels of every window of a shard; returns how many.

    backend: labels group by group, here or in processes.

    Raises:
        BadValue: the shard keeps neither `body` nor `player`, or no `objects`.
    """
    own = next((name for name in ("body", "player") if name in shard.header.view_names), None)
    if own is None or "objects" not in shard.header.view_names:
        remedy = "Record with --views body --views objects --views summary"
        have = list(shard.header.view_names)
        raise BadValue(refuse("a coach must see the player and its objects", have, remedy))
    units: list[Group] = [(shard.folder, group, own) for group in range(shard.num_groups)]
    rows = [row for found in (backend or Inline()).run(label_group, units) for row in found]
    names = ("episode", "t", "intent", "target", "health", "confidence", "tactic")
    kinds = (np.int32, np.int32, np.int8, np.int8, np.float32, np.float32, np.int8)
    columns = {
        name: np.array([row[i] for row in rows], kind)
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True))
    }
    write_labels(out, shard, columns, made_by="coach rules")
    return len(rows)


def label_group(unit: Group) -> list[tuple[Any, ...]]:
    """The stage: labels of one group of a shard, with the numbers of its episodes."""
    path, group, own = unit
    return [
        (episode, *row)
        for episode, columns in _episodes(Shard(path), group, (own, "objects"))
        for row in _label_episode(columns, own)
    ]


def in_words(intent: int, target: int, health: float, confidence: float, tactic: int) -> Label:
    """A row of labels as an answer that people read."""
    name = INTENTS[intent]
    at = "nobody" if target < 0 else f"the enemy in slot {target}"
    said = f"{name} {confidence:.2f}: {TACTICS[tactic]} at {health:.0f} hp, aiming at {at}"
    return Label(health, TACTICS[tactic], said, name, None if target < 0 else target, confidence)


def _episodes(
    shard: Shard, group: int, views: tuple[str, ...]
) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
    """Number and columns of every episode of a group."""
    first, last = shard.span(group)
    decoded = shard.decode(group, views)
    for episode in range(first, last):
        at = int(shard.first_row[episode] - shard.first_row[first])
        here = slice(at, at + int(shard.length[episode]))
        names = (*views, "actions", "intent")
        yield episode, {name: decoded[name][here] for name in names}


def _label_episode(columns: dict[str, NDArray[Any]], own: str) -> Iterator[tuple[Any, ...]]:
    """(t, intent, target, health, confidence, tactic) of every window that has an intent."""
    actions, objects = columns["actions"].astype(np.int64), columns["objects"]
    used = (actions[:, [HEAD.fire, HEAD.ability]] != 0).any(1)
    cursor = (actions[:, [HEAD.aim_x, HEAD.aim_y]] - CENTRE) / CENTRE
    aimed = aimed_at(objects, cursor, used)
    for window in windows_of(len(actions)):
        here = slice(window.first, window.last + 1)
        intent, share = majority(columns["intent"][here], len(INTENTS))
        if intent < 0:
            continue
        target, _ = majority(aimed[here].astype(np.int8), OBJECT_SLOTS)
        # `body` begins with the columns of `player`.
        health = 100 * float(np.clip(columns[own][window.last, OWN.hp], 0, 1))
        tactic = _tactic(intent, target, objects[window.last])
        yield window.last, intent, target, health, share, TACTICS.index(tactic)


def _tactic(intent: int, target: int, objects: NDArray[Any]) -> str:
    if intent != FIGHT:
        return PLAIN[intent]
    if target >= 0 and objects[target, OBJ.is_structure] > 0:
        return "siege"
    return "poke" if target >= 0 and objects[target, OBJ.distance] > FAR else "brawl"
