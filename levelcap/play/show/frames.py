"""One match as bytes for a canvas: a header, then states, then what happened; no torch.

Every message begins with one byte that says what it is; numbers are little endian:

    1  header   the rest is JSON: world, patch, map, walls, seats, champions, ticks a second
    2  state    below
    3  note     the rest is JSON: {"type": "fallen" | "result" | "notice", ...}

A state is `HEAD`, then `PLAYER` for every seat, then `SHOT`, `ITEM`, `CREEP`, `STRUCTURE` and
`MIND` as often as `HEAD` says. Places are in hundredths of a unit, hp and shield in tenths of a
point, speeds in hundredths of a unit a second. Angles are in ten-thousandths of a radian, cooldowns
and hp of creeps in 255ths, values of nets in thousandths; confidence and odds of a mind in 254ths
(255: not known), weights of looks in 255ths, its approach in hundredths. A stored sequence of
messages (`stack`) puts the length of each before it, as four bytes. Live matches and replays are
written by the same code, so that there is one reader.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.world.draw.scoreboard import TITLES, read_scoreboard
from levelcap.world.rules.patch_checks import EFFECTS
from levelcap.world.rules.patches import champion_names
from levelcap.world.rules.rulebook import MILLI
from levelcap.world.spec import INTENTS

FORMAT = 2
KIND_HEADER, KIND_STATE, KIND_NOTE = 1, 2, 3
OVER, IDLE = 1, 2  # flags of a state
ALIVE, SNARED, GUARDED, DASHING, RELOADING, FIRING, WARDING, OUT = (1 << i for i in range(8))
STATES = ("alive", "snare", "invulnerable", "dash", "reload", "fire", "ward", "out")  # of the bits
NO_INTENT, NO_VALUE = 255, -32768
HAS_PLAN, HAS_TARGET, GOAL_CHANGED = 1, 2, 4  # flags of a mind; the target is its first look
LOOKS = 4  # of a mind: what it attends to most
SPOTS = (
    *("nothing", "enemy", "memory", "ally", "tower", "own tower", "creep"),
    *("health pack", "ammo crate", "shot"),
)  # kinds of looks; a memory is an enemy out of sight, where it was seen last
NO_TARGET = 255  # of a structure; else a seat, or 100 and the slot of a creep

HEAD = np.dtype(
    [
        ("kind", "u1"),
        ("flags", "u1"),
        ("shots", "<u2"),
        ("tick", "<u4"),
        ("ack", "<u4"),
        ("zone_x", "<f4"),
        ("zone_y", "<f4"),
        ("zone_radius", "<f4"),
        ("score", "<i4", 2),
        ("players", "u1"),
        ("items", "u1"),
        ("creeps", "u1"),
        ("structures", "u1"),
        ("minds", "u1"),
    ]
)
PLAYER = np.dtype(
    [
        ("x", "<f4"),
        ("y", "<f4"),
        ("vx", "<i2"),
        ("vy", "<i2"),
        ("angle", "<i2"),
        ("hp", "<u2"),
        ("shield", "<u2"),
        ("ammo", "u1"),
        ("state", "u1"),
        ("wait", "u1", 3),
        ("intent", "u1"),
        ("ability", "u1"),
        ("respawn", "u1"),
        ("value", "<i2"),
        ("seen", "<u2"),
        ("kills", "u1"),
        ("deaths", "u1"),
        ("aim_x", "<i2"),
        ("aim_y", "<i2"),
        ("ward_x", "<i2"),
        ("ward_y", "<i2"),
    ]
)
SHOT = np.dtype(
    [("x", "<i2"), ("y", "<i2"), ("vx", "<i2"), ("vy", "<i2"), ("owner", "u1"), ("life", "u1")]
)
ITEM = np.dtype([("x", "<i2"), ("y", "<i2"), ("kind", "u1"), ("slot", "u1")])
CREEP = np.dtype([("x", "<i2"), ("y", "<i2"), ("hp", "u1"), ("slot", "u1")])
STRUCTURE = np.dtype([("hp", "<u2"), ("target", "u1"), ("heat", "u1")])
LOOK = np.dtype([("x", "<i2"), ("y", "<i2"), ("weight", "u1"), ("kind", "u1")])
MIND = np.dtype(
    [
        ("seat", "u1"),
        ("confidence", "u1"),
        ("flags", "u1"),
        ("order", "u1"),
        ("odds", "u1"),
        ("enemies", "u1"),
        ("hidden", "u1"),
        ("allies", "u1"),
        ("loot", "u1"),
        ("approach", "i1", 4),
        ("looks", LOOK, LOOKS),
    ]
)
assert (HEAD.itemsize, PLAYER.itemsize, SHOT.itemsize, MIND.itemsize) == (37, 40, 10, 37)

Tally = NDArray[np.int64]  # [P, 2] kills and deaths


def message(kind: int, values: dict[str, Any]) -> bytes:
    """A header or a note."""
    return bytes([kind]) + json.dumps(values, allow_nan=False, separators=(",", ":")).encode()


def stack(messages: Iterable[bytes]) -> bytes:
    """Messages one after the other, each with its length before it."""
    return b"".join(len(m).to_bytes(4, "little") + m for m in messages)


def header(world: Any, names: Sequence[str], kinds: Sequence[str], **more: Any) -> bytes:
    """The first message of a match.

    names, kinds: of each seat; a kind is bot, net or person. more: further keys (match, live, you).
    """
    rules, g = world.rules, world.state[0]
    board = read_scoreboard(world)
    values = {
        "format": FORMAT,
        "world": world.ruleset,
        "title": TITLES[world.ruleset],
        "objective": board.objective,
        "patch": world.patch["name"],
        "seed": str(int(g["seed"])),
        "half": rules.half,
        "sight": rules.sight,
        "ticks_per_s": rules.tick_hz,
        "decision_ticks": world.decision_ticks,
        "time_limit": rules.time_limit,
        "teams": rules.num_teams,
        "team_size": rules.team_size,
        "intents": list(INTENTS),
        "walls": [
            [float(v) for v in row]
            for row in zip(rules.wall_x, rules.wall_y, rules.wall_w, rules.wall_h, strict=True)
        ],
        "zone": bool(rules.has_zone),
        "crown": rules.crown_radius if rules.has_crown else 0,
        "goal": rules.crown_goal / MILLI if rules.has_crown else 0,
        "structures": _structure_facts(rules),
        "creep_side": rules.creep_most,
        "bases": _bases(rules),
        "seats": [_seat_facts(world, p, names[p], kinds[p]) for p in range(rules.num_players)],
    }
    return message(KIND_HEADER, values | more)


def _seat_facts(world: Any, seat: int, name: str, kind: str) -> dict[str, Any]:
    rules, c = world.rules, int(world.state["champion"][0, seat])
    return {
        "name": name,
        "kind": kind,
        "team": seat // rules.team_size,
        "champion": champion_names(world.patch)[c],
        "hp": int(rules.champ_hp[c]) / MILLI,
        "speed": float(rules.champ_speed[c]) * rules.tick_hz,
        "ammo": int(rules.champ_ammo[c]),
        "abilities": [
            {
                "kind": EFFECTS[int(rules.ability_kind[c, slot])],
                "range": float(rules.ability_range[c, slot]),
                "cooldown_s": float(rules.ability_cooldown[c, slot]) / rules.tick_hz,
            }
            for slot in range(3)
        ],
    }


def _structure_facts(rules: Any) -> list[dict[str, Any]]:
    if not rules.has_lane:
        return []
    return [
        {
            "x": float(rules.tower_x[t]),
            "y": float(rules.tower_y[t]),
            "team": t // 3,
            "core": t % 3 == 2,
            "hp": int(rules.tower_hp[t]) / MILLI,
            "reach": rules.tower_reach,
            "radius": rules.tower_radius,
        }
        for t in range(6)
    ]


def _bases(rules: Any) -> list[list[float]]:
    """Where the two sides return to; none where nobody returns."""
    if not rules.respawns:
        return []
    middle = [team * rules.team_size + rules.team_size // 2 for team in range(2)]
    return [[float(rules.base_x[seat]), float(rules.base_y[seat])] for seat in middle]


def state(
    world: Any,
    g: Any,
    *,
    values: NDArray[Any] | None = None,
    intents: NDArray[Any] | None = None,
    tally: Tally | None = None,
    minds: NDArray[Any] | None = None,
    ack: int = 0,
    idle: bool = False,
) -> bytes:
    """One moment of a match.

    world: whose rules count. g: the record of the moment, which may be another world's. values,
    intents: [P] of the last decision, NaN and -1 where nobody says. tally: kills and deaths.
    minds: rows of `MIND`. ack: number of the person's last input that was taken in.
    """
    rules = world.rules
    players = _players(rules, g)
    if values is not None:
        known = np.isfinite(values)
        scaled = np.clip(np.where(known, values, 0.0) * 1000, -32000, 32000)
        players["value"] = np.where(known, scaled, NO_VALUE)
    if intents is not None:
        players["intent"] = np.where(intents < 0, NO_INTENT, intents)
    if tally is not None:
        players["kills"], players["deaths"] = np.minimum(tally, 255).T
    shots, items, creeps = _shots(rules, g), _items(rules, g), _creeps(rules, g)
    structures = _structures(rules, g)
    minds = np.zeros(0, MIND) if minds is None else minds
    head = np.zeros(1, HEAD)
    head["kind"], head["tick"], head["ack"] = KIND_STATE, g["tick"], ack
    head["flags"] = OVER * int(g["over"]) | IDLE * idle
    head["zone_x"], head["zone_y"], head["zone_radius"] = g["zone"]
    head["score"] = g["score"]
    head["shots"], head["players"], head["items"] = len(shots), len(players), len(items)
    head["creeps"], head["structures"], head["minds"] = len(creeps), len(structures), len(minds)
    parts = (head, players, shots, items, creeps, structures, minds)
    return b"".join(part.tobytes() for part in parts)


def _players(rules: Any, g: Any) -> NDArray[Any]:
    count = rules.num_players
    c = g["champion"][:count]
    out = np.zeros(count, PLAYER)
    for name in ("x", "y", "ammo", "ability"):
        out[name] = g[name][:count]
    for name in ("vx", "vy"):
        out[name] = _hundredths(g[name][:count] * rules.tick_hz)
    for name in ("aim_x", "aim_y", "ward_x", "ward_y"):
        out[name] = _hundredths(g[name][:count])
    out["angle"] = np.arctan2(g["dir_y"][:count], g["dir_x"][:count]) * 10_000
    out["hp"] = np.clip(g["hp"][:count] / 100, 0, 65_535)
    out["shield"] = np.clip(g["shield"][:count] / 100, 0, 65_535)
    full = np.maximum(1, rules.ability_cooldown[c])
    out["wait"] = np.ceil(np.clip(g["wait"][:count] / full, 0, 1) * 255)
    out["respawn"] = np.clip(-(-g["respawn"][:count] // rules.tick_hz), 0, 255)
    out["state"] = _bits(g, count)
    seen = g["seen_now"][: rules.num_teams, :count].astype(np.int64)
    own = np.arange(count) // rules.team_size
    seen[own, np.arange(count)] = 1  # a side always knows its own
    out["seen"] = (seen << np.arange(rules.num_teams)[:, None]).sum(axis=0)
    out["intent"], out["value"] = NO_INTENT, NO_VALUE
    return out


def _bits(g: Any, count: int) -> NDArray[Any]:
    total = np.zeros(count, np.int64)
    for place, name in enumerate(STATES):
        total |= (g[name][:count] > 0).astype(np.int64) << place
    return total


def _shots(rules: Any, g: Any) -> NDArray[Any]:
    count = int(g["num_shots"])
    out = np.zeros(count, SHOT)
    out["x"], out["y"] = _hundredths(g["shot_x"][:count]), _hundredths(g["shot_y"][:count])
    out["vx"] = _hundredths(g["shot_vx"][:count] * rules.tick_hz)
    out["vy"] = _hundredths(g["shot_vy"][:count] * rules.tick_hz)
    out["owner"], out["life"] = g["shot_owner"][:count], g["shot_life"][:count]
    return out


def _items(rules: Any, g: Any) -> NDArray[Any]:
    there = np.flatnonzero(g["item_kind"][: rules.item_most])
    out = np.zeros(len(there), ITEM)
    out["x"], out["y"] = _hundredths(g["item_x"][there]), _hundredths(g["item_y"][there])
    out["kind"], out["slot"] = g["item_kind"][there], there
    return out


def _creeps(rules: Any, g: Any) -> NDArray[Any]:
    most = 2 * rules.creep_most if rules.has_lane else 0
    there = np.flatnonzero(g["creep_hp"][:most] > 0)
    out = np.zeros(len(there), CREEP)
    out["x"], out["y"] = _hundredths(g["creep_x"][there]), _hundredths(g["creep_y"][there])
    out["hp"] = np.clip(g["creep_hp"][there] / max(1, rules.creep_hp), 0, 1) * 255
    out["slot"] = there
    return out


def _structures(rules: Any, g: Any) -> NDArray[Any]:
    if not rules.has_lane:
        return np.zeros(0, STRUCTURE)
    out = np.zeros(6, STRUCTURE)
    out["hp"] = np.clip(g["tower_hp"] / np.maximum(1, rules.tower_hp), 0, 1) * 65_535
    out["target"] = np.where(g["tower_target"] < 0, NO_TARGET, g["tower_target"])
    out["heat"] = np.clip(g["tower_time"], 0, 255)
    return out


def _hundredths(values: NDArray[Any]) -> NDArray[Any]:
    return np.clip(np.rint(values * 100), -32_767, 32_767)
