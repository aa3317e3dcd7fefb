"""Recipes: what a quest asks for, as a person writes it.

    quest: reinforce
    world: duel
    minutes: 3
    from: champion
    set: {kl_coef: 0.02}

Read from YAML without running anything in it; unknown keys are errors with their name.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError

from levelcap.campaign.work.base import Recipe
from levelcap.campaign.work.table import RECIPES
from levelcap.kit.documents import load_yaml
from levelcap.kit.errors import BadFile, BadValue, refuse, unknown_name

MAX_BYTES = 64 << 10


def read_recipe(values: Any) -> Recipe:
    """A recipe out of plain values.

    Raises:
        BadValue: naming the field, the value and what is allowed.
    """
    quest = values.get("quest") if isinstance(values, dict) else None
    if not isinstance(quest, str) or quest not in RECIPES:
        raise BadValue(str(unknown_name("kind of quest", str(quest or ""), RECIPES)))
    if isinstance(values.get("set"), dict):
        # Knobs travel as text, as on the command line; YAML has made numbers of them.
        values = {**values, "set": {str(k): _text(v) for k, v in values["set"].items()}}
    try:
        return RECIPES[quest].model_validate(values)
    except ValidationError as error:
        raise BadValue(_wrong(error, RECIPES[quest])) from error


def _wrong(error: ValidationError, recipe: type[Recipe]) -> str:
    """What is wrong with a recipe first, in our own words."""
    first = error.errors()[0]
    place, value = ".".join(str(part) for part in first["loc"]) or "quest", first.get("input")
    if first["type"] == "extra_forbidden":
        known = [field.alias or name for name, field in recipe.model_fields.items()]
        return str(unknown_name("key of this recipe", place, known))
    if first["type"] == "literal_error":
        allowed = re.findall(r"'([^']*)'", first["ctx"]["expected"])
        return f"recipe: {unknown_name(place, str(value), allowed)}"
    if first["type"] == "missing":
        return refuse(f"recipe: {place} is missing", sorted(value or ()), f"Write {place}: …")
    reason = first["msg"].removeprefix("Value error, ").split("; got ")[0]
    reason = re.sub("^Input should be", "it must be", reason).split(", unable to parse")[0]
    return refuse(f"recipe: {place}: {reason}", value, "Correct this field")


def parse_recipe(text: str, name: str) -> Recipe:
    """A recipe out of YAML text.

    Raises:
        BadFile: not YAML, or too long. BadValue: YAML, but no recipe.
    """
    if len(text.encode()) > MAX_BYTES:
        raise BadFile(refuse(f"{name} is longer than {MAX_BYTES} bytes", len(text), "Shorten it"))
    try:
        values = load_yaml(text)
    except ValueError as error:
        raise BadFile(refuse(f"not YAML ({str(error)[:200]})", name, "Correct the file")) from error
    if not isinstance(values, dict):
        raise BadFile(refuse(f"{name} holds no recipe", values, "Write lines of name: value"))
    return read_recipe(values)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
