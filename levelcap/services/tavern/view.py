"""A page on the server's side: what its address asks for, what it reads, which orders it takes.

    class VaultView(View[VaultAsked]):
        asked, orders = VaultAsked, {"pin": asks("POST", "/api/checkpoints/{id}/pin")}
        def read(self, moment, asked) -> Shown: ...

Its words stand in `templates/<name>.html`. A block of that template is a part of the page: with
`?part=<block>` the answer is this block alone, which `static/parts.js` fetches when an event of the
part's kinds has come. Everything is escaped; a name that a template does not know is an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.responses import HTMLResponse

from levelcap.campaign.realm import Realm
from levelcap.kit.errors import BadValue, LevelcapError, refuse, unknown_name
from levelcap.kit.paths import without_paths
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.rights import Routes
from levelcap.services.tavern import lore
from levelcap.services.tavern.names import Names
from levelcap.services.tavern.orders import Deed, OrderBody
from levelcap.services.tavern.pulse import Moment, Pulse
from levelcap.services.tavern.visits import Visits

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Tavern:
    """What pages are made of: the realm to read, the pulse, the Keeper to ask."""

    realm: Realm
    pulse: Pulse
    keeper: KeeperClient
    visits: Visits
    static: str = ""  # address of the folder of static files

    @cached_property
    def templates(self) -> Environment:
        """The templates, and what all of them know: `ui` are the small parts of parts.html."""
        made = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        made.globals |= {"lore": lore, "static": self.static, "names": Names(self.realm)}
        made.globals["ui"] = made.get_template("parts.html").module
        return made


class Asked(BaseModel):
    """What stands behind the ? of a page's address; a key nobody knows is refused.

    path, one: a page whose address may end with one thing, `/vault/<id>`: its path, and the field
    that this is.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    path: ClassVar[str] = ""
    one: ClassVar[str] = ""

    def to(self, **changed: Any) -> str:
        """The address of the same page with this changed; what is as usual is left out."""
        values = self.model_copy(update=changed).model_dump(mode="json", exclude_defaults=True)
        one = values.pop(self.one, "")
        where = self.path + (f"/{one}" if one else "")
        return f"{where}?{urlencode(values)}" if values or not where else where


Q = TypeVar("Q", bound=Asked)


class View(Generic[Q]):
    """One page; a kind of page says what it reads."""

    asked: type[Q]
    orders: Mapping[str, Deed] = {}
    fresh_s: ClassVar[float] = 0.0  # a part that was read so recently serves everybody who asks

    def __init__(self, tavern: Tavern, place: lore.Place) -> None:
        """place: where it is."""
        self.tavern, self.place = tavern, place
        self.template: Template = tavern.templates.get_template(f"{place.name_of_files}.html")

    def read(self, moment: Moment, asked: Q) -> Any:
        """What the template shows, as `shown`; in a thread."""

    def render(self, moment: Moment, asked: Q, part: str = "") -> str:
        """The page, or one part of it."""
        shown = self.read(moment, asked)
        given = {"place": self.place, "moment": moment, "asked": asked, "shown": shown}
        if not part:
            return self.template.render(given)
        return "".join(self.template.blocks[part](self.template.new_context(given)))

    async def show(self, request: Request) -> HTMLResponse:
        """Answers a browser."""
        given = dict(request.query_params) | request.path_params
        part = given.pop("part", "")
        if part and part not in self.template.blocks:
            raise unknown_name("part of this page", part, list(self.template.blocks))
        try:
            asked = self.asked.model_validate(given)
        except ValidationError as error:
            raise BadValue(_wrong(error)) from error
        moment = await self.tavern.pulse.now()
        if part and self.fresh_s:
            name, work = f"{request.url}", lambda: self.render(moment, asked, part)
            return HTMLResponse(await self.tavern.pulse.shared(name, work, self.fresh_s))
        return HTMLResponse(await asyncio.to_thread(self.render, moment, asked, part))

    def routes(self) -> APIRouter:
        """The page and its orders."""
        door = Routes(APIRouter(include_in_schema=False))

        @door.get(self.place.path, "admin")
        async def page(request: Request) -> HTMLResponse:
            return await self.show(request)

        if self.asked.one:
            door.get(f"{self.place.path}/{{{self.asked.one}:path}}", "admin")(page)
        add_orders(door, self.tavern, self.place.path, self.orders)
        return door.where


class Plain(View[Asked]):
    """A page that reads nothing: its template says it all, or an element in it asks."""

    asked = Asked


def add_orders(
    door: Routes[APIRouter], tavern: Tavern, path: str, orders: Mapping[str, Deed]
) -> None:
    """One POST route an order, below the page that shows its button."""
    for name, deed in orders.items():
        door.post(f"{path.rstrip('/')}/{name}", "admin")(_taking(tavern, deed))


def _taking(tavern: Tavern, deed: Deed) -> Callable[..., Any]:
    async def take(body: OrderBody) -> dict[str, str]:
        """Does what was ordered; what was done, or why not, comes as words for a person.

        No status of an error: browsers write those into their console.
        """
        try:
            said = await asyncio.to_thread(deed, tavern.keeper, body)
        except LevelcapError as error:
            return {"refused": without_paths(str(error))}
        await tavern.pulse.beat()
        return {"said": said.title, "text": said.text, "tone": said.tone}

    return take


def _wrong(error: ValidationError) -> str:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    return refuse(f"{name}: {first['msg']}", first.get("input"), "Correct the address")
