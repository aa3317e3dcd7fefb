"""One ruleset of one patch as a flat tuple of numbers and arrays that kernels can read.

hp, damage and score are integers in thousandths: sums of integers do not depend on their order,
which is what makes a mirrored match end mirrored bit for bit. Times are in ticks.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.world.rules.patch_checks import EFFECTS, ITEM_KINDS
from levelcap.world.spec import RULESETS, TICK_HZ, arena_spec

MILLI = 1000


class Rules(NamedTuple):
    """Numbers of one ruleset; booleans are 0 or 1. See `build_rules` for where each comes from."""

    tick_hz: int
    think_ticks: int  # creeps and structures look for a target this often
    dash_ticks: int
    early_ticks: int  # a death this soon after a respawn is counted apart
    remember_ticks: int  # how long an enemy out of sight is known
    age_ticks: float  # an age that reads 1
    own_pace: float  # a player's velocity in views: 5 u/s reads 1
    object_pace: float  # an object's: 10 u/s reads 1
    num_players: int
    num_teams: int
    team_size: int
    half: float
    time_limit: int
    has_zone: int
    has_lane: int
    has_crown: int
    respawns: int
    spawn_radius: float
    sight: float
    shield_max: int
    reload_ticks: int
    respawn_ticks: int
    respawn_per_min: int
    invulnerable_ticks: int
    shot_speed: float
    shot_life: int
    hit_radius: float
    max_live: int
    zone_start: float
    zone_close: int
    zone_damage: float
    zone_growth: float
    item_health: int
    item_ammo: int
    item_every: int
    item_most: int
    item_reach: float
    num_kinds: int
    num_champions: int
    num_walls: int
    item_kinds: NDArray[np.int64]
    tower_hp: NDArray[np.int64]
    tower_x: NDArray[np.float64]
    tower_y: NDArray[np.float64]
    tower_reach: float
    tower_damage: float
    tower_ramp: float
    tower_radius: float
    lone_factor: float
    decay_from: int
    decay: float
    creep_hp: int
    creep_speed: float
    creep_damage: int
    creep_structure_damage: int
    creep_reach: float
    creep_sight: float
    creep_radius: float
    creep_wave: int
    creep_every: int
    creep_most: int
    creep_boost: float
    crown_radius: float
    crown_points: int
    crown_goal: int
    crown_heal: int
    base_x: NDArray[np.float64]
    base_y: NDArray[np.float64]
    champ_hp: NDArray[np.int64]
    champ_speed: NDArray[np.float64]
    champ_damage: NDArray[np.int64]
    champ_ammo: NDArray[np.int64]
    champ_cooldown: NDArray[np.int64]
    ability_kind: NDArray[np.int64]
    ability_power: NDArray[np.float64]
    ability_range: NDArray[np.float64]
    ability_cooldown: NDArray[np.int64]
    wall_x: NDArray[np.float64]
    wall_y: NDArray[np.float64]
    wall_w: NDArray[np.float64]
    wall_h: NDArray[np.float64]
    solid: NDArray[np.uint8]
    walk: NDArray[np.uint8]
    pseudo: NDArray[np.float64]


# Arrays are padded to these sizes in the record, so that all rulesets share compiled code.
_ROOM = {
    "item_kinds": (2,), "base_x": (10,), "base_y": (10,), "wall_x": (64,), "wall_y": (64,),
    "wall_w": (64,), "wall_h": (64,), "solid": (128, 128), "walk": (256, 256),
    "champ_hp": (33,), "champ_speed": (33,), "champ_damage": (33,), "champ_ammo": (33,),
    "champ_cooldown": (33,), "ability_kind": (33, 3), "ability_power": (33, 3),
    "ability_range": (33, 3), "ability_cooldown": (33, 3), "seat_ticks": (10,), "lineup": (10,),
}  # fmt: skip


def record(values: Any) -> NDArray[Any]:
    """A named tuple as an array of one record, which kernels take by reference."""
    fields, cells = [], {}
    for name, value in zip(values._fields, values, strict=True):
        array = np.asarray(value)
        room = _ROOM.get(name, array.shape)
        if any(have > most for have, most in zip(array.shape, room, strict=True)):
            raise BadValue(refuse(f"too many {name}", array.shape, f"Give at most {room}"))
        kind = {"f": "f8", "i": "i8", "u": "u1" if array.dtype == np.uint8 else "u8"}
        fields.append((name, kind[array.dtype.kind], room))
        cells[name] = array
    packed = np.zeros(1, np.dtype(fields, align=True))
    for name, array in cells.items():
        packed[name][(0, *(slice(0, n) for n in array.shape))] = array
    return packed


def _walls(rows: list[list[float]]) -> NDArray[np.float64]:
    """Rows [left, bottom, width, height] -> [2n, 4] centre x, y, half width, half height."""
    whole = []
    for left, bottom, width, height in rows:
        x, y = left + width / 2, bottom + height / 2
        whole.append((x, y, width / 2, height / 2))
        whole.append((-x, -y, width / 2, height / 2))
    return np.array(whole, dtype=np.float64).reshape(-1, 4)


def _grid(walls: NDArray[np.float64], half: float, step: float, grow: float) -> NDArray[np.uint8]:
    """Cells of size `step` whose centre lies in a wall grown by `grow`."""
    count = round(2 * half / step)
    centre = (np.arange(count) + 0.5) * step - half
    y, x = np.meshgrid(centre, centre, indexing="ij")
    grid = np.zeros((count, count), dtype=np.uint8)
    for wx, wy, ww, wh in walls:
        grid |= ((np.abs(x - wx) < ww + grow) & (np.abs(y - wy) < wh + grow)).astype(np.uint8)
    return grid


def _bases(ruleset: str, table: dict[str, Any], team_size: int) -> NDArray[np.float64]:
    """[players, 2] where each seat starts; duel draws its spots by seed."""
    if ruleset == "duel":
        return np.zeros((2, 2))
    if ruleset == "lms":
        # Rounded literals: cos and sin may differ in the last bit between machines.
        turns = [2 * math.pi * i / 10 for i in range(10)]
        circle = [[round(math.cos(a), 6), round(math.sin(a), 6)] for a in turns]
        return np.array(circle) * table["spawn_radius"]
    x, y = table["base"]
    mine = [[x, y + 2.0 * (seat - 2)] for seat in range(team_size)]
    return np.array(mine + [[-a, -b] for a, b in mine], dtype=np.float64)


def _rates(tick_hz: int) -> dict[str, Any]:
    """What follows from the tick rate alone."""
    return {
        "tick_hz": tick_hz,
        "think_ticks": tick_hz // 10,
        "dash_ticks": tick_hz // 5,
        "early_ticks": 3 * tick_hz,
        "remember_ticks": 10 * tick_hz,
        "age_ticks": 5.0 * tick_hz,
        "own_pace": tick_hz / 5.0,
        "object_pace": tick_hz / 10.0,
    }


def build_rules(patch: dict[str, Any], ruleset: str, tick_hz: int = TICK_HZ) -> Rules:
    """The rules of `ruleset` under `patch` (a checked dictionary from `load_patch`).

    Everything a patch says is in seconds; here it becomes ticks, so that a match at another rate
    takes as long and hurts as much.
    """
    if ruleset not in RULESETS:
        raise unknown_name("ruleset", ruleset, RULESETS)
    dt = 1.0 / tick_hz

    def ticks(seconds: float) -> int:
        return round(seconds * tick_hz)

    spec = arena_spec(ruleset)
    table, player, shot = patch["rulesets"][ruleset], patch["player"], patch["shot"]
    zone, items, tower, creep = patch["zone"], patch["items"], patch["tower"], patch["creep"]
    half = table["side"] / 2
    time_limit = ticks(table["time_s"])
    team_size = spec.num_players // spec.num_teams
    walls = _walls(table["walls"])
    bases = _bases(ruleset, table, team_size)
    spots = np.array(table.get("structures", [[0, 0]] * 3), dtype=np.float64)
    lane = ruleset == "siege"
    tower_hp = np.array([tower["hp"], tower["hp"], tower["core_hp"]] * 2) * MILLI * int(lane)
    pseudo = patch["pseudo"]
    return Rules(
        **_rates(tick_hz),
        num_players=spec.num_players,
        num_teams=spec.num_teams,
        team_size=team_size,
        half=float(half),
        time_limit=time_limit,
        has_zone=int(ruleset in ("duel", "lms")),
        has_lane=int(lane),
        has_crown=int(ruleset == "crown"),
        respawns=int(ruleset in ("siege", "crown")),
        spawn_radius=float(table.get("spawn_radius", 0)),
        sight=float(player["sight"]),
        shield_max=round(player["shield_max"] * MILLI),
        reload_ticks=ticks(player["reload_s"]),
        respawn_ticks=ticks(player["respawn_s"]),
        respawn_per_min=ticks(player["respawn_growth_s_per_min"]),
        invulnerable_ticks=ticks(player["invulnerable_s"]),
        shot_speed=shot["speed"] * dt,
        shot_life=int(shot["life_s"] * tick_hz),
        hit_radius=float(shot["hit_radius"]),
        max_live=int(shot["max_live"]),
        zone_start=zone["start"] * table["side"],
        zone_close=round(zone["close_at"] * time_limit),
        zone_damage=zone["damage"] * MILLI * dt,
        zone_growth=zone["damage_growth"] * MILLI * dt / time_limit,
        item_health=round(items["health"] * MILLI),
        item_ammo=int(items["ammo"]),
        item_every=ticks(items["every_s"]),
        item_most=int(items["most"]),
        item_reach=float(items["reach"]),
        num_kinds=len(table["items"]),
        num_champions=len(patch["champions"]) + 1,
        num_walls=len(walls),
        item_kinds=np.array([ITEM_KINDS.index(kind) for kind in table["items"]]),
        tower_hp=tower_hp.astype(np.int64),
        tower_x=np.concatenate([spots[:, 0], -spots[:, 0]]),
        tower_y=np.concatenate([spots[:, 1], -spots[:, 1]]),
        tower_reach=float(tower["reach"]),
        tower_damage=tower["damage"] * MILLI * dt,
        tower_ramp=tower["ramp"] * dt,
        tower_radius=float(tower["radius"]),
        lone_factor=float(tower["lone_factor"]),
        decay_from=round(tower["decay_from"] * time_limit),
        decay=tower["decay"] * dt,
        creep_hp=round(creep["hp"] * MILLI),
        creep_speed=creep["speed"] * dt,
        creep_damage=round(creep["damage"] * MILLI * dt),
        creep_structure_damage=round(creep["structure_damage"] * MILLI * dt),
        creep_reach=float(creep["reach"]),
        creep_sight=float(creep["sight"]),
        creep_radius=float(creep["hit_radius"]),
        creep_wave=int(creep["wave"]),
        creep_every=ticks(creep["every_s"]),
        creep_most=int(creep["most"]),
        creep_boost=float(creep["boost"]),
        crown_radius=float(patch["crown"]["radius"]),
        crown_points=round(patch["crown"]["points_per_s"] * MILLI),
        crown_heal=round(patch["crown"]["heal"] * MILLI * dt),
        crown_goal=round(patch["crown"]["goal"] * MILLI),
        base_x=np.ascontiguousarray(bases[:, 0], dtype=np.float64),
        base_y=np.ascontiguousarray(bases[:, 1], dtype=np.float64),
        wall_x=np.ascontiguousarray(walls[:, 0]),
        wall_y=np.ascontiguousarray(walls[:, 1]),
        wall_w=np.ascontiguousarray(walls[:, 2]),
        wall_h=np.ascontiguousarray(walls[:, 3]),
        solid=_grid(walls, half, 1.0, 0.0),
        walk=_grid(walls, half, 0.5, 0.5),
        pseudo=np.array([pseudo[k] for k in ("damage", "kill", "objective", "pickup")], float),
        **_champions(patch, tick_hz),
    )


def _champions(patch: dict[str, Any], tick_hz: int) -> dict[str, Any]:
    """Champion tables; row 0 is the base champion: multipliers 1, no abilities."""
    player, shot = patch["player"], patch["shot"]
    plain = {"hp": 1.0, "speed": 1.0, "damage": 1.0, "cooldown": 1.0}
    nothing = {"kind": "none", "power": 0.0, "range": 0.0, "cooldown_s": 0.0}
    rows = [{**plain, "q": nothing, "e": nothing, "r": nothing}, *patch["champions"]]
    abilities = [[row[slot] for slot in "qer"] for row in rows]
    cooldown_s, dt = shot["cooldown_s"], 1.0 / tick_hz
    return {
        "champ_hp": np.array([round(player["hp"] * MILLI * r["hp"]) for r in rows], np.int64),
        "champ_speed": np.array([player["speed"] * dt * r["speed"] for r in rows], np.float64),
        "champ_damage": np.array([round(shot["damage"] * MILLI * r["damage"]) for r in rows]),
        "champ_ammo": np.array([int(player["ammo"])] * len(rows), np.int64),
        "champ_cooldown": np.array(
            [max(1, round(cooldown_s * r["cooldown"] * tick_hz)) for r in rows]
        ),
        "ability_kind": np.array([[EFFECTS.index(a["kind"]) for a in row] for row in abilities]),
        "ability_power": np.array([[float(a["power"]) for a in row] for row in abilities]),
        "ability_range": np.array([[float(a["range"]) for a in row] for row in abilities]),
        "ability_cooldown": np.array(
            [[round(a["cooldown_s"] * tick_hz) for a in r] for r in abilities]
        ),
    }
