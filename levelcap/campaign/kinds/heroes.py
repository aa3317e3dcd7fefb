"""The table of kinds, and heroes as files: `levelcap/data/heroes/<id>.yaml`, `config/heroes/`.

A file of the realm with the same id wins. Unknown keys are errors. A new kind of hero is a file in
this folder and its line in the table.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from levelcap.campaign.kinds.arena import Arena
from levelcap.campaign.kinds.kind import HeroFile, Kind
from levelcap.campaign.kinds.text import Text, TextHeroFile
from levelcap.kit.documents import load_yaml
from levelcap.kit.errors import BadFile, refuse, unknown_name
from levelcap.kit.paths import get_base_dir
from levelcap.nets.meta import Meta

KINDS: dict[str, Kind] = {kind.name: kind for kind in (Arena(), Text())}
H = TypeVar("H", bound=HeroFile)


def _read(path: Any, name: str) -> HeroFile:
    try:
        values = load_yaml(path.read_text(encoding="utf-8"))
        kind = values.get("kind") if isinstance(values, dict) else None
        if kind not in KINDS:
            what = f"hero file {name}: kind is one of {', '.join(KINDS)}"
            raise BadFile(refuse(what, kind, "Correct the file"))
        return KINDS[kind].hero_file.model_validate(values)
    except BadFile:
        raise
    except (OSError, ValueError) as error:  # pydantic's and Unicode's errors are ValueErrors
        first = error.errors()[0] if isinstance(error, ValidationError) else {"msg": str(error)}
        where = ".".join(str(part) for part in first.get("loc", ())) or "the file"
        what = f"hero file {name}: {where}: {' '.join(str(first['msg']).split())}"
        raise BadFile(refuse(what, first.get("input"), "Correct the file")) from error


@cache
def _shipped() -> dict[str, HeroFile]:
    folder = resources.files("levelcap") / "data" / "heroes"
    found = [_read(p, p.name) for p in folder.iterdir() if p.name.endswith(".yaml")]
    return {hero.id: hero for hero in found}


def all_heroes() -> dict[str, HeroFile]:
    """Heroes of every kind by id, those of the arena first."""
    heroes = dict(_shipped())
    own: Path = get_base_dir() / "config" / "heroes"
    for path in sorted(own.glob("*.yaml")) if own.is_dir() else []:
        hero = _read(path, path.name)
        heroes[hero.id] = hero
    return dict(sorted(heroes.items(), key=lambda row: (row[1].kind, row[1].weights, row[0])))


def load_text_heroes() -> dict[str, TextHeroFile]:
    """The text heroes by id, those of the realm's own files included."""
    return {name: hero for name, hero in all_heroes().items() if isinstance(hero, TextHeroFile)}


def find_hero(hero_id: str) -> HeroFile:
    """One hero of any kind.

    Raises:
        UnknownName: no file of that id.
    """
    return _pick("hero", hero_id, all_heroes())


def get_text_hero(hero_id: str) -> TextHeroFile:
    """One text hero (see `find_hero`)."""
    return _pick("text hero", hero_id, load_text_heroes())


def _pick(what: str, hero_id: str, heroes: dict[str, H]) -> H:
    if hero_id not in heroes:
        raise unknown_name(what, hero_id, heroes)
    return heroes[hero_id]


def kind_of(hero_id: str) -> Kind:
    """The kind of a hero."""
    return KINDS[find_hero(hero_id).kind]


def kind_of_role(role: str) -> Kind:
    """The kind whose checkpoints have this role."""
    return next(kind for kind in KINDS.values() if kind.role == role)


def kind_of_meta(meta: Meta) -> Kind:
    """The kind of a checkpoint that says this of itself."""
    return next(kind for kind in KINDS.values() if kind.owns(meta))
