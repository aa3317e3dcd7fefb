"""Patches: the numbers and champions of the game, as TOML, and the arrays made from them.

A patch is data. `1.0` holds every number; a later patch names its `base` and the keys it changes
(champions are merged by name, new ones appended). A patch given as a dictionary (edited or drawn
by `random_patch`) works wherever a name does; replays embed it.
"""

from __future__ import annotations

import copy
import hashlib
import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.world.rules.patch_checks import check_champions, check_keys, check_ruleset
from levelcap.world.spec import WORLD_VERSION

# The largest factor by which `random_patch` moves a number, up or down.
RANDOM_SPREAD = 1.25
_FOLDER = resources.files("levelcap") / "data" / "patches"


def patch_names() -> tuple[str, ...]:
    """Names of the patches that ship with the package."""
    return tuple(sorted(Path(str(f)).stem for f in _FOLDER.iterdir() if str(f).endswith(".toml")))


def load_patch(patch: str | dict[str, Any]) -> dict[str, Any]:
    """The whole patch as a dictionary, `base` merged in and every key checked.

    patch: a shipped name, or a dictionary of the same shape (with or without `base`).
    """
    if isinstance(patch, dict):
        raw = copy.deepcopy(patch)
    else:
        if patch not in patch_names():
            raise unknown_name("patch", patch, patch_names())
        raw = tomllib.loads((_FOLDER / f"{patch}.toml").read_text(encoding="utf-8"))
    base_name = raw.pop("base", None)
    if base_name is not None:
        raw = _merge(load_patch(base_name), raw)
    _check(raw)
    return raw


def patch_hash(patch: dict[str, Any]) -> str:
    """sha256 of the patch's content (not of its file's layout)."""
    return hashlib.sha256(json.dumps(patch, sort_keys=True).encode()).hexdigest()


def random_patch(seed: int, base: str = "1.0") -> dict[str, Any]:
    """A seeded patch: champions' and combat numbers moved by up to `RANDOM_SPREAD`."""
    patch = load_patch(base)
    rng = np.random.default_rng(seed)

    def moved(value: float) -> float:
        return round(float(value) * RANDOM_SPREAD ** rng.uniform(-1, 1), 3)

    patch["name"] = f"{base}+random-{seed}"
    for table, key in (("shot", "speed"), ("shot", "cooldown_s"), ("player", "speed")):
        patch[table][key] = moved(patch[table][key])
    patch["shot"]["damage"] = round(moved(patch["shot"]["damage"]), 1)
    for champion in patch["champions"]:
        for key in ("hp", "speed", "damage", "cooldown"):
            champion[key] = moved(champion[key])
        for slot in "qer":
            ability = champion[slot]
            ability["power"] = moved(ability["power"])
            ability["cooldown_s"] = moved(ability["cooldown_s"])
    _check(patch)
    return patch


def _merge(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    merged = copy.deepcopy(base)
    for key, value in change.items():
        if key == "champions":
            known = {champion["name"]: champion for champion in merged["champions"]}
            for champion in value:
                if champion.get("name") in known:
                    known[champion["name"]].update(champion)
                else:
                    merged["champions"].append(champion)
        elif isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = _merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def _check(patch: dict[str, Any]) -> None:
    """Refuse unknown keys, wrong types and numbers that would break the rules."""
    model = tomllib.loads((_FOLDER / "1.0.toml").read_text(encoding="utf-8"))
    if patch.get("world_version") != WORLD_VERSION:
        raise BadValue(
            refuse(
                f"patch {patch.get('name')!r}",
                f"world_version {patch.get('world_version')!r}",
                f"use a patch made for world version {WORLD_VERSION}",
            )
        )
    check_keys(patch, model, "patch")
    check_champions(patch["champions"], model["champions"][0])
    for name, table in patch["rulesets"].items():
        check_ruleset(name, table)


def champion_names(patch: dict[str, Any]) -> tuple[str, ...]:
    """`base` followed by the roster, in the order of the champion indices."""
    return ("base", *(champion["name"] for champion in patch["champions"]))
