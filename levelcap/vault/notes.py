"""What people write beside a checkpoint or a run: a note, and tags to find it by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from levelcap.kit.db import Connection
from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.kit.ids import check_words
from levelcap.vault.assets import now

LONGEST = 500  # characters of a note
MOST_TAGS = 12
_TAG = re.compile(r"[a-z0-9][a-z0-9.-]{0,30}")


@dataclass(frozen=True)
class Note:
    """The note and the tags of one checkpoint or run; changed "": there are none."""

    subject: str
    text: str = ""
    tags: tuple[str, ...] = ()
    changed: str = ""


def notes_of(connection: Connection, subjects: Iterable[str | None]) -> dict[str, Note]:
    """Subject -> its note, of those that have one."""
    query = (
        "SELECT subject, text, tags, changed FROM notes"
        " WHERE subject IN (SELECT value FROM json_each(:s))"
    )
    rows = connection.execute(query, {"s": json.dumps([one for one in subjects if one])})
    return {row.subject: Note(row[0], row[1], tuple(json.loads(row[2])), row[3]) for row in rows}


def annotate(
    connection: Connection, subject: str, text: str | None = None, tags: Sequence[str] | None = None
) -> Note:
    """Write a note, tags, or both; None leaves what is there, empty takes it away.

    Raises:
        UnknownName: neither a checkpoint nor a run with one. BadValue: a note or tag of odd form.
    """
    known = "SELECT EXISTS (SELECT 1 FROM ledger WHERE id = :s OR run = :s)"
    if not connection.execute(known, {"s": subject}).scalar_one():
        query = "SELECT id FROM ledger ORDER BY seq DESC LIMIT 20"
        raise unknown_name("checkpoint or run", subject, connection.execute(query).scalars())
    before = notes_of(connection, [subject]).get(subject, Note(subject))
    words = before.text if text is None else check_words(text).strip()
    if len(words) > LONGEST:
        what = f"a note has at most {LONGEST} characters"
        raise BadValue(refuse(what, len(words), "Shorten it"))
    made = Note(subject, words, before.tags if tags is None else _checked(tags), now())
    connection.execute(
        "INSERT INTO notes (subject, text, tags, changed) VALUES (:s, :w, :g, :c)"
        " ON CONFLICT (subject) DO UPDATE SET text = :w, tags = :g, changed = :c",
        {"s": subject, "w": made.text, "g": json.dumps(made.tags), "c": made.changed},
    )
    return made


def is_run(connection: Connection, name: str) -> bool:
    """Is this the id of a run that a checkpoint came from?"""
    query = "SELECT EXISTS (SELECT 1 FROM ledger WHERE run = :r)"
    return bool(connection.execute(query, {"r": name}).scalar_one())


def all_tags(connection: Connection) -> list[str]:
    """Every tag that is used."""
    query = "SELECT DISTINCT value FROM notes, json_each(notes.tags) ORDER BY value"
    return list(connection.execute(query).scalars())


def _checked(tags: Sequence[str]) -> tuple[str, ...]:
    found = tuple(sorted({tag.strip().lower() for tag in tags if tag.strip()}))
    for tag in found:
        if not _TAG.fullmatch(tag):
            remedy = "Use up to 31 letters, digits, dots and dashes, e.g. good-aim"
            raise BadValue(refuse("this is no tag", tag, remedy))
    if len(found) > MOST_TAGS:
        raise BadValue(refuse(f"at most {MOST_TAGS} tags", len(found), "Take some away"))
    return found
