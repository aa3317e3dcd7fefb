"""`/quests`: the board. Drop recipes or lessons, move, retry or call off a quest, copy commands.

`/quests/<id>` is one of them; `?kind=` is a kind of quest whose recipe is filled in as a form.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from fastapi import APIRouter, Query, Request
from pydantic import Field

from levelcap.campaign.sheet.waiting import why_waits
from levelcap.campaign.story import quests, runs
from levelcap.campaign.story.quests import Quest
from levelcap.campaign.story.runs import Run
from levelcap.campaign.work.table import RECIPES
from levelcap.jobs.job import PRIORITIES
from levelcap.kit.db import Connection, reading
from levelcap.kit.documents import load_yaml
from levelcap.kit.errors import LevelcapError
from levelcap.kit.paths import without_paths
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.rights import Routes
from levelcap.services.tavern.orders import OrderBody, Said, asks
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View

SHOWN = 20
LESSONS_CAP = 16 << 20
HELD = ("record", "imitate", "reinforce", "league", "hunt", "school", "study")  # by pausing
FileName = Annotated[str, Query(max_length=200)]
TEMPLATES = {
    "record": "quest: record\nworld: duel\nteacher: master\npartner: veteran\n"
    "games: 400\nseed: 1\n",
    "imitate": "quest: imitate\nworld: duel\nshards: [{shard}]\npolicies: [master]\nminutes: 0.5\n",
    "reinforce": "quest: reinforce\nworld: duel\nfrom: champion\nminutes: 2\nseed: 1\n"
    "set: {engine.schedule: constant}\n",
    "league": "quest: league\nworld: duel\nfrom: champion\nminutes: 30\n",
    "hunt": "quest: hunt\nworld: duel\ncheckpoint: champion\ncore_minutes: 20\n",
    "trial": "quest: trial\ncheckpoint: latest\nagainst: champion\nminutes: 10\n",
    "evaluate": "quest: evaluate\ncheckpoint: latest\ngames: 400\n",
}
TEXT_TEMPLATES = {
    "study": "quest: study\nskill: bin\nfrom: latest\nminutes: 2\n",
    "spar": "quest: spar\nskill: bin\ncheckpoint: latest\ncount: 400\n",
    "evaluate": "quest: evaluate\ncheckpoint: latest\nskill: bin\npassives: full\n",
}


class QuestsAsked(Asked):
    """id: which quest is open; kind: whose recipe is filled in."""

    path, one = "/quests", "id"
    id: Annotated[str, Field(max_length=100)] = ""
    kind: Annotated[str, Field(max_length=40)] = ""


@dataclass(frozen=True)
class RecipeField:
    """One line of a recipe as a form has it; choices: () is whatever a person writes."""

    name: str
    value: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """What the template shows."""

    rows: list[Quest]
    waits: dict[str, str]  # quest -> why
    opened: Quest | None
    fields: list[RecipeField]
    runs: dict[str, Run]
    recipes: dict[str, str]  # kind -> a start of a recipe
    open: tuple[str, ...] = tuple(quests.OPEN)
    priorities: tuple[str, ...] = tuple(PRIORITIES)


def plain_name(name: str) -> str:
    """A file's name as the Keeper takes it: browsers add spaces and brackets to copies."""
    return re.sub(r"[\s()\[\]+,']+", "-", name.strip()).replace("-.", ".").strip("-")


def _add(keeper: KeeperClient, given: OrderBody) -> Said:
    name, text = str(given.values.get("name", "")), str(given.values.get("text", ""))
    return Said("On the board", keeper.upload_quest(plain_name(name), text.encode())["title"])


def _teach(keeper: KeeperClient, name: str, data: bytes) -> dict[str, str]:
    """Lessons on the board, or why not; both as words for a person."""
    try:
        title, counts = keeper.upload_lessons(plain_name(name), data)
    except LevelcapError as error:
        return {"refused": without_paths(str(error))}
    words = ", ".join(f"{counts[n]:,} {n}" for n in ("lessons", "duplicates", "invalid", "leaks"))
    said = f"{title}. Of {counts['rows']:,} rows: {words}."
    return {"said": "On the board", "text": said, "tone": "good"}


class QuestsView(View[QuestsAsked]):
    """The board, and below it what can be asked for."""

    asked = QuestsAsked
    orders = {
        "add": _add,
        "priority": asks("POST", "/api/quests/{id}/priority", "Moved"),
        "cancel": asks("POST", "/api/quests/{id}/cancel"),
        "retry": asks("POST", "/api/quests/{id}/retry"),
    }

    def routes(self) -> APIRouter:
        """The page, its orders, and lesson files as they are: they may have 16 MiB."""
        door = Routes(super().routes())

        @door.post("/quests/lessons", "admin", body_cap=LESSONS_CAP, kind="application/x-ndjson")
        async def lessons(request: Request, name: FileName) -> dict[str, str]:
            """Lessons through the data gate."""
            data = await request.body()
            return await asyncio.to_thread(_teach, self.tavern.keeper, name, data)

        return door.where

    def read(self, moment: Moment, asked: QuestsAsked) -> Shown:
        """What is open, and the newest of what has ended."""
        training = {name: moment.training[name] for name in ("state", "held")}
        with reading(self.tavern.realm.engine) as connection:
            going = quests.list_quests(connection, status="open", limit=100)
            newest = quests.list_quests(connection, limit=SHOWN * 2)
            ended = [quest for quest in newest if quest.status not in quests.OPEN]
            rows = going[::-1] + ended[:SHOWN]
            wanted = {quest.run for quest in rows if quest.run is not None}
            known = {r.id: r for r in runs.list_runs(connection, limit=200) if r.id in wanted}
            shard = _newest_shard(connection) or "demos-…"
            opened = quests.get(connection, asked.id) if asked.id else None
            waiting = [quest for quest in rows if quest.status == "queued"]
            waits = {
                quest.id: why_waits(connection, quest, **training, trains=quest.kind in HELD)
                for quest in waiting
            }
        recipes = TEXT_TEMPLATES if moment.hero.kind == "text" else TEMPLATES
        filled = {kind: text.replace("{shard}", shard) for kind, text in recipes.items()}
        fields = _fields(asked.kind, filled[asked.kind]) if asked.kind in filled else []
        return Shown(rows, waits, opened, fields, known, filled)


def _fields(kind: str, text: str) -> list[RecipeField]:
    """The lines of a recipe, and what every recipe may have besides."""
    known = {field.alias or name: field for name, field in RECIPES[kind].model_fields.items()}
    values = {"title": "", "priority": known["priority"].default} | load_yaml(text)
    return [
        RecipeField(name, _line(value), _choices(known[name].annotation))
        for name, value in values.items()
        if name != "quest"
    ]


def _choices(annotation: Any) -> tuple[str, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _line(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | dict) else str(value)


def _newest_shard(connection: Connection) -> str | None:
    for quest in quests.list_quests(connection, status="done", limit=50):
        if quest.kind == "record" and quest.result:
            return str(quest.result.get("shard"))
    return None
