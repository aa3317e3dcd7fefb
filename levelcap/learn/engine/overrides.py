"""`--set name=value`: overrides of any field of a configuration, checked by its type."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.learn.engine.folder import RENAMED


def apply(config: Any, settings: Sequence[str]) -> Any:
    """The configuration with these overrides; `engine.lr=1e-3` reaches into an inner one."""
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise BadValue(refuse("an override is name=value", setting, "E.g. --set kl_coef=.05"))
        config = _set(config, name.strip(), text.strip())
    return config


def names(config: Any, prefix: str = "") -> tuple[str, ...]:
    """All fields, inner ones with their prefix."""
    found: list[str] = []
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            found += names(value, f"{prefix}{field.name}.")
        else:
            found.append(f"{prefix}{field.name}")
    return tuple(found)


def _set(config: Any, name: str, text: str) -> Any:
    head, _, rest = name.partition(".")
    head = RENAMED.get(head, head)  # recipes that were written before still say it
    known = {field.name for field in dataclasses.fields(config)}
    if head not in known or (rest == "") == dataclasses.is_dataclass(getattr(config, head, None)):
        raise unknown_name("setting of this run", name, names(config))
    old = getattr(config, head)
    value = _set(old, rest, text) if rest else _parse(name, text, old)
    return dataclasses.replace(config, **{head: value})


def _parse(name: str, text: str, old: Any) -> Any:
    try:
        if isinstance(old, bool):
            return {"true": True, "false": False, "1": True, "0": False}[text.lower()]
        if isinstance(old, tuple):
            return tuple(part for part in text.split(",") if part)
        return type(old)(text)
    except (ValueError, KeyError) as error:
        kind = type(old).__name__
        raise BadValue(refuse(f"{name} is a {kind}", text, f"Give e.g. {name}={old}")) from error
