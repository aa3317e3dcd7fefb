"""What is said to a live match in text: a pace (`pace.py`), or an order to a hero in it.

{"speed": 2}    {"paused": true}    {"seat": 0, "order": "flee"}    {"seat": 0, "order": null}
"""

from __future__ import annotations

from dataclasses import dataclass

from levelcap.coach.orders import ORDERS
from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.kit.files import parse_json
from levelcap.play.live.pace import LONGEST, Pace, read_pace

REMEDY = 'Send {"seat": 0, "order": "flee"}, or "order": null for at ease'


@dataclass(frozen=True)
class Command:
    """An order to the player in a seat; None: at ease."""

    seat: int
    order: str | None


def read_command(text: str) -> Pace | Command:
    """A pace or an order out of text that may come from anywhere.

    Raises:
        BadValue: neither. UnknownName: an order that does not exist.
    """
    if len(text) > LONGEST or '"order"' not in text:
        return read_pace(text)
    try:
        values = parse_json(text)
    except ValueError as error:
        raise BadValue(refuse("an order is JSON", text, REMEDY)) from error
    if not isinstance(values, dict) or set(values) != {"seat", "order"}:
        raise BadValue(refuse("no order", text, REMEDY))
    seat, order = values["seat"], values["order"]
    if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < 100:
        raise BadValue(refuse("a seat is a whole number", seat, REMEDY))
    if not isinstance(order, str | None):
        raise BadValue(refuse("an order is a word or null", order, REMEDY))
    if order is not None and order not in ORDERS:
        raise unknown_name("order", order, ORDERS)
    return Command(seat, order)
