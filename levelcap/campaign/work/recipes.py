"""Recipes: what a quest asks for, as a person writes it.

    quest: reinforce
    world: duel
    minutes: 3
    from: champion
    set: {kl_coef: 0.02}

Read from YAML without running anything in it; unknown keys are errors with their name.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from levelcap.campaign.work.table import Knobs, Level, Minutes, Name, Ruleset, Seed
from levelcap.kit.documents import load_yaml
from levelcap.kit.errors import BadFile, BadValue, refuse
from levelcap.kit.ids import check_words
from levelcap.learn.engine.overrides import apply
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.rl.config import for_world
from levelcap.learn.text.config import TextConfig
from levelcap.world.bot_names import check_bot

MAX_BYTES = 64 << 10
Priority = Literal["high", "normal", "low"]


class _Recipe(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    title: Annotated[str, Field(max_length=80), AfterValidator(check_words)] = ""
    priority: Priority = "normal"
    seed: Seed = 0


class _Arena(_Recipe):
    world: Ruleset = "duel"


class RecordRecipe(_Arena):
    """Record games of a bot, to be imitated later."""

    quest: Literal["record"]
    teacher: Name = "master"
    partner: Name = "veteran"
    games: Annotated[int, Field(ge=2, le=200_000)] = 3000


class ImitateRecipe(_Arena):
    """Clone recorded play."""

    quest: Literal["imitate"]
    shards: Annotated[list[Name], Field(min_length=1, max_length=64)]
    policies: Annotated[list[Name], Field(max_length=16)] = []
    minutes: Minutes = 0.5
    size: Literal["dummy", "slim", "full"] = "slim"
    base: bool = False
    """true: the campaign's rounds start from this clone; else it is a branch of its own"""
    knobs: Knobs = Field(default={}, alias="set")


class ReinforceRecipe(_Arena):
    """Let a checkpoint play and learn; or let a run go on until it has had `minutes` in all."""

    quest: Literal["reinforce"]
    start: Name | None = Field(default=None, alias="from")
    """a checkpoint: its id, champion, best, latest; nothing = from untrained weights"""
    run: Name | None = None
    minutes: Minutes = 1.5
    size: Literal["dummy", "slim", "full"] = "slim"
    knobs: Knobs = Field(default={}, alias="set")


class EvaluateRecipe(_Arena):
    """Judge a checkpoint; of a text hero by an exam in a skill (or preset) and the passives."""

    quest: Literal["evaluate"]
    checkpoint: Name = "latest"
    games: Annotated[int, Field(ge=40, le=20_000, multiple_of=40)] = 400
    skill: Name | None = None
    level: Level | None = None
    passives: Literal["lite", "full"] = "lite"


class SchoolRecipe(_Recipe):
    """Teach a new text hero the primitives."""

    quest: Literal["school"]
    minutes: Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)] = 5.0
    knobs: Knobs = Field(default={}, alias="set")


class StudyRecipe(_Recipe):
    """Teach a text hero a skill (or preset); or let a run go on until it has had `minutes`."""

    quest: Literal["study"]
    skill: Name = "bin"
    start: Name | None = Field(default=None, alias="from")
    run: Name | None = None
    level: Level | None = None
    """nothing: where the hero stands"""
    lessons: Annotated[list[Name], Field(max_length=16)] = []
    """ids of datasets that are trained on besides"""
    minutes: Minutes = 2.0
    knobs: Knobs = Field(default={}, alias="set")


class SparRecipe(_Recipe):
    """Let a text hero answer fresh problems and make lessons of its wrong answers."""

    quest: Literal["spar"]
    skill: Name = "bin"
    checkpoint: Name = "latest"
    level: Level | None = None
    count: Annotated[int, Field(ge=4, le=5000)] = 400
    priority: Priority = "high"


TEXT_QUESTS = (SchoolRecipe, StudyRecipe, SparRecipe)


Recipe = Annotated[
    RecordRecipe
    | ImitateRecipe
    | ReinforceRecipe
    | EvaluateRecipe
    | SchoolRecipe
    | StudyRecipe
    | SparRecipe,
    Field(discriminator="quest"),
]
_ADAPTER: TypeAdapter[Any] = TypeAdapter(Recipe)


def read_recipe(values: Any) -> Any:
    """A recipe out of plain values.

    Raises:
        BadValue: naming the field, the value and what is allowed.
    """
    if isinstance(values, dict) and isinstance(values.get("set"), dict):
        # Knobs travel as text, as on the command line; YAML has made numbers of them.
        values = {**values, "set": {str(k): _text(v) for k, v in values["set"].items()}}
    try:
        return _ADAPTER.validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or "quest"
        reason = first["msg"].removeprefix("Value error, ").split("; got ")[0]
        raise BadValue(
            refuse(f"recipe: {place}: {reason}", first.get("input"), "Correct this field")
        ) from error


def check_contents(recipe: Any) -> None:
    """Refuse now what the trainer would refuse later: bots it may not meet, overrides it lacks.

    Raises:
        UnknownName: no such bot or override. BadValue: a sealed bot, a value out of range.
    """
    if isinstance(recipe, RecordRecipe):
        for name in (recipe.teacher, recipe.partner):
            check_bot(name, for_training=True)
    elif isinstance(recipe, ImitateRecipe):
        apply(ImitationConfig(), pairs(recipe.knobs))
    elif isinstance(recipe, ReinforceRecipe):
        apply(for_world(recipe.world), pairs(recipe.knobs))
    elif isinstance(recipe, SchoolRecipe | StudyRecipe):
        apply(TextConfig(), pairs(recipe.knobs))


def pairs(knobs: dict[str, str]) -> list[str]:
    """Overrides as the command line writes them, name=value."""
    for name in knobs:
        if "=" in name:
            raise BadValue(refuse("an override's name has no =", name, "Correct the recipe"))
    return [f"{name}={value}" for name, value in sorted(knobs.items())]


def parse_recipe(text: str, name: str) -> Any:
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
