"""Lessons of the realm: dropped and sparred files as datasets, and what text recipes mean.

A set of lessons is a published folder `lake/lessons/<name>` with `lessons.jsonl`, registered as a
dataset. Whatever is in one has passed the guild's data gate.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from levelcap.campaign.kinds.heroes import ArenaHero, find_hero
from levelcap.campaign.story import campaigns, runs
from levelcap.campaign.story.skills import level_of, track, tracks
from levelcap.campaign.work.recipes import SchoolRecipe, SparRecipe, StudyRecipe
from levelcap.guild.drill import SKILL as SCHOOL
from levelcap.guild.engine import get_engine
from levelcap.guild.gate import Report, check_lessons
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, Database, reading, transaction
from levelcap.kit.errors import BadValue, Conflict, refuse
from levelcap.kit.files import dump_line, write_bytes
from levelcap.kit.publish import MANIFEST, publish
from levelcap.vault.ask import ask_vault_first, resolve
from levelcap.vault.assets import find, place_of, register
from levelcap.vault.ledger import Entry, get_ledger
from levelcap.vault.zones import load_zones

FILE = "lessons.jsonl"
MAX_BYTES = 64 << 20
DATASET = "dataset-"


def gate(path: Path) -> Report:
    """What the guild's data gate says of a file."""
    return check_lessons(path, list(get_engine().skills.values()))


def publish_lessons(name: str, rows: list[dict[str, Any]], made_by: str) -> Path:
    """Write a set of lessons, whole or not at all; one that exists is left as it is."""
    place = runs.lesson_folder(name)
    if not (place / MANIFEST).exists():
        data = b"".join(dump_line(row) for row in rows)
        publish(place, lambda tmp: write_bytes(tmp / FILE, data), made_by=made_by)
    return place


def keep(connection: Connection, name: str) -> str:
    """Register a published set of lessons; returns the dataset's id."""
    return register(connection, "dataset", runs.lesson_folder(name), zone=load_zones()["hot"])


def skill_of(report: Report) -> str | None:
    """The skill most rows of a file name, if it is one of the guild's."""
    named = Counter(str(row.get("skill")) for row in report.lessons)
    return next((name for name, _ in named.most_common(1) if name in tracks()), None)


def locate(engine: Database, name: str) -> Path:
    """The folder of a checkpoint or of a dataset.

    Raises:
        UnknownName: nothing bears this id. Corrupt: a checkpoint is damaged.
        Conflict: the dataset is gone.
    """
    if not name.startswith(DATASET):
        return ask_vault_first(name, engine=engine)
    with reading(engine) as connection:
        place = place_of(find(connection, name))
    if place is None:
        raise Conflict(refuse("this dataset is gone", name, "Drop its file again"))
    return place


def text_campaign(store: Store, wanted: str | None = None) -> str:
    """The campaign of a text hero that text quests go to; a first one is made when needed.

    Raises:
        BadValue: the wanted campaign belongs to a hero of the arena.
    """
    with transaction(store.engine) as connection:
        if wanted is not None:
            if isinstance(find_hero(campaigns.get(connection, wanted).hero_id), ArenaHero):
                remedy = "Leave the campaign out, or name one of a text hero"
                raise BadValue(refuse("this campaign is of a hero of the arena", wanted, remedy))
            return wanted
        hero = find_hero(campaigns.chosen_hero(connection))
        if isinstance(hero, ArenaHero):
            hero = find_hero(campaigns.FIRST_TEXT_HERO)
        found = campaigns.current(connection, hero.id)
        found = found or campaigns.create(connection, hero.id, f"{hero.name}'s first campaign")
        return found.id


def newest(store: Store, campaign: str) -> str | None:
    """The newest checkpoint of a campaign, if it has one."""
    found = get_ledger(store.engine).latest(campaign)
    return None if found is None else found.id


def checkpoint_of(store: Store, campaign: str, name: str) -> Entry:
    """A checkpoint of a campaign's hero by id, latest or champion.

    Raises:
        UnknownName: there is none. BadValue: it is one of another kind of hero.
    """
    with reading(store.engine) as connection:
        hero = campaigns.get(connection, campaign).hero_id
    entry = resolve(store.engine, name, hero)
    if entry.role != "text":
        what = "this is no checkpoint of a text hero"
        raise BadValue(refuse(what, entry.id, "Name one of its own"))
    return entry


def payload(store: Store, campaign_id: str, recipe: Any) -> dict[str, Any]:
    """The job's payload of a text recipe, names resolved to ids.

    Raises:
        UnknownName: a skill, checkpoint, run or dataset that does not exist. BadValue: a level or
        preset the skill does not have, or an arena hero's campaign.
    """
    text_campaign(store, campaign_id)
    with reading(store.engine) as connection:
        campaign = campaigns.get(connection, campaign_id)
    if isinstance(recipe, SchoolRecipe):
        return {
            "run": None, "hero": campaign.hero_id, "skill": SCHOOL, "minutes": recipe.minutes,
            "preset": None, "start": None, "level": 1, "lessons": [], "seed": recipe.seed,
            "knobs": recipe.knobs,
        }  # fmt: skip
    if isinstance(recipe, StudyRecipe) and recipe.run is not None:
        return _going_on(store, recipe)
    skill, preset = track(recipe.skill)
    with reading(store.engine) as connection:
        level = recipe.level or level_of(connection, campaign, recipe.skill)
        for name in getattr(recipe, "lessons", ()):
            find(connection, name)
    skill.check(level, preset)
    common = {"preset": preset, "level": level, "seed": recipe.seed}
    if isinstance(recipe, SparRecipe):
        entry = checkpoint_of(store, campaign_id, recipe.checkpoint)
        return common | {
            "skill_id": skill.id, "checkpoint": entry.id, "count": recipe.count, "lessons": None,
        }  # fmt: skip
    start = recipe.start and checkpoint_of(store, campaign_id, recipe.start).id
    return common | {
        "run": None, "hero": campaign.hero_id, "skill": skill.id, "start": start,
        "lessons": recipe.lessons, "minutes": recipe.minutes, "knobs": recipe.knobs,
    }  # fmt: skip


def _going_on(store: Store, recipe: StudyRecipe) -> dict[str, Any]:
    """A run that goes on differs from before in its minutes only."""
    query = (
        "SELECT jobs.id FROM jobs JOIN quests ON quests.job = jobs.id WHERE run = :r"
        " ORDER BY quests.seq DESC LIMIT 1"
    )
    with reading(store.engine) as connection:
        known = runs.get(connection, str(recipe.run))
        job = connection.execute(query, {"r": known.id}).scalar()
    if job is None or known.kind != "study":
        remedy = "Name a run of study, or leave run out"
        raise BadValue(refuse(f"this run of {known.kind} does not go on", known.id, remedy))
    return {**store.get(job).payload, "minutes": recipe.minutes}
