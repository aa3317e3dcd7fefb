"""Tick trajectories: `data/processed/{episode}_{player}.jsonl.gz`, a line a tick.

    {tick_id, observation{self_state{position, velocity, hp, cooldowns, ammo},
     zone_state{position, radius, is_safe}, visible_entities[{id, position, type, hp}],
     visible_items[…]}, action{move_x, …, aim_y, fire, ability_id|null, interact}, reward, done}

Numbers are those of the game: positions and radius in units, velocity in units a second, hp of
100, ammo of 30; they are scaled as `features` of the world are. The nearest entity that is no ally
is the enemy. The usual distance of two ticks is the stride; where it is another, something is
missing, and a new trajectory begins.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from levelcap.lake.importers.lines import Flag, Number, Pair, Record, checked, json_lines
from levelcap.lake.importers.protocol import Options, Rows, Unit, files_below, relative
from levelcap.lake.importers.report import ImportReport
from levelcap.lake.records import TrajectorySequence
from levelcap.world.actions import Action, encode
from levelcap.world.rules.patches import load_patch
from levelcap.world.spec import split_world

_NAME = re.compile(r"(?P<episode>.+)_(?P<player>[^_]+)\.jsonl\.gz")
ALLIES = ("ally", "teammate", "self")
ABILITIES = {None: 0, 0: 0, 1: 1, 2: 2, 3: 3, "Q": 1, "E": 2, "R": 3}
# What one reads of these numbers in `features`.
HP, AMMO, SPEED, SIGHT, ENTITIES, ITEMS = 100.0, 30.0, 5.0, 10.0, 10.0, 5.0

Axis = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]


class SelfState(Record):
    """The player's own body."""

    position: Pair
    velocity: Pair
    hp: Number
    cooldowns: list[Number] | dict[str, Number]
    ammo: Number


class ZoneState(Record):
    """The safe zone."""

    position: Pair
    radius: Number
    is_safe: Flag


class Thing(Record):
    """Something in sight; an item has no hp."""

    id: int | str
    position: Pair
    type: str | int
    hp: Number | None = None


class Observation(Record):
    """What the player saw."""

    self_state: SelfState
    zone_state: ZoneState
    visible_entities: list[Thing]
    visible_items: list[Thing]


class TickAction(Record):
    """What the player did."""

    move_x: Axis
    move_y: Axis
    aim_x: Axis
    aim_y: Axis
    fire: Flag
    ability_id: Literal[None, 0, 1, 2, 3, "Q", "E", "R"]
    interact: Flag

    def bins(self) -> list[int]:
        """The heads' indices."""
        aims = (self.move_x, self.move_y, self.aim_x, self.aim_y)
        ability = ABILITIES[self.ability_id]
        found: list[int] = encode(Action(*aims, self.fire, ability, self.interact)).tolist()
        return found


class Tick(Record):
    """One line."""

    tick_id: Annotated[int, Field(ge=0, le=1 << 53)]
    observation: Observation
    action: TickAction
    reward: Number
    done: Flag

    def extras(self) -> dict[str, Any]:
        """Unknown fields, those inside named by where they stood."""
        seen = self.observation
        parts: dict[str, Record] = {"": self, "observation.": seen, "action.": self.action}
        parts |= {"self_state.": seen.self_state, "zone_state.": seen.zone_state}
        return {f"{a}{n}": v for a, part in parts.items() for n, v in part.unknown.items()}


def features(seen: Observation, half: float) -> tuple[list[float], int]:
    """The 19 numbers (`world.spec.FEATURES`), and how many things in sight they leave out."""
    me, zone = seen.self_state, seen.zone_state
    enemies = [e for e in seen.visible_entities if str(e.type).lower() not in ALLIES]
    enemy_x, enemy_y, enemy_dist, enemy = _nearest(me.position, enemies)
    item_x, item_y, item_dist, item = _nearest(me.position, seen.visible_items)
    enemy_hp = (enemy.hp or 0.0) / HP if enemy else 0.0
    numbers = [
        *(me.position[0] / half, me.position[1] / half),
        *(_pace(me.velocity[0]), _pace(me.velocity[1]), me.hp / HP, me.ammo / AMMO),
        *(zone.position[0] / half, zone.position[1] / half, zone.radius / half),
        *(float(zone.is_safe), enemy_x, enemy_y, enemy_hp, item_x, item_y),
        *(len(seen.visible_entities) / ENTITIES, len(seen.visible_items) / ITEMS),
        *(enemy_dist, item_dist),
    ]
    all_seen = len(seen.visible_entities) + len(seen.visible_items)
    return numbers, all_seen - (enemy is not None) - (item is not None)


def _pace(speed: float) -> float:
    return min(2.0, max(-2.0, speed / SPEED))  # as the world shows it: a dash is faster


def _nearest(
    me: tuple[float, float], things: list[Thing]
) -> tuple[float, float, float, Thing | None]:
    """Offset and distance in units of sight; zeros where there is nothing."""
    if not things:
        return 0.0, 0.0, 0.0, None
    thing = min(things, key=lambda t: math.dist(t.position, me))
    dx, dy = thing.position[0] - me[0], thing.position[1] - me[1]
    return dx / SIGHT, dy / SIGHT, math.hypot(dx, dy) / SIGHT, thing


class Step(NamedTuple):
    """What is kept of a line: a tenth of the memory of all it says."""

    line: int
    number: int
    features: list[float]
    bins: list[int]
    reward: float
    done: bool
    extras: dict[str, Any]


class TickImporter:
    """See `protocol.Importer`."""

    name = "ticks"
    looks_for = "{episode}_{player}.jsonl.gz (tick trajectories)"
    source = "imported ticks"

    def world(self, options: Options) -> str:
        """The one whose scales the positions have."""
        return options.world

    def find(self, root: Path) -> list[Unit]:
        """A unit a file."""
        found = ((path, _NAME.fullmatch(path.name)) for path in files_below(root, "*.jsonl.gz"))
        return [Unit((path,), m["player"], m["episode"]) for path, m in found if m]

    def read(
        self, root: Path, units: Sequence[Unit], options: Options, report: ImportReport
    ) -> Iterator[tuple[Unit, TrajectorySequence]]:
        """File by file."""
        for unit in units:
            for sequence in self._pieces(root, unit, options, report):
                yield unit, sequence

    def _pieces(
        self, root: Path, unit: Unit, options: Options, report: ImportReport
    ) -> Iterator[TrajectorySequence]:
        """Pieces between gaps, refused lines and ends."""
        ticks = list(self._ticks(root, unit, options, report))
        jumps = Counter(b.number - a.number for a, b in pairwise(ticks) if not a.done)
        stride = jumps.most_common(1)[0][0] if jumps else 1
        rows, first = Rows(), 0
        for place, tick in enumerate(ticks):
            if len(rows) and tick.number - ticks[place - 1].number != stride:
                report.derived["trajectories cut at a gap"] += 1
                yield rows.sequence(report, False, {"first_line": first})
                rows = Rows()
            first = first if len(rows) else tick.line
            rows.add(tick.features, tick.bins, tick.reward, tick.extras)
            if tick.done:
                won = (tick.reward > 0) - (tick.reward < 0)
                report.derived["outcomes by the sign of the last reward"] += 1
                yield rows.sequence(report, True, {"first_line": first, "terminal_outcome": won})
                rows = Rows()
        if len(rows):
            report.derived["trajectories without an end"] += 1
            yield rows.sequence(report, False, {"first_line": first})

    def _ticks(
        self, root: Path, unit: Unit, options: Options, report: ImportReport
    ) -> Iterator[Step]:
        """Every line that is a tick and comes after the one before."""
        half = load_patch("1.0")["rulesets"][split_world(options.world)[0]]["side"] / 2
        name, last = relative(unit.files[0], root), -1
        for line, value in json_lines(unit.files[0], name, report):
            tick = checked(Tick, value, report, name, line)
            if tick is None:
                continue
            if tick.tick_id <= last:
                why = f"tick_id: {tick.tick_id} does not come after {last}"
                report.reject(name, line, why, value)
                continue
            numbers, left_out = features(tick.observation, half)
            report.lost["things in sight beyond the nearest"] += left_out
            report.lost["cooldowns"] += bool(tick.observation.self_state.cooldowns)
            bins, extras = tick.action.bins(), tick.extras()
            report.used += 1
            yield Step(line, tick.tick_id, numbers, bins, tick.reward, tick.done, extras)
            last = -1 if tick.done else tick.tick_id


FORMAT = TickImporter()
