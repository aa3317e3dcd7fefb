"""`/arena`: watch matches live or as replays, and play one; `/arena/m/<id>` is one of them.

The page is one element whose modules lie in `static/arena` and which reads the address itself.
Frames come over a WebSocket of their own; see `relay.py`.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import HTMLResponse

from levelcap.kit.errors import LevelcapError
from levelcap.kit.ids import spoken_name
from levelcap.services.door.fields import Id
from levelcap.services.door.rights import Routes
from levelcap.services.tavern.pulse import Moment
from levelcap.services.tavern.view import Asked, View
from levelcap.vault.ask import resolve
from levelcap.world.players.bot_names import is_bot

Name = Annotated[str, Field(max_length=100)]


class ArenaAsked(Asked):
    """Which recorded match, from which tick on; which live one; or who shall meet whom."""

    replay: Name = ""
    tick: Annotated[int, Field(ge=0)] = 0
    match: Name = ""
    red: Name = ""
    blue: Name = ""
    ruleset: Name = ""


class ArenaView(View[ArenaAsked]):
    """The element asks for everything but what an address says of checkpoints."""

    asked = ArenaAsked

    def read(self, moment: Moment, asked: ArenaAsked) -> dict[str, Any]:
        """Checkpoints that the address seats: the lobby's own list ends somewhere."""
        named = [name for name in (asked.red, asked.blue) if name and not is_bot(name)]
        seated: dict[str, Any] = {"models": []}
        for name in named:
            try:
                row = resolve(self.tavern.realm.engine, name)
            except LevelcapError as error:
                seated["problem"] = str(error)
                continue
            known = {"id": row.id, "hero": row.hero, "step": row.step, "world": row.world}
            words = {"shown": spoken_name(row.hero, row.step), "elo_text": row.elo_text()}
            seated["models"].append(known | words | {"asked": name})
        return seated

    def routes(self) -> APIRouter:
        """The page, and the same for one match."""
        door = Routes(super().routes())

        @door.get(f"{self.place.path}/m/{{match}}", "admin")
        async def one(request: Request, match: Id) -> HTMLResponse:
            return await self.show(request)

        return door.where
