"""Exams of text heroes in the database: levels passed, how near the next is, what is weak.

A run writes its exams into events.jsonl; `take_exams` copies what is new into the table `exams`,
says level-ups, and keeps peaks. An exam is known by run, update and kind, so a run that was killed
and repeats some counts them once. A preset of a skill (bin_add) has a standing of its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from levelcap.campaign.story import campaigns, rows
from levelcap.campaign.story.events import say
from levelcap.campaign.story.rows import Row
from levelcap.campaign.story.runs import Run, cost_before, new_lines, run_folder
from levelcap.campaign.story.values import get_value, set_value
from levelcap.guild.drills.drill import SKILL as SCHOOL
from levelcap.guild.engine import get_engine
from levelcap.guild.progress import LEAST_FOR_A_RULE, POOLED, WINDOW, XP_SCALE
from levelcap.guild.skill import Pool, Skill
from levelcap.kit.db import Connection
from levelcap.kit.errors import unknown_name
from levelcap.vault.ledger import row_of

WEAK = 0.8
EXAMS = ("evaluation", "confirmation")
# Figures by form, operation and primitive are pooled over the last ten exams; a day has thousands.
_FORGET = (
    "UPDATE exams SET data = '{}' WHERE run = :r AND data != '{}'"
    " AND seq <= (SELECT max(seq) FROM exams WHERE run = :r) - 50"
)
_BY = ("by_form", "by_operation", "by_primitive")


@cache
def tracks() -> dict[str, tuple[Skill, str | None]]:
    """Name of a standing -> skill and preset: every skill, then every preset."""
    skills = get_engine().skills.values()
    found: dict[str, tuple[Skill, str | None]] = {skill.id: (skill, None) for skill in skills}
    return found | {preset: (skill, preset) for skill in skills for preset in skill.presets}


def track(name: str) -> tuple[Skill, str | None]:
    """Skill and preset of a standing's name.

    Raises:
        UnknownName: there is none.
    """
    if name not in tracks():
        raise unknown_name("skill", name, tracks())
    return tracks()[name]


def take_exams(connection: Connection, run: Run, hero: campaigns.Named) -> int:
    """Copy what a study run has written since the last time; returns the number of exams."""
    if run.kind != "study" or run.campaign is None or run.skill in (None, SCHOOL):
        return 0
    path, mark = run_folder(run.id) / "events.jsonl", f"exams {run.id}"
    found, end = new_lines(path, int(get_value(connection, mark, 0)))
    taken = 0
    for row in found:
        if row.get("event") in EXAMS:
            taken += _enter(connection, run, row, hero)
        elif row.get("event") == "level_up" and row["mastered"]:
            _master(connection, run, row)
    if found:
        set_value(connection, mark, end)
    connection.execute(_FORGET, {"r": run.id})
    return taken


def _enter(connection: Connection, run: Run, row: dict[str, Any], hero: campaigns.Named) -> int:
    skill, _ = track(str(run.skill))
    level = int(row["level"])
    values = {
        "run": run.id,
        "step": int(row["update"]),
        "kind": row["event"],
        "campaign": run.campaign,
        "skill": run.skill,
        "level": level,
        "outcome": row["outcome"],
        "accuracy": row["accuracy"],
        "count": row["count"],
        "xp": int(XP_SCALE * skill.file.levels[level - 1].xp * row["accuracy"]),
        "mastered": 0,
        "core_seconds": cost_before(connection, run, run.skill) + row["core_seconds"],
        "data": {name: row[name] for name in _BY},
    }
    fresh = rows.insert(connection, "exams", values, "ON CONFLICT DO NOTHING")
    if fresh and row["outcome"] == "level_up":
        _rise(connection, run, level, values["core_seconds"], hero)
    return fresh


def _rise(
    connection: Connection, run: Run, level: int, spent: float, hero: campaigns.Named
) -> None:
    """A level is passed: the peak, the event, and whether it never went faster."""
    assert run.campaign is not None and run.skill is not None
    campaign, reached = campaigns.get(connection, run.campaign), level + 1
    if reached > campaign.peak_skill_levels.get(run.skill, 1):
        campaigns.note_level(connection, campaign.id, run.skill, reached)
    data = {"hero": hero.id, "skill": run.skill, "level": reached, "run": run.id}
    said = f"{hero.name}: {run.skill} level {reached} after {spent:,.0f} core-seconds"
    say(connection, "hero.level_up", said, severity="success", data=data)
    query = (
        "SELECT min(core_seconds) FROM exams JOIN campaigns ON campaigns.id = campaign"
        " WHERE hero_id = :h AND skill = :s AND level = :l AND outcome = 'level_up'"
        " AND campaign != :c"
    )
    asked = {"h": hero.id, "s": run.skill, "l": level, "c": campaign.id}
    before = connection.execute(query, asked).scalar_one()
    if before is not None and spent < before:
        best = f"{reached} in {spent:,.0f} core-seconds, before {before:,.0f}"
        said = f"{hero.name}: personal best, {run.skill} level {best}"
        data |= {"personal_best": spent}
        say(connection, "hero.stat_change", said, severity="success", data=data)


def _master(connection: Connection, run: Run, row: dict[str, Any]) -> None:
    query = (
        "UPDATE exams SET mastered = 1 WHERE run = :r AND step = :s AND kind = 'confirmation'"
        " AND mastered = 0"
    )
    if connection.execute(query, {"r": run.id, "s": row["update"]}).rowcount:
        level = int(row["level"]) - 1
        said = f"{run.skill} level {level} is mastered: every form at 60 % or more"
        data = {"skill": run.skill, "level": level, "run": run.id}
        say(connection, "hero.skill_up", said, severity="success", data=data)


def level_of(connection: Connection, campaign: campaigns.Campaign, name: str) -> int:
    """The level a hero works on: passed in this campaign, or brought by its first checkpoint."""
    query = (
        "SELECT coalesce(max(level), 0) + 1 FROM exams"
        " WHERE campaign = :c AND skill = :s AND outcome = 'level_up'"
    )
    level = rows.number(connection, query, c=campaign.id, s=name)
    if campaign.starting_checkpoint is not None:
        begun = row_of(connection, campaign.starting_checkpoint)
        if begun is not None and begun.skill_name == name:
            level = max(level, begun.skill_level or 1)
    return min(level, track(name)[0].levels)


Counts = dict[str, list[int]]  # name -> right and count


@dataclass(frozen=True)
class SkillStanding:
    """Where a hero stands in a skill (or preset); what is unknown is None.

    window: accuracies of the evaluations that count towards the next level. forms, operations,
    primitives: over the last ten exams. level_ups: level begun, core-seconds spent by then.
    """

    skill: str
    of: str
    preset: str | None
    title: str
    version: int
    level: int
    levels: int
    level_name: str
    threshold: float
    mastered: list[int]
    xp: int
    exams: int
    core_seconds: float | None
    window: list[float]
    mean: float | None
    accuracy: float | None
    peak: float | None
    outcome: str | None
    forms: Counts
    operations: Counts
    primitives: Counts
    pool: Pool
    level_ups: list[tuple[int, float]]


def standing(connection: Connection, campaign: campaigns.Campaign, name: str) -> SkillStanding:
    """Read it from the exams of the campaign."""
    skill, preset = track(name)
    level = level_of(connection, campaign, name)
    rows = connection.execute(
        "SELECT * FROM exams WHERE campaign = :c AND skill = :s ORDER BY seq DESC LIMIT 10",
        {"c": campaign.id, "s": name},
    ).all()
    totals = connection.execute(
        "SELECT count(*) AS exams, coalesce(sum(xp), 0) AS xp, max(core_seconds) AS spent,"
        " max(CASE level WHEN :l THEN accuracy END) AS peak"
        " FROM exams WHERE campaign = :c AND skill = :s",
        {"c": campaign.id, "s": name, "l": level},
    ).one()
    ups = level_ups(connection, campaign.id, name)
    window = _window(rows)
    return SkillStanding(
        skill=name,
        of=skill.id,
        preset=preset,
        title=skill.name,
        version=skill.version,
        level=level,
        levels=skill.levels,
        level_name=skill.file.levels[level - 1].name,
        threshold=skill.file.threshold,
        mastered=sorted({row.level for row in ups if row.mastered}),
        xp=int(totals.xp),
        exams=int(totals.exams),
        core_seconds=totals.spent,
        window=window,
        mean=sum(window) / WINDOW if len(window) == WINDOW else None,
        accuracy=rows[0].accuracy if rows else None,
        peak=totals.peak,
        outcome=rows[0].outcome if rows else None,
        forms=pooled(rows, "by_form"),
        operations=pooled(rows, "by_operation"),
        primitives=pooled(rows, "by_primitive"),
        pool=skill.pool(level, preset),
        level_ups=[(row.level + 1, round(row.core_seconds, 1)) for row in ups],
    )


def level_ups(connection: Connection, campaign: str, name: str) -> list[Any]:
    """Passed levels in order: level, core_seconds spent by then, mastered."""
    return connection.execute(
        "SELECT level, core_seconds, mastered FROM exams WHERE campaign = :c AND skill = :s"
        " AND outcome = 'level_up' ORDER BY seq",
        {"c": campaign, "s": name},
    ).all()


def earned_xp(connection: Connection, campaign: str) -> int:
    """XP of all exams of a campaign."""
    query = "SELECT coalesce(sum(xp), 0) FROM exams WHERE campaign = :c"
    return rows.number(connection, query, c=campaign)


def highest_level(connection: Connection, hero: str) -> int:
    """The highest level a hero has reached by an exam in any campaign; 0: none."""
    query = (
        "SELECT coalesce(max(level) + 1, 0) FROM exams JOIN campaigns c ON c.id = campaign"
        " WHERE c.hero_id = :h AND outcome = 'level_up'"
    )
    return rows.number(connection, query, h=hero)


def levels(connection: Connection, campaign: campaigns.Campaign | None) -> dict[str, int]:
    """Skill -> the level a text hero works on."""
    if campaign is None:
        return {}
    plain = [name for name, (_, preset) in tracks().items() if preset is None]
    names = dict.fromkeys((*plain, *campaign.peak_skill_levels))
    return {name: level_of(connection, campaign, name) for name in names}


def _window(rows: Sequence[Any]) -> list[float]:
    """Accuracies of the evaluations that count towards the next level, oldest first."""
    found: list[float] = []
    for row in rows:
        same = row.run == rows[0].run and row.kind == "evaluation"
        if not same or row.level != rows[0].level or len(found) == WINDOW:
            break
        found.append(row.accuracy)
    return found[::-1]


def pooled(rows: Sequence[Any], which: str) -> Counts:
    """Right and count of every name over the last ten exams."""
    found: Counts = {}
    for row in rows[:POOLED]:
        for name, (right, count) in json.loads(row.data)[which].items():
            before = found.get(name, [0, 0])
            found[name] = [before[0] + right, before[1] + count]
    return found


def weak(found: Counts, bar: float = WEAK) -> list[str]:
    """Names below the bar with at least 30 problems, weakest first."""
    rates = {n: right / count for n, (right, count) in found.items() if count >= LEAST_FOR_A_RULE}
    return sorted((name for name in rates if rates[name] < bar), key=lambda name: rates[name])


def standings(connection: Connection, campaign: campaigns.Campaign) -> list[SkillStanding]:
    """Every skill, and every preset that was examined."""
    query = "SELECT DISTINCT skill FROM exams WHERE campaign = :c"
    seen = set(connection.execute(query, {"c": campaign.id}).scalars())
    names = [name for name, (_, preset) in tracks().items() if preset is None or name in seen]
    return [standing(connection, campaign, name) for name in names]


@dataclass(frozen=True)
class Best(Row):
    """A level of a skill, reached in the fewest core-seconds."""

    skill: str
    level: int
    core_seconds: float
    campaign: str


def bests(connection: Connection, hero: str) -> list[Best]:
    """Personal bests over all campaigns: each level of each skill in the fewest core-seconds."""
    query = (
        "SELECT skill, level + 1 AS level, min(core_seconds) AS core_seconds, campaign FROM exams"
        " JOIN campaigns ON campaigns.id = campaign WHERE hero_id = :h AND outcome = 'level_up'"
        " GROUP BY skill, level ORDER BY skill, level"
    )
    return rows.select(connection, Best, query, h=hero)
