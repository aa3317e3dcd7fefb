"""`levelcap guild …` and `levelcap hero …`: skills, where a hero stands in them, who trains."""

from __future__ import annotations

import json
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from levelcap.campaign.kinds.heroes import KINDS, all_heroes
from levelcap.campaign.realm import realm
from levelcap.campaign.sheet.drift import PassiveTable
from levelcap.campaign.sheet.guild import SkillSheet, guild_sheet
from levelcap.campaign.sheet.hero import sheet
from levelcap.campaign.story.skills import track
from levelcap.campaign.wheel import control
from levelcap.campaign.work.base import Desk
from levelcap.campaign.work.desk import campaign_for, enter
from levelcap.campaign.work.lessons import checkpoint_of
from levelcap.campaign.work.recipes import read_recipe
from levelcap.kit.db import reading

AsJson = Annotated[bool, Parameter(name="--json")]


def show(*, hero: str = KINDS["text"].first_hero, json_: AsJson = False) -> None:
    """Where a text hero stands: levels, progress, forms, what is weak, passives, cap.

    Parameters
    ----------
    hero
        A text hero.
    json_
        Print one JSON object instead.
    """
    with realm() as opened, reading(opened.engine) as connection:
        found = guild_sheet(connection, hero)
    if json_:
        _console().print(json.dumps(found.as_json()))
        return
    if not found.skills:
        _console().print(f"{hero} has not begun. Let it train with: levelcap hero switch {hero}")
    for row in found.skills:
        for line in _story(row):
            _console().print(line, markup=False)
    if found.passives is not None:
        _console().print(_passives(found.passives))


def _story(sheet: SkillSheet) -> list[str]:
    row, honours = sheet.standing, sheet.honours
    last = ", ".join(f"{share:.0%}" for share in row.window) or "not examined yet"
    lines = [
        f"{row.skill}: {row.title}, level {row.level} of {row.levels} "
        f"({row.level_name}), {row.xp} XP, {honours.title_won or 'no title yet'}",
        f"  next      mean of three exams of {row.threshold:.0%} or more; last: {last}",
        f"  cap       {sheet.cap.words}",
    ]
    if row.forms:
        shown = ", ".join(f"{n} {r}/{c}" for n, (r, c) in row.forms.items())
        lines.append(f"  forms     {shown}")
    return lines + [f"  warning   {words}" for words in honours.warnings]


def _passives(found: PassiveTable) -> Table:
    title = f"Passives of {found.checkpoint} against {found.base or 'no schooled base yet'}"
    table = Table(title=title, title_justify="left")
    for name in ("passive", "right", "of", "base", "chance", "drift"):
        table.add_column(name)
    for row in found.passives:
        base = "" if row.base is None else f"{row.base:.0%}"
        table.add_row(
            row.name,
            str(row.right),
            str(row.count),
            base,
            f"{row.chance:.0%}",
            row.drift or "",
        )
    return table


def problem(
    skill: str = "bin", /, *, level: int = 1, count: int = 1, seed: int = 0, answer: bool = True
) -> None:
    """Print problems of a skill, as they are taught.

    Parameters
    ----------
    skill
        A skill or preset: bin, sy, bin_add.
    level
        Their level.
    count
        How many.
    seed
        Other seeds give other problems.
    answer
        With the right answer below each.
    """
    found, preset = track(skill)
    for number in range(count):
        made = found.lesson(level, seed=seed, index=number, preset=preset)
        words = f"{made.prompt}\n{made.answer}\n" if answer else f"{made.prompt}\n"
        _console().print(words, markup=False)


def evaluate(
    checkpoint: str = "latest",
    /,
    *,
    skill: str | None = None,
    level: int | None = None,
    full: bool = False,
    seed: int = 0,
) -> None:
    """Queue an exam of a text hero's checkpoint: 96 problems of a level, and the passives.

    Parameters
    ----------
    checkpoint
        Its id, latest or champion.
    skill
        A skill or preset; default: what it was trained on.
    level
        Default: the level it works on.
    full
        30 problems of each passive, not 5.
    seed
        Of the problems.
    """
    recipe = {
        "quest": "evaluate",
        "skill": skill,
        "level": level,
        "seed": seed,
        "passives": "full" if full else "lite",
    }
    _enter(recipe, checkpoint)


def spar(
    checkpoint: str = "latest",
    /,
    *,
    skill: str = "bin",
    level: int | None = None,
    count: int = 400,
    seed: int = 0,
) -> None:
    """Queue sparring: wrong answers to fresh problems become lessons, trained on soon.

    Parameters
    ----------
    checkpoint
        Its id, latest or champion.
    skill
        A skill or preset.
    level
        Default: the level the hero works on.
    count
        Problems.
    seed
        Of the problems.
    """
    _enter(
        {"quest": "spar", "skill": skill, "level": level, "count": count, "seed": seed}, checkpoint
    )


def _enter(values: dict[str, Any], checkpoint: str) -> None:
    with realm() as opened:
        campaign = campaign_for(opened.store, "text")
        entry = checkpoint_of(Desk(opened.store, campaign, ""), checkpoint)
        recipe = read_recipe({**values, "checkpoint": entry.id})
        quest = enter(opened.store, campaign, recipe, source="person")
    _console().print(f"{quest.id}: {quest.title} ({quest.status})")


def heroes() -> None:
    """List the heroes: kind, level, campaign, and which one trains."""
    table = Table()
    for name in ("id", "name", "kind", "level", "campaign", "trains"):
        table.add_column(name)
    with realm() as opened, reading(opened.engine) as connection:
        for hero in all_heroes().values():
            row = sheet(connection, hero)
            campaign = row.campaign
            table.add_row(
                hero.id,
                f"{hero.name} · {hero.subtitle}",
                hero.kind,
                str(row.stats["level"].value),
                "" if campaign is None else f"{campaign.name} {campaign.status}",
                "yes" if row.chosen else row.why_not or "no",
            )
    _console().print(table)


def switch(hero: str, /) -> None:
    """Let this hero train; the present one's run ends with a checkpoint and waits for its turn."""
    with realm() as opened:
        found = control.switch(opened.store, hero)
    _console().print(f"{hero} trains now: {found.name}")


def _console() -> Console:
    return Console(highlight=False, soft_wrap=True)
