"""Recipes: what a quest asks for, as a person writes it.

    quest: reinforce
    world: duel
    minutes: 3
    from: champion
    set: {kl_coef: 0.02}

Read from YAML without running anything in it; unknown keys are errors with their name.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from levelcap.campaign.work.base import Recipe
from levelcap.campaign.work.table import RECIPES
from levelcap.kit.documents import load_yaml
from levelcap.kit.errors import BadFile, BadValue, refuse

MAX_BYTES = 64 << 10


def read_recipe(values: Any) -> Recipe:
    """A recipe out of plain values.

    Raises:
        BadValue: naming the field, the value and what is allowed.
    """
    quest = values.get("quest") if isinstance(values, dict) else None
    if not isinstance(quest, str) or quest not in RECIPES:
        remedy = f"Write one of {', '.join(RECIPES)}"
        raise BadValue(refuse("recipe: quest: there is no such kind of work", quest, remedy))
    if isinstance(values.get("set"), dict):
        # Knobs travel as text, as on the command line; YAML has made numbers of them.
        values = {**values, "set": {str(k): _text(v) for k, v in values["set"].items()}}
    try:
        return RECIPES[quest].model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "quest"
        reason = first["msg"].removeprefix("Value error, ").split("; got ")[0]
        raise BadValue(
            refuse(f"recipe: {place}: {reason}", first.get("input"), "Correct this field")
        ) from error


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
