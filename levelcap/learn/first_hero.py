"""From nothing to a hero: record, imitate, (play as taught,) reinforce, in one budget of minutes.

    hero = raise_hero("duel", folder, minutes=5, seed=0)      # hero.sup, hero.rl: snapshots

The clock runs from the moment the caller names (the start of the command) to the last checkpoint;
judging comes afterwards and is not part of it. A hero that was interrupted continues.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.publish import MANIFEST
from levelcap.learn.engine.loop import Outcome
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.learn.imitation.config import ImitationConfig, for_family
from levelcap.learn.imitation.run import Imitated, imitate
from levelcap.learn.imitation.run import Request as ImitationRequest
from levelcap.learn.rl.config import RlConfig, for_world, taught_by
from levelcap.learn.rl.run import Request as RlRequest
from levelcap.learn.rl.run import reinforce
from levelcap.nets.family import DEFAULT, describe
from levelcap.nets.options import read_options
from levelcap.play.record.games import record
from levelcap.world.spec import split_world

Say = Callable[[str], None]


@dataclass(frozen=True)
class Recipe:
    """How much of each stage; the rest of the minutes is reinforcement."""

    teacher: str = "master"
    """the bot whose play is imitated"""
    partner: str = "veteran"
    """the bot it is recorded against"""
    games: int = 1_500
    """games recorded"""
    imitation_share: float = 0.1
    """share of the minutes spent on imitation"""
    imitation_most_s: float = 60.0
    """and no more than this"""
    taught_share: float = 0.0
    """share of the minutes in which it plays itself and does as the teacher would there"""


RECIPES: dict[str, Recipe] = {
    "duel": Recipe(games=3_000),
    "lms": Recipe(games=300, imitation_most_s=120.0),
    "siege": Recipe(games=100, imitation_share=0.1, imitation_most_s=180.0, taught_share=0.2),
    "crown": Recipe(games=100, imitation_share=0.25, imitation_most_s=180.0),
}


def recipe_of(world: str, family: str) -> Recipe | None:
    """The recipe of one of our rulesets for nets of this family; None for outside games."""
    recipe = RECIPES.get(split_world(world)[0])
    if recipe is None or family != "hierarchy":
        return recipe
    # It sees a fifth of a flat net's decisions a second, and a clone is as strong as it has seen
    # many (siege, against veteran: .38 after 2 M, .51 after 10 M); then the teacher at its elbow.
    taught = 1 / 3 if split_world(world)[0] == "duel" else 1 / 6
    return replace(recipe, imitation_share=1 / 7, imitation_most_s=600.0, taught_share=taught)


@dataclass(frozen=True)
class Hero:
    """What came out: the two snapshots and what each stage took."""

    sup: Path  # what the reinforcement began with
    rl: Path
    imitation: Imitated
    reinforcement: Outcome
    seconds: float
    core_seconds: float
    stages: dict[str, float]


def raise_hero(
    world: str,
    out: Path,
    *,
    minutes: float,
    seed: int = 0,
    size: str = "slim",
    family: str = DEFAULT,
    options: tuple[str, ...] = (),
    recipe: Recipe | None = None,
    rl: RlConfig | None = None,
    imitation: ImitationConfig | None = None,
    began: float | None = None,
    say: Say = lambda text: None,
    hooks: Hooks | None = None,
) -> Hero:
    """Raise a hero of `world` under `out`.

    minutes: from `began` (a time.time(), default now) to the last checkpoint. hooks are those of
    the reinforcement. Raises what its stages raise; done stages are not repeated. Ctrl-C in one
    of them ends all: KeyboardInterrupt.
    """
    recipe = recipe or recipe_of(world, family)
    if recipe is None:
        remedy = "Give one of our rulesets, or use levelcap reinforce for outside games"
        raise BadValue(refuse("no recipe for this world", world, remedy))
    began = time.time() if began is None else began
    core_began = time.process_time()
    marks = {"start": time.time() - began}
    shard = out / "demos"
    if not (shard / MANIFEST).exists():
        say(f"recording {recipe.games} games of {recipe.teacher} against {recipe.partner}")
        names = list(dict.fromkeys((recipe.teacher, recipe.partner)))
        spec = spec_of_world(world)
        views = describe(family, spec, size, options=read_options(options)).views
        kept = [recipe.teacher]
        record(names, world, recipe.games, seed, shard, keep=kept, views=views)
    marks["record"] = time.time() - began
    say(f"imitating {recipe.teacher}")
    school_s = min(recipe.imitation_most_s, recipe.imitation_share * minutes * 60)
    imitated = imitate(
        ImitationRequest(
            world,
            (shard,),
            out / "imitate",
            (recipe.teacher,),
            size,
            seed,
            family=family,
            options=options,
        ),
        imitation or for_family(family),
        Stops(minutes=school_s / 60),
    )
    _go_on(imitated.outcome)
    marks["imitate"] = time.time() - began
    sup = imitated.outcome.snapshot
    if recipe.taught_share > 0:
        say(f"playing under the eyes of {recipe.teacher}")
        beside = taught_by(recipe.teacher, world, family)
        stops = Stops(minutes=recipe.taught_share * minutes)
        taught = reinforce(RlRequest(world, out / "taught", sup, size, seed), beside, stops)
        _go_on(taught)
        sup = taught.snapshot
        marks["taught"] = time.time() - began
    left = max(1.0, minutes * 60 - (time.time() - began))
    say(f"reinforcing for {left:.0f} s")
    request = RlRequest(world, out / "reinforce", sup, size, seed)
    outcome = reinforce(request, rl or for_world(world, family), Stops(minutes=left / 60), hooks)
    _go_on(outcome)
    seconds = time.time() - began
    marks["reinforce"] = seconds
    stages = {
        name: marks[name] - marks[before]
        for before, name in zip(list(marks)[:-1], list(marks)[1:], strict=True)
    }
    return Hero(
        sup=sup,
        rl=outcome.snapshot,
        imitation=imitated,
        reinforcement=outcome,
        seconds=seconds,
        core_seconds=time.process_time() - core_began,
        stages={"start": marks["start"], **stages},
    )


def _go_on(outcome: Outcome) -> None:
    """A stage that was broken off is not followed by the next."""
    if outcome.interrupted:
        raise KeyboardInterrupt


def snapshots_of(hero: Hero) -> list[Path]:
    """The snapshots of the reinforcement, oldest first, the last one included."""
    return sorted(p for p in hero.rl.parent.iterdir() if (p / MANIFEST).exists())
