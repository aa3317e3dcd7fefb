"""Text heroes in the realm, the torch side: a run of study, an exam of a checkpoint, sparring."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from levelcap.campaign.kinds.heroes import TextHeroFile, get_text_hero
from levelcap.campaign.story.runs import lesson_folder
from levelcap.campaign.work.lessons import FILE, publish_lessons
from levelcap.guild.drill import SKILL as SCHOOL
from levelcap.guild.engine import get_engine
from levelcap.guild.passives import FULL, LITE, PASSIVES, VERSION, exam
from levelcap.guild.skill import FULL_EXAM, Problem
from levelcap.kit.errors import Conflict, refuse
from levelcap.kit.publish import MANIFEST, sweep
from levelcap.learn.engine.knobs import apply
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.text.config import TextConfig
from levelcap.learn.text.exams import judge
from levelcap.learn.text.lessons import CURRENT, Lesson
from levelcap.learn.text.run import Request, Taught, train_text
from levelcap.learn.text.spar import spar
from levelcap.learn.text.update import make_batch
from levelcap.nets.meta import TEXT_WORLD
from levelcap.play.answers import BETWEEN, TextHero, load_text_hero

Locate = Callable[[str], Path]
PASSIVE_SEED = 0  # the same held-out problems for every checkpoint, so that drift is no luck


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


def evaluate_text(place: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Examine the hero in `place`: 96 problems of a level's whole mix, and the passives."""
    hero, guild = load_text_hero(place), get_engine()
    count = FULL if given["passives"] == "full" else LITE
    digits = {name: _digits(hero, exam(name, count, PASSIVE_SEED)) for name in PASSIVES}
    right = sum(text.count("1") for text in digits.values()) / (count * len(digits))
    found: dict[str, Any] = {
        "world": TEXT_WORLD, "scores": {}, "sealed": {}, "skill": SCHOOL, "level": 0,
        "passives": digits, "passives_version": VERSION, "accuracy": right, "val_loss": None,
        "text": f"passives {right:.0%} of {count * len(digits)}",
    }  # fmt: skip
    if given["skill_id"] in (None, SCHOOL):
        return found
    level, preset = given["level"] or 1, given["preset"]
    problems = guild.generate_eval_batch(given["skill_id"], level, FULL_EXAM, given["seed"], preset)
    score = judge(guild, hero, problems)
    name = preset or given["skill_id"]
    words = f"{name} level {level}: {score.accuracy:.0%} of {score.count} exact"
    return found | asdict(score) | {
        "skill": name, "level": level, "val_loss": held_out_loss(hero, problems),
        "text": f"{words}, {found['text']}",
    }  # fmt: skip


def _digits(hero: TextHero, problems: list[Problem]) -> str:
    """One digit a problem in the order asked: 1 answered exactly, 0 not."""
    right = hero.exact([p.prompt for p in problems], [p.answer for p in problems])
    return "".join("1" if hit else "0" for hit in right)


@torch.no_grad()
def held_out_loss(hero: TextHero, problems: list[Problem]) -> float | None:
    """Mean loss of the wanted answers' tokens, end marks included; None: not a number."""
    tokens = hero.tokens
    batch = make_batch(
        [
            Lesson(
                CURRENT, tokens.encode(p.prompt + BETWEEN), [*tokens.encode(p.answer), tokens.end]
            )
            for p in problems
        ],
        tokens.pad,
    )
    loss = float(functional.cross_entropy(hero.net(batch.rows, batch.at), batch.wanted))
    return loss if math.isfinite(loss) else None


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
