"""Which numbers a patch may hold: what lies outside would break the rules or the arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from levelcap.kit.errors import BadValue, refuse, unknown_name

EFFECTS = ("none", "dash", "blink", "blast", "volley", "heal", "shield", "snare", "ward")
ITEM_KINDS = ("none", "health", "ammo")
MAX_CHAMPIONS = 32
MAX_WALLS = 32
MIN_CHAMPIONS = 8

# path: (least, most, whole). Everything else: 0 to 1,000,000. Speeds stay below one unit a tick,
# or bodies and shots would pass through walls.
LIMITS: dict[str, tuple[float, float, bool]] = {
    "player.hp": (1, 100_000, False),
    "player.ammo": (1, 1000, True),
    "player.speed": (0.1, 12, False),
    "player.sight": (1, 100, False),
    "shot.speed": (1, 29, False),
    "shot.life_s": (0.1, 10, False),
    "shot.cooldown_s": (0.04, 10, False),
    "shot.max_live": (1, 64, True),
    "zone.start": (0.1, 2, False),
    "zone.close_at": (0.05, 1, False),
    "items.every_s": (0.1, 600, False),
    "items.most": (1, 16, True),
    "items.ammo": (0, 1000, True),
    "tower.hp": (1, 100_000, False),
    "tower.core_hp": (1, 100_000, False),
    "tower.lone_factor": (0, 1, False),
    "creep.hp": (1, 100_000, False),
    "creep.speed": (0.1, 12, False),
    "creep.every_s": (1, 600, False),
    "creep.wave": (0, 16, True),
    "creep.most": (1, 64, True),
    "crown.goal": (1, 100_000, False),
    "side": (20, 128, True),
    "time_s": (5, 3600, False),
    "champion.hp": (0.1, 10, False),
    "champion.speed": (0.1, 2, False),
    "champion.damage": (0, 10, False),
    "champion.cooldown": (0.2, 10, False),
}


def check_number(where: str, value: Any, rule: str) -> None:
    """Refuse what is no finite number within the limits of `rule`."""
    low, high, whole = LIMITS.get(rule, (0, 1_000_000, False))
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or not low <= value <= high:
        raise BadValue(refuse(where, repr(value), f"give a number from {low} to {high:,}"))
    if whole and value != int(value):
        raise BadValue(refuse(where, repr(value), f"give a whole number from {low} to {high:,}"))


def check_keys(given: Any, model: dict[str, Any], where: str, path: str = "") -> None:
    """The same keys as the model, numbers where it has numbers, tables where it has tables."""
    if not isinstance(given, dict):
        raise BadValue(refuse(where, repr(given), "give a table"))
    for key in given:
        if key not in model:
            raise unknown_name(f"key of {where}", str(key), tuple(model))
    for key, example in model.items():
        if key not in given:
            raise BadValue(refuse(where, f"no {key!r}", f"add the key {key!r}"))
        value = given[key]
        here = f"{path}.{key}" if path else key
        if isinstance(example, dict):
            check_keys(value, example, f"{where}.{key}", "" if path == "rulesets" else here)
        elif isinstance(example, str):
            if not isinstance(value, str):
                raise BadValue(refuse(f"{where}.{key}", repr(value), "give a text"))
        elif isinstance(example, list):
            if not isinstance(value, list):
                raise BadValue(refuse(f"{where}.{key}", repr(value), "give a list"))
        else:
            check_number(f"{where}.{key}", value, here)


def check_champions(champions: list[Any], model: dict[str, Any]) -> None:
    """Names once each, known effects, between 8 and 32 of them."""
    if not MIN_CHAMPIONS <= len(champions) <= MAX_CHAMPIONS:
        remedy = f"give at least {MIN_CHAMPIONS} and at most {MAX_CHAMPIONS} champions"
        raise BadValue(refuse("the roster", f"{len(champions)} champions", remedy))
    for champion in champions:
        name = champion.get("name") if isinstance(champion, dict) else champion
        check_keys(champion, model, f"champion {name!r}", "champion")
        for slot in "qer":
            if champion[slot]["kind"] not in EFFECTS[1:]:
                raise unknown_name("effect kind", champion[slot]["kind"], EFFECTS[1:])
    names = [champion["name"] for champion in champions]
    for name in names:
        if names.count(name) > 1 or name in ("base", "random"):
            raise BadValue(refuse("a champion's name is taken", name, "give each its own name"))


def check_ruleset(name: str, table: dict[str, Any]) -> None:
    """Items that exist, and walls that fill whole cells inside the map."""
    if not table["items"]:
        raise BadValue(refuse(f"rulesets.{name}.items", [], "name at least one item"))
    for item in table["items"]:
        if item not in ITEM_KINDS[1:]:
            raise unknown_name("item", str(item), ITEM_KINDS[1:])
    half = table["side"] / 2
    if table["side"] % 2:
        raise BadValue(refuse(f"rulesets.{name}.side", table["side"], "give an even number"))
    if len(table["walls"]) > MAX_WALLS:
        remedy = f"give at most {MAX_WALLS} walls"
        raise BadValue(refuse(f"rulesets.{name}.walls", len(table["walls"]), remedy))
    for wall in table["walls"]:
        remedy = "give whole numbers [left, bottom, width, height] inside the map"
        whole = isinstance(wall, list) and len(wall) == 4
        whole = whole and all(isinstance(n, int) and not isinstance(n, bool) for n in wall)
        if not whole or wall[2] < 1 or wall[3] < 1 or _outside(wall, half):
            raise BadValue(refuse(f"rulesets.{name}.walls", wall, remedy))
    for key in ("structures", "base"):
        spots = table.get(key, [])
        for spot in spots if key == "structures" else [spots] if spots else []:
            pair = isinstance(spot, list) and len(spot) == 2
            if not pair or any(not abs(float(n)) < half for n in spot):
                raise BadValue(refuse(f"rulesets.{name}.{key}", spot, "give [x, y] on the map"))


def _outside(wall: list[int], half: float) -> bool:
    left, bottom, width, height = wall
    return left < -half or bottom < -half or left + width > half or bottom + height > half
