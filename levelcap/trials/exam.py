"""The exam of a text hero's checkpoint: fresh problems of a level's whole mix, and the passives."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from levelcap.guild.drills.drill import SKILL as SCHOOL
from levelcap.guild.engine import get_engine
from levelcap.guild.passives import FULL, LITE, PASSIVES, VERSION, exam
from levelcap.guild.skill import FULL_EXAM, Problem
from levelcap.learn.text.exams import judge
from levelcap.learn.text.lessons import CURRENT, Lesson
from levelcap.learn.text.update import make_batch
from levelcap.nets.meta import TEXT_WORLD
from levelcap.play.answers import BETWEEN, TextHero, load_text_hero
from levelcap.trials.panel import Progress

PASSIVE_SEED = 0  # the same held-out problems for every checkpoint, so that drift is no luck


def examine(
    place: Path,
    *,
    skill: str | None,
    preset: str | None,
    level: int | None,
    seed: int,
    passives: str = "lite",
    on_progress: Progress | None = None,
) -> dict[str, Any]:
    """Examine the hero in `place`; plain values, every answer included.

    skill None: the passives alone. passives: lite or full. on_progress: told (problems done,
    problems in all, what comes next and the score so far).
    """
    hero, guild = load_text_hero(place), get_engine()
    count = FULL if passives == "full" else LITE
    total = count * len(PASSIVES) + (0 if skill in (None, SCHOOL) else FULL_EXAM)
    digits: dict[str, str] = {}

    def tell(what: str) -> None:
        done, hits = count * len(digits), sum(text.count("1") for text in digits.values())
        if on_progress:
            so_far = f", {hits / done:.0%} right so far" if done else ""
            on_progress(done, total, f"{what}{so_far}")

    for name in PASSIVES:
        tell(f"passive {name}")
        digits[name] = _digits(hero, exam(name, count, PASSIVE_SEED))
    right = sum(text.count("1") for text in digits.values()) / (count * len(digits))
    found: dict[str, Any] = {
        "world": TEXT_WORLD,
        "scores": {},
        "sealed": {},
        "skill": SCHOOL,
        "level": 0,
        "passives": digits,
        "passives_version": VERSION,
        "accuracy": right,
        "val_loss": None,
        "text": f"passives {right:.0%} of {count * len(digits)}",
    }
    if skill in (None, SCHOOL):
        return found
    level = level or 1
    tell(f"{preset or skill} level {level}")
    problems = guild.generate_eval_batch(skill, level, FULL_EXAM, seed, preset)
    score = judge(guild, hero, problems)
    name = preset or skill
    words = f"{name} level {level}: {score.accuracy:.0%} of {score.count} exact"
    return (
        found
        | asdict(score)
        | {
            "skill": name,
            "level": level,
            "val_loss": held_out_loss(hero, problems),
            "text": f"{words}, {found['text']}",
        }
    )


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
