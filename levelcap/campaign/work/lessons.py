"""Lessons of the realm: dropped and sparred files as datasets.

A set of lessons is a published folder `lake/lessons/<name>` with `lessons.jsonl`, registered as a
dataset. Whatever is in one has passed the guild's data gate.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from levelcap.campaign.kinds.heroes import kind_of
from levelcap.campaign.story import runs
from levelcap.campaign.story.skills import tracks
from levelcap.campaign.work.base import Desk
from levelcap.guild.engine import get_engine
from levelcap.guild.gate import Report, check_lessons
from levelcap.jobs.store import Store
from levelcap.kit.db import Connection, Database, reading
from levelcap.kit.errors import BadValue, Conflict, refuse
from levelcap.kit.files import dump_line, write_bytes
from levelcap.kit.publish import MANIFEST, publish
from levelcap.vault.ask import ask_vault_first, resolve
from levelcap.vault.assets import find, place_of, register
from levelcap.vault.ledger import Entry
from levelcap.vault.lookup import newest_of_campaign
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


def newest(store: Store, campaign: str) -> str | None:
    """The newest checkpoint of a campaign, if it has one."""
    with reading(store.engine) as connection:
        found = newest_of_campaign(connection, campaign)
    return None if found is None else found.id


def checkpoint_of(desk: Desk, name: str) -> Entry:
    """A checkpoint of the campaign's hero by id, latest or champion.

    Raises:
        UnknownName: there is none. BadValue: it is one of another kind of hero.
    """
    kind = kind_of(desk.hero)
    entry = resolve(desk.store.engine, name, desk.hero)
    if entry.role != kind.role:
        what = f"this is no checkpoint of a {kind.name} hero"
        raise BadValue(refuse(what, entry.id, "Name one of its own"))
    return entry
