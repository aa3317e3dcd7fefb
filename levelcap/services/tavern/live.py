"""What every open page hears: one WebSocket a tab, one message a look of the pulse.

A WebSocket does not count against the six HTTP/1.1 connections that a browser has to a host, so any
number of tabs can listen, and none depends on another. A message holds the kinds of what happened
(a page fetches its parts of those kinds again), words to announce, and the header when it differs.
"""

from __future__ import annotations

import json
import time
from typing import Any

from fastapi import APIRouter, WebSocket

from levelcap.kit.errors import BadValue, refuse
from levelcap.services.door.rights import Routes, right
from levelcap.services.door.sockets import Backlog, converse
from levelcap.services.tavern import lore
from levelcap.services.tavern.orders import asks
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Tavern, add_orders

BACKLOG = 30  # messages; a tab that sleeps longer loses the oldest and draws itself anew
SOUNDS = {"hero.level_up": "level", "vault.champion_promoted": "level"}
ORDERS = {
    "steer": asks("POST", "/api/training/control"),
    "choose": asks("POST", "/api/heroes/{id}/choose"),
}


class Live:
    """The tabs that listen."""

    def __init__(self, tavern: Tavern) -> None:
        self.tavern = tavern
        self._since = time.time_ns() // 10**6  # another number: the Tavern was started anew
        self._tabs: set[Backlog] = set()
        self._header = ""
        self._doing: tuple[Any, ...] | None = None
        self._level: tuple[str, int] | None = None

    def tell(self, moment: Moment) -> None:
        """Tells every tab of a moment."""
        self.tavern.visits.note(moment.seq)
        before, self._header = self._header, self._draw(moment)
        news = [_notice(event.kind, event.message, event.severity) for event in moment.events]
        message = self._message(moment, self._header if before != self._header else None)
        kinds = {event.kind for event in moment.events}
        judged = tuple(row["job"] for row in moment.training["trials"])
        doing = (moment.training["state"], (moment.training["quest"] or {}).get("id"), judged)
        if doing != self._doing:  # a quest or a trial is begun without an event
            self._doing = doing
            kinds.add("quest.changed")
        message["kinds"] = sorted(kinds)
        message["news"] = [one for one in (*news, self._level_up(moment)) if one]
        for tab in self._tabs:
            tab.put(json.dumps(message).encode())

    def _draw(self, moment: Moment) -> str:
        names = ("header.html", "halt.html")
        parts = [self.tavern.templates.get_template(name).render(moment=moment) for name in names]
        return "".join(parts)

    def _message(self, moment: Moment, header: str | None) -> dict[str, Any]:
        return {"since": self._since, "hero": moment.hero.id, "header": header}

    def _level_up(self, moment: Moment) -> dict[str, str] | None:
        hero, before = moment.hero, self._level
        level = int(hero.stats["level"].value or 0)
        self._level = hero.id, level
        if before is None or before[0] != hero.id or level <= before[1]:
            return None
        return _notice("hero.level_up", f"{hero.name} is level {level}", "success")

    async def attend(self, socket: WebSocket) -> None:
        """Serves one tab until it is closed."""
        await socket.accept()
        moment = await self.tavern.pulse.now()
        tab = Backlog(BACKLOG, lambda _message: True)
        hello = json.dumps(self._message(moment, self._draw(moment))).encode()
        if socket.query_params.get("since", str(self._since)) != str(self._since):
            # A page of the Tavern before: it is opened anew, and nobody has seen anything yet.
            await socket.send_bytes(hello)
            await socket.close()
            return
        tab.put(hello)
        self._tabs.add(tab)
        self.tavern.pulse.watch(self.tell, len(self._tabs))
        try:
            await converse(socket, tab.next, lambda: (1000, ""), _hear)
        finally:
            self._tabs.discard(tab)
            self.tavern.pulse.watch(self.tell, len(self._tabs))

    def routes(self) -> APIRouter:
        """The socket, and the orders of the header."""
        door = Routes(APIRouter(include_in_schema=False))

        @door.where.websocket("/live")
        @right("admin")
        async def live(socket: WebSocket) -> None:
            await self.attend(socket)

        add_orders(door, self.tavern, "/", ORDERS)
        return door.where


async def _hear(message: dict[str, Any]) -> None:
    said = message.get("text") or message.get("bytes")
    raise BadValue(refuse("nothing is said on this socket", str(said)[:40], "Send orders by POST"))


def _notice(kind: str, message: str, severity: str) -> dict[str, str] | None:
    """What is announced on every page: what is loud, and what went wrong."""
    bad = severity in ("warning", "error")
    if kind not in lore.LOUD and not bad:
        return None
    sound = SOUNDS.get(kind) or ("bad" if bad else "good")
    words = {"title": lore.event_words(kind)[0], "text": message[:200]}
    return {**words, "tone": severity, "sound": sound}
