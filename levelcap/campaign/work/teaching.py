"""Text heroes in the realm, the torch side: a run of study, an exam of a checkpoint, sparring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from levelcap.campaign.kinds.heroes import TextHeroFile, get_text_hero
from levelcap.campaign.story.runs import lesson_folder
from levelcap.campaign.work.lessons import FILE, publish_lessons
from levelcap.guild.engine import get_engine
from levelcap.kit.errors import Conflict, refuse
from levelcap.kit.publish import MANIFEST, sweep
from levelcap.learn.engine.overrides import apply
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.text.config import TextConfig
from levelcap.learn.text.run import Request, Taught, train_text
from levelcap.learn.text.spar import spar
from levelcap.play.answers import load_text_hero

Locate = Callable[[str], Path]


def study(
    given: dict[str, Any], place: Path, locate: Locate, settings: list[str], hooks: Hooks
) -> Taught:
    """Begin or continue a run of study; see `work.Study` for what is given."""
    hero = get_text_hero(given["hero"])
    if hero.size is None:
        remedy = "Use dio-tiny, or a file of your own with a size"
        raise Conflict(refuse(f"{hero.name} cannot train here: {hero.why_not()}", hero.id, remedy))
    request = Request(
        given["skill"], place, given["preset"], hero.size, given["seed"],
        None if given["start"] is None else locate(given["start"]), given["level"],
        tuple(locate(name) / FILE for name in given["lessons"]),
    )  # fmt: skip
    config = apply(config_of(hero), settings)
    return train_text(request, config, Stops(minutes=given["minutes"]), hooks)


def config_of(hero: TextHeroFile) -> TextConfig:
    """The knobs a hero's file sets."""
    plain = TextConfig()
    engine = replace(
        plain.engine, optimizer=hero.optimizer, lr=hero.lr, hidden_lr=hero.hidden_lr, ema=hero.ema
    )
    return replace(plain, batch=hero.batch, engine=engine)


def sparring(place: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Spar and publish the lessons; nothing is published when every answer was right."""
    target = lesson_folder(given["lessons"])
    target.parent.mkdir(parents=True, exist_ok=True)
    sweep(target.parent)
    hero = load_text_hero(place)
    found = spar(
        get_engine(), hero, given["skill_id"], given["level"], given["count"], seed=given["seed"],
        preset=given["preset"],
    )  # fmt: skip
    if found.rows:
        publish_lessons(given["lessons"], found.rows, "sparring")
    return {
        "lessons": given["lessons"] if (target / MANIFEST).exists() else None,
        "skill": given["preset"] or given["skill_id"], "level": given["level"],
        "asked": found.asked, "wrong": found.wrong, "rows": len(found.rows),
        "weak": list(found.weak), "primitives": found.by_primitive,
    }  # fmt: skip
