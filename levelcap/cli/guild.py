"""`levelcap guild …` and `levelcap hero …`: skills, where a hero stands in them, who trains."""

from __future__ import annotations

from typing import Any

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
from levelcap.cli.options import AsJson, Int
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.vault.ask import id_of


def show(*, hero: str = KINDS["text"].first_hero, json_: AsJson = False) -> None:
    """Where a text hero stands: levels, progress, forms, what is weak, passives, cap.

    Parameters
    ----------
    hero
        A text hero.
    json_
        Print one JSON object instead.
    """
    with realm() as opened:
        found = opened.read(guild_sheet, hero)
    if json_:
        say_json(found.as_json())
        return
    if not found.skills:
        say(f"{hero} has not begun. Let it train with: levelcap hero switch {hero}")
    for row in found.skills:
        for line in _story(row):
            say(line)
    if found.passives is not None:
        _show_passives(found.passives)


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


def _show_passives(found: PassiveTable) -> None:
    title = f"Passives of {found.checkpoint} against {found.base or 'no schooled base yet'}"
    cells = []
    for row in found.passives:
        base = None if row.base is None else f"{row.base:.0%}"
        cells.append((row.name, row.right, row.count, base, f"{row.chance:.0%}", row.drift))
    print_table(table(("passive", "right", "of", "base", "chance", "drift"), cells, title))


def problem(
    skill: str = "bin", /, *, level: Int = 1, count: Int = 1, seed: Int = 0, answer: bool = True
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
        say(words)


def evaluate(
    checkpoint: str = "latest",
    /,
    *,
    skill: str | None = None,
    level: Int | None = None,
    full: bool = False,
    seed: Int = 0,
) -> None:
    """Queue an exam of a text hero's checkpoint: 96 problems of a level, and the passives.

    Parameters
    ----------
    checkpoint
        An id, champion, latest or a folder.
    skill
        A skill or preset; default: what it was trained on.
    level
        Default: the level it works on.
    full
        30 problems of each passive, not 5.
    seed
        Of the problems.
    """
    recipe = {"quest": "evaluate", "skill": skill, "level": level, "seed": seed}
    _enter(recipe | {"passives": "full" if full else "lite"}, checkpoint)


def spar(
    checkpoint: str = "latest",
    /,
    *,
    skill: str = "bin",
    level: Int | None = None,
    count: Int = 400,
    seed: Int = 0,
) -> None:
    """Queue sparring: wrong answers to fresh problems become lessons, trained on soon.

    Parameters
    ----------
    checkpoint
        An id, champion, latest or a folder.
    skill
        A skill or preset.
    level
        Default: the level the hero works on.
    count
        Problems.
    seed
        Of the problems.
    """
    recipe = {"quest": "spar", "skill": skill, "level": level, "count": count, "seed": seed}
    _enter(recipe, checkpoint)


def _enter(values: dict[str, Any], checkpoint: str) -> None:
    with realm() as opened:
        campaign = campaign_for(opened.store, "text")
        entry = checkpoint_of(Desk(opened.store, campaign, ""), id_of(checkpoint))
        recipe = read_recipe({**values, "checkpoint": entry.id})
        quest = enter(opened.store, campaign, recipe, source="person")
    say(f"{quest.id}: {quest.title} ({quest.status})")


def heroes() -> None:
    """List the heroes: kind, level, campaign, and which one trains."""
    cells = []
    with realm() as opened:
        for hero in all_heroes().values():
            row = opened.read(sheet, hero)
            name, level = f"{hero.name} · {hero.subtitle}", row.stats["level"].value
            campaign = row.campaign and f"{row.campaign.name} {row.campaign.status}"
            trains = "yes" if row.chosen else row.why_not or "no"
            cells.append((hero.id, name, hero.kind, level, campaign, trains))
    print_table(table(("id", "name", "kind", "level", "campaign", "trains"), cells))


def switch(hero: str, /) -> None:
    """Let this hero train; the present one's run ends with a checkpoint and waits for its turn."""
    with realm() as opened:
        found = control.switch(opened.store, hero)
    say(f"{hero} trains now: {found.name}")
