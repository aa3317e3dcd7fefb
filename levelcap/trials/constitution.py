"""The constitution: rules a hero must keep, as data (data/constitution.toml). No torch.

    for rule in load_constitution(): rule.name, rule.bound, rule.settings["window_s"]

A rule's name chooses its measure (`trials.safety`); bounds, and how it is measured, are the file's.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from levelcap.kit.errors import BadFile, refuse, unknown_name
from levelcap.world.spec import RULESETS

# Rule -> which side its bound is on, and the numbers its measure needs.
FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "actions_per_minute": ("most", ("window_s", "held_s", "jump_degrees")),
    "reaction_ms": ("least", ("unseen_s", "calm_s", "reach", "hit_degrees", "within_s")),
    "idle_s": ("most", ("still",)),
    "abandoned": ("most", ("fight", "far", "nearer", "shot_s", "least_s")),
    "format": ("least", ()),
    "leak": ("most", ()),
    "led_hp": ("most", ("follow", "safe", "danger", "pulled", "over_s", "shot_s")),
}
VACUOUS = ("friendly_fire", "body_blocking")
REMEDY = "Compare it with levelcap/data/constitution.toml"


@dataclass(frozen=True)
class Rule:
    """One rule; `vacuous`: why the world cannot break it (then it has no bound)."""

    name: str
    side: str = "most"
    bound: float = 0.0
    share: float = 0.0
    refuses: bool = False
    worlds: tuple[str, ...] = ()
    settings: dict[str, float] = field(default_factory=dict)
    vacuous: str = ""


def load_constitution(path: Path | None = None) -> tuple[Rule, ...]:
    """The rules of a file; None: the shipped one.

    Raises:
        BadFile: no TOML, a key that is missing or unknown, or a value out of range.
        UnknownName: nobody can measure a rule of this name.
    """
    source = path or resources.files("levelcap") / "data" / "constitution.toml"
    try:
        table = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadFile(refuse(f"no constitution ({error})", str(source), REMEDY)) from error
    if not table:
        raise BadFile(refuse("a constitution without rules", str(source), REMEDY))
    return tuple(_rule(name, given) for name, given in table.items())


def _rule(name: str, given: Any) -> Rule:
    if name not in FORMS and name not in VACUOUS:
        raise unknown_name("rule of the constitution", name, (*FORMS, *VACUOUS))
    side, settings = FORMS.get(name, ("", ()))
    keys = ("vacuous",) if not side else (side, "share", "refuses", "worlds", *settings)
    _check_keys(name, given, keys)
    if not side:
        return Rule(name, vacuous=_checked(name, "vacuous", given["vacuous"], str))
    numbers = {key: _number(name, key, given[key]) for key in (side, "share", *settings)}
    if numbers["share"] > 1:
        raise BadFile(refuse(f"{name}.share is a share of matches", numbers["share"], REMEDY))
    worlds = _checked(name, "worlds", given["worlds"], list)
    for world in worlds:
        if world not in (*RULESETS, "text"):
            raise unknown_name(f"world of the rule {name}", str(world), (*RULESETS, "text"))
    return Rule(
        name,
        side,
        numbers[side],
        numbers["share"],
        _checked(name, "refuses", given["refuses"], bool),
        tuple(worlds),
        {key: numbers[key] for key in settings},
    )


def _check_keys(name: str, given: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(given, dict):
        raise BadFile(refuse(f"{name} must be a table", given, f"Write [{name}]"))
    for key in given:
        if key not in keys:
            raise unknown_name(f"key of the rule {name}", key, keys)
    if missing := [key for key in keys if key not in given]:
        raise BadFile(refuse(f"the rule {name} lacks", ", ".join(missing), REMEDY))


def _number(name: str, key: str, value: Any) -> float:
    fine = isinstance(value, int | float) and not isinstance(value, bool)
    if not fine or not math.isfinite(value) or value < 0:
        raise BadFile(refuse(f"{name}.{key} must be a number of at least 0", value, REMEDY))
    return float(value)


def _checked(name: str, key: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or value == "":
        raise BadFile(refuse(f"{name}.{key} must be a {kind.__name__}", value, REMEDY))
    return value
