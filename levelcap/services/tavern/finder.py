"""What the palette finds (Ctrl-K or /): pages, heroes, checkpoints, matches, quests, commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query

from levelcap.campaign.story.matches import list_matches
from levelcap.kit.db import reading
from levelcap.kit.ids import spoken_name
from levelcap.services.door.rights import Routes
from levelcap.services.tavern import lore
from levelcap.services.tavern.names import Names
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Tavern
from levelcap.vault.search import Wanted, search

CHECKPOINTS, MATCHES, MOST = 6, 200, 20
Words = Annotated[str, Query(max_length=100)]
Row = dict[str, Any]  # kind, name, text, and `go` (an address) or `order`, `id`, `values`


def routes(tavern: Tavern) -> APIRouter:
    """One route; the page's script shows what it answers."""
    door = Routes(APIRouter(include_in_schema=False))

    @door.get("/find", "admin")
    async def find(q: Words = "") -> dict[str, Any]:
        """What fits all of the words, pages and commands first."""
        moment = await tavern.pulse.now()
        return {"found": find_rows(tavern, moment, q)[:MOST]}

    return door.where


def find_rows(tavern: Tavern, moment: Moment, words: str) -> list[Row]:
    """Everything that fits."""
    wanted = words.lower().replace(",", "").split()

    def fits(row: Row) -> bool:
        said = f"{row['kind']} {row['name']} {row['text']}".lower().replace(",", "")
        return all(word in said for word in wanted)

    found = [row for row in (*_places(), *_commands(moment)) if fits(row)]
    if wanted:
        found += _kept(tavern, words)
        found += [row for row in _matches(tavern) if fits(row)]
    return found


def _places() -> Iterator[Row]:
    for place in (*lore.PLACES, lore.ANYWHERE):
        yield {"kind": "page", "name": place.name, "text": place.text, "go": place.path}


def _commands(moment: Moment) -> Iterator[Row]:
    for action, name, _ in lore.STEERING:
        row = {"kind": "command", "name": name, "text": "training"}
        yield row | {"order": "/steer", "values": {"action": action}}
    for sheet in moment.sheets:
        if sheet.why_not is None and not sheet.chosen:
            row = {"kind": "hero", "name": lore.hero_name(sheet), "text": "let it train"}
            yield row | {"order": "/choose", "id": sheet.id}


def _kept(tavern: Tavern, words: str) -> list[Row]:
    with reading(tavern.realm.engine) as connection:
        rows, _ = search(connection, Wanted(words), limit=CHECKPOINTS)
    return [
        {
            "kind": "checkpoint",
            "name": spoken_name(row.hero, row.step),
            "text": f"{row.id} · Elo {lore.elo_of(row)}",
            "go": f"/vault/{row.id}",
        }
        for row in rows
    ]


def _matches(tavern: Tavern) -> Iterator[Row]:
    names = Names(tavern.realm)
    for match in tavern.realm.read(list_matches, None, MATCHES):
        if match.replay is not None:
            name = f"{names.of(match.a)} against {names.of(match.b)}"
            row = {"kind": "match", "name": name, "text": f"{match.world}, {match.time[:16]}"}
            yield row | {"go": f"/arena?replay={match.replay}"}
