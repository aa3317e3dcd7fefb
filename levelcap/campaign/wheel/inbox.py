"""The inbox: files that people drop become quests, or go to quarantine with the reason.

    inbox/*.yaml                   a recipe, normal priority
    inbox/*.jsonl                  lessons for the text hero: checked by the guild's data gate
    inbox/high/*, inbox/low/*      the same with another priority
    inbox/quarantine/              what was refused, each with `<name>.reason.json`
    inbox/done/                    recipes that became quests

A file is taken when it has not changed for a second, so that one half copied is left alone.
Taking it is: enter the quest (its key is the file's content), then move the file away. A kill in
between finds the same quest again.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from levelcap.campaign.story import quests
from levelcap.campaign.story.events import say
from levelcap.campaign.work import lessons
from levelcap.campaign.work.desk import campaign_for, enter
from levelcap.campaign.work.recipes import MAX_BYTES, parse_recipe, read_recipe
from levelcap.campaign.work.study import StudyRecipe
from levelcap.guild.gate import Report, refuse_file
from levelcap.jobs.job import Refused
from levelcap.jobs.store import Store
from levelcap.kit.db import transaction
from levelcap.kit.errors import BadFile, BadValue, LevelcapError, refuse
from levelcap.kit.files import write_bytes, write_json
from levelcap.kit.ids import check_id, sha256_bytes, sha256_file, short_id
from levelcap.kit.paths import folder

SETTLE_S = 1.0
PRIORITIES = ("high", "normal", "low")
SUFFIXES = (".yaml", ".yml")
LESSONS = ".jsonl"
_OWN = frozenset({"quarantine", "done", *PRIORITIES})


def scan(store: Store, now: float | None = None) -> list[quests.Quest]:
    """Take in what lies in the inbox; returns the quests made of it."""
    moment = time.time() if now is None else now
    made = []
    for path, priority in _waiting(moment):
        try:
            made.append(_take(store, path, priority))
        except Refused:
            break  # the queue is full: the file waits in the inbox
        except (LevelcapError, OSError) as error:
            if path.exists():
                quarantine(store, path, str(error))
    return made


def _waiting(moment: float) -> list[tuple[Path, str]]:
    base = folder("inbox")
    found = []
    for place, priority in [(base, "normal"), *((base / p, p) for p in PRIORITIES)]:
        if not place.is_dir():
            continue
        for path in sorted(place.iterdir()):
            if path.name.startswith(".") or (place == base and path.name in _OWN):
                continue
            if moment - path.lstat().st_mtime >= SETTLE_S:
                found.append((path, priority))
    return found


def _take(store: Store, path: Path, priority: str) -> quests.Quest:
    if path.is_symlink() or not path.is_file():
        raise BadFile(refuse("only plain files are taken", path.name, "Drop the file itself"))
    if path.suffix.lower() == LESSONS:
        return _take_lessons(store, path, path.name, priority)[0]
    if path.suffix.lower() not in SUFFIXES:
        remedy = f"Drop a recipe ({', '.join(SUFFIXES)}) or lessons ({LESSONS})"
        raise BadFile(refuse("this kind of file is not known", path.name, remedy))
    return _done(path, enter_text(store, _read(path), path.name, priority))


def _done(path: Path, quest: quests.Quest) -> quests.Quest:
    """Put a file away that became a quest."""
    os.replace(path, _place("done") / f"{quest.id}{path.suffix.lower()}")
    return quest


def _place(name: str) -> Path:
    place = folder("inbox") / name
    place.mkdir(exist_ok=True)
    return place


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in name)[:80] or "file"


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        size = path.stat().st_size
        raise BadFile(refuse(f"a recipe has at most {MAX_BYTES} bytes", size, "Shorten it"))
    return data


def enter_text(store: Store, data: bytes, name: str, priority: str | None = None) -> quests.Quest:
    """Make a quest of a recipe's bytes; the same bytes twice within a campaign are one quest.

    Raises:
        BadFile, BadValue: not a recipe. UnknownName: it names what does not exist. Refused: full.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadFile(refuse("not UTF-8 text", name, "Save it as UTF-8")) from error
    recipe = parse_recipe(text, name)
    if priority in ("high", "low"):
        recipe = recipe.model_copy(update={"priority": priority})
    campaign = campaign_for(store, recipe.hero_kind)
    key = f"inbox-{short_id(sha256_bytes(data))}-{campaign}"
    return enter(store, campaign, recipe, source=f"inbox: {name}"[:100], key=key[:100])


def upload(store: Store, name: str, data: bytes) -> quests.Quest:
    """A recipe that came over HTTP: its name is checked, its bytes never leave the inbox.

    Raises:
        BadValue: a name that is no plain file name; and whatever `enter_text` raises.
    """
    check_id(name, "file")
    if Path(name).suffix.lower() == LESSONS:
        return upload_lessons(store, name, data)[0]
    if Path(name).suffix.lower() not in SUFFIXES:
        remedy = f"Send a recipe ({', '.join(SUFFIXES)})"
        raise BadValue(refuse("this kind of file is not known", name, remedy))
    try:
        return enter_text(store, data, name)
    except (BadFile, BadValue) as error:
        kept = _place("quarantine") / f"{time.time_ns()}-{name}"
        write_bytes(kept, data[:MAX_BYTES])
        _tell_why(kept, name, str(error))
        raise


def upload_lessons(store: Store, name: str, data: bytes) -> tuple[quests.Quest, Report]:
    """A lesson file that came over HTTP: the quest made of it, and what the gate found.

    Raises:
        BadValue: a name that is no plain file name. BadFile: the gate refuses the file.
    """
    check_id(name, "file")
    path = folder("inbox") / f".upload-{time.time_ns()}-{name}"
    write_bytes(path, data)
    try:
        return _take_lessons(store, path, name, "normal")
    except LevelcapError as error:
        if not isinstance(error, Refused):
            quarantine(store, path, str(error))
        raise
    finally:
        path.unlink(missing_ok=True)


def _take_lessons(
    store: Store, path: Path, name: str, priority: str
) -> tuple[quests.Quest, Report]:
    """A lesson file becomes a dataset and a quest of study; its bad lines go to quarantine."""
    if (size := path.stat().st_size) > lessons.MAX_BYTES:
        what = f"a lesson file has at most {lessons.MAX_BYTES} bytes"
        raise BadFile(refuse(what, size, "Split it"))
    report = lessons.gate(path)
    _set_aside(name, report)
    refuse_file(Path(name), report)
    made = f"lessons-{short_id(sha256_file(path))}"
    lessons.publish_lessons(made, report.lessons, "inbox")
    with transaction(store.engine) as connection:
        asset = lessons.keep(connection, made)
    campaign = campaign_for(store, StudyRecipe.hero_kind)
    recipe = read_recipe(
        {
            "quest": "study",
            "skill": lessons.skill_of(report) or "bin",
            "lessons": [asset],
            "priority": priority,
            "from": lessons.newest(store, campaign),
            "title": f"Study {len(report.lessons):,} lessons of {name}"[:80],
        }
    )
    key = f"inbox-{made}-{campaign}"[:100]
    quest = enter(store, campaign, recipe, source=f"inbox: {name}"[:100], key=key)
    return _done(path, quest), report


def _set_aside(name: str, report: Report) -> None:
    """The lines of a file that were rejected, in quarantine with their numbers and reasons."""
    if not report.rejects:
        return
    rows = [{"line": row.line, "reason": row.reason} for row in report.rejects]
    told = {name: getattr(report, name) for name in ("rows", "invalid", "leaks")}
    path = _place("quarantine") / f"{time.time_ns()}-{_safe(name)}.rejects.json"
    write_json(path, {"file": name[:200], **told, "rejects": rows})


def quarantine(store: Store, path: Path, reason: str) -> Path:
    """Put a file aside with the reason beside it."""
    safe = _safe(path.name)
    target = _place("quarantine") / f"{time.time_ns()}-{safe}"
    os.rename(path, target)
    _tell_why(target, path.name, reason)
    say(store.engine, "data.rejected", f"{safe}: {reason}", severity="warning", data={"file": safe})
    return target


def _tell_why(kept: Path, name: str, reason: str) -> None:
    why = kept.with_name(kept.name + ".reason.json")
    write_json(why, {"file": name[:200], "reason": reason})
