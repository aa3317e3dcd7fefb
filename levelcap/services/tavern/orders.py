"""What a click asks of the Keeper: one request each, its refusal shown as it was said.

An order has a name and a route of its own (`view.py`); a deed is what happens then. Most ask the
Keeper one thing, which checks the body itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.fields import Body, Id


class OrderBody(Body):
    """What a button or a form sends: the thing it is about, and what was filled in."""

    id: Id = ""
    values: Annotated[dict[str, Any], Field(max_length=64)] = {}


@dataclass(frozen=True)
class Said:
    """What a browser is told when an order was carried out; no title: nothing."""

    title: str = ""
    text: str = ""
    tone: str = "good"


Deed = Callable[[KeeperClient, OrderBody], Said]


def asks(method: str, path: str, done: str = "", **query: Any) -> Deed:
    """The usual deed: one request to the Keeper; `{id}` in its path is what the order is about."""

    def act(keeper: KeeperClient, given: OrderBody) -> Said:
        keeper.call(method, path.format(id=given.id), given.values or None, **query)
        return Said(done)

    return act
