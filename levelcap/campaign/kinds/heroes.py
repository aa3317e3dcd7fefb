"""Heroes are files: `levelcap/data/heroes/<id>.yaml`, and the realm's own `config/heroes/`.

A file of the realm with the same id wins. Unknown keys are errors. Arena heroes play worlds, text
heroes answer the skills of the guild.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from levelcap.kit.documents import load_yaml
from levelcap.kit.errors import BadFile, refuse, unknown_name
from levelcap.kit.ids import check_words
from levelcap.kit.paths import get_base_dir
from levelcap.nets.text_shape import TextShape

Words = Annotated[str, AfterValidator(check_words)]


class ArenaHero(BaseModel):
    """A hero of the arena: which net it is and how its campaign goes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z][a-z0-9-]{1,30}$")
    name: Words = Field(min_length=1, max_length=40)
    kind: Literal["arena"]
    subtitle: Words = Field("", max_length=80)
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
    portrait: Literal["kestrel", "dio", "flo"] = "kestrel"
    """who the Tavern draws"""


class TextHeroFile(BaseModel):
    """A hero that reads and writes: which model it is and how it is trained."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z][a-z0-9-]{1,30}$")
    name: Words = Field(min_length=1, max_length=40)
    kind: Literal["text"]
    subtitle: Words = Field("", max_length=80)
    size: Literal["dummy", "tiny"] | None = None
    """of a net from scratch that reads characters"""
    model: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$")
    """or: folder of a published Qwen3 under the realm's models/"""
    shape: TextShape | None = None
    """sizes of the published model, for memory figures before it is on disk"""
    optimizer: Literal["adamw", "muon"] = "muon"
    lr: float = Field(3e-3, gt=0, le=1)
    hidden_lr: float = Field(0.02, gt=0, le=1)
    ema: float = Field(0.95, ge=0, lt=1)
    batch: int = Field(32, ge=1, le=4096)
    """problems an update"""
    chat_template: Literal["plain", "chatml"] = "plain"
    """plain: prompt, newline, answer"""
    portrait: Literal["kestrel", "dio", "flo"] = "dio"
    affinity: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    """skill -> how much of its time the hero gives it by default"""
    school_minutes: float = Field(5.0, ge=0, le=600)
    """on the primitives, before the first quest"""
    round_minutes: float = Field(2.0, gt=0, le=600)

    @model_validator(mode="after")
    def _one_source(self) -> TextHeroFile:
        if (self.size is None) == (self.model is None) or (self.model and self.shape is None):
            raise ValueError("give size, or model with its shape")
        return self

    def folder(self) -> Path | None:
        """Where the published weights must lie; None: none are needed."""
        return None if self.model is None else get_base_dir() / "models" / self.model

    def why_not(self) -> str | None:
        """Why the realm cannot train it; None: it can."""
        if self.model is None:
            return None
        if not (self.folder() or Path()).is_dir():
            return f"its weights are not in models/{self.model}"
        return "training from published weights is not built yet"


Hero = ArenaHero | TextHeroFile
H = TypeVar("H", ArenaHero, TextHeroFile, Hero)
_ANY: TypeAdapter[Hero] = TypeAdapter(
    Annotated[ArenaHero | TextHeroFile, Field(discriminator="kind")]
)


def _read(path: Any, name: str) -> Hero:
    try:
        return _ANY.validate_python(load_yaml(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:  # pydantic's and Unicode's errors are ValueErrors
        first = error.errors()[0] if isinstance(error, ValidationError) else {"msg": str(error)}
        loc = [str(part) for part in first.get("loc", ())]
        where = ".".join(loc[1:] if loc[:1] in (["arena"], ["text"]) else loc) or "the file"
        what = f"hero file {name}: {where}: {' '.join(str(first['msg']).split())}"
        raise BadFile(refuse(what, first.get("input"), "Correct the file")) from error


@cache
def _shipped() -> dict[str, Hero]:
    folder = resources.files("levelcap") / "data" / "heroes"
    found = [_read(p, p.name) for p in folder.iterdir() if p.name.endswith(".yaml")]
    return {hero.id: hero for hero in found}


def all_heroes() -> dict[str, Hero]:
    """Heroes of every kind by id, those of the arena first."""
    heroes = dict(_shipped())
    own: Path = get_base_dir() / "config" / "heroes"
    for path in sorted(own.glob("*.yaml")) if own.is_dir() else []:
        hero = _read(path, path.name)
        heroes[hero.id] = hero
    return dict(sorted(heroes.items(), key=lambda row: (row[1].kind, _weight(row[1]), row[0])))


def _weight(hero: Hero) -> str:
    """Heroes that need no weights of others come first."""
    return hero.model or "" if isinstance(hero, TextHeroFile) else ""


def load_heroes() -> dict[str, ArenaHero]:
    """The arena's heroes by id, those of the realm's own files included."""
    return {name: hero for name, hero in all_heroes().items() if isinstance(hero, ArenaHero)}


def load_text_heroes() -> dict[str, TextHeroFile]:
    """The text heroes by id, those of the realm's own files included."""
    return {name: hero for name, hero in all_heroes().items() if isinstance(hero, TextHeroFile)}


def find_hero(hero_id: str) -> Hero:
    """One hero of any kind.

    Raises:
        UnknownName: no file of that id.
    """
    return _pick("hero", hero_id, all_heroes())


def get_hero(hero_id: str) -> ArenaHero:
    """One hero of the arena (see `find_hero`)."""
    return _pick("hero of the arena", hero_id, load_heroes())


def get_text_hero(hero_id: str) -> TextHeroFile:
    """One text hero (see `find_hero`)."""
    return _pick("text hero", hero_id, load_text_heroes())


def _pick(what: str, hero_id: str, heroes: dict[str, H]) -> H:
    if hero_id not in heroes:
        raise unknown_name(what, hero_id, heroes)
    return heroes[hero_id]
