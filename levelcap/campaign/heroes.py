"""Heroes are files: `levelcap/data/heroes/<id>.yaml`, and the realm's own `config/heroes/`.

A file of the realm with the same id wins. Unknown keys are errors.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from levelcap.kit.errors import BadFile, refuse, unknown_name
from levelcap.kit.paths import get_base_dir


class ArenaHero(BaseModel):
    """A hero of the arena: which net it is and how its campaign goes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z][a-z0-9-]{1,30}$")
    name: str = Field(min_length=1, max_length=40)
    kind: Literal["arena"]
    subtitle: str = Field("", max_length=80)
    world: Literal["duel", "lms", "siege", "crown"] = "duel"
    size: Literal["dummy", "slim", "full"] = "slim"
    teacher: str = "master"
    """the bot whose play is imitated first"""
    partner: str = "veteran"
    """the bot it is recorded against"""
    demo_games: int = Field(3000, ge=2, le=200_000)
    imitation_minutes: float = Field(0.5, gt=0, le=600)
    round_minutes: float = Field(1.5, gt=0, le=600)
    """training minutes of one round of reinforcement"""
    late_round_minutes: float = Field(5.0, gt=0, le=600)
    """the same once the hero has had `late_after_rounds` rounds"""
    late_after_rounds: int = Field(6, ge=1)


def _read(path: Any, name: str) -> ArenaHero:
    try:
        return ArenaHero.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else {"msg": str(error)}
        where = ".".join(str(part) for part in first.get("loc", ())) or "the file"
        what = f"hero file {name}: {where}: {' '.join(str(first['msg']).split())}"
        raise BadFile(refuse(what, first.get("input"), "Correct the file")) from error


@cache
def _shipped() -> dict[str, ArenaHero]:
    folder = resources.files("levelcap") / "data" / "heroes"
    found = [_read(p, p.name) for p in folder.iterdir() if p.name.endswith(".yaml")]
    return {hero.id: hero for hero in found}


def load_heroes() -> dict[str, ArenaHero]:
    """All heroes by id, those of the realm's own files included."""
    heroes = dict(_shipped())
    own: Path = get_base_dir() / "config" / "heroes"
    for path in sorted(own.glob("*.yaml")) if own.is_dir() else []:
        hero = _read(path, path.name)
        heroes[hero.id] = hero
    return heroes


def get_hero(hero_id: str) -> ArenaHero:
    """One hero.

    Raises:
        UnknownName: no file of that id.
    """
    heroes = load_heroes()
    if hero_id not in heroes:
        raise unknown_name("hero", hero_id, heroes)
    return heroes[hero_id]
