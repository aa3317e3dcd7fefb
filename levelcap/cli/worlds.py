"""Which world a command is about: `--world duel`, and `--tick-hz 60` for the same at 60 ticks/s."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from levelcap.cli.options import Int
from levelcap.kit.errors import BadValue, refuse
from levelcap.world.spec import RULESETS, TICK_RATES, WORLDS, split_world, world_name

TickHz = Annotated[
    Int | None, Parameter(help="Ticks a second of our rulesets: 30 (default) or 60.")
]


def at_rate(world: str, tick_hz: int | None) -> str:
    """The name of a world at a tick rate; None: as it is named.

    Raises:
        BadValue: no such rate, or a world that has none to choose.
    """
    if tick_hz is None:
        return world
    ruleset, named = split_world(world)
    if ":" in world or tick_hz not in TICK_RATES or (world not in RULESETS and named != tick_hz):
        rates = " or ".join(map(str, TICK_RATES))
        remedy = f"Give --tick-hz {rates} with one of {', '.join(RULESETS)}"
        raise BadValue(refuse(f"{world} does not run at this tick rate", tick_hz, remedy))
    name = world_name(ruleset, tick_hz)
    assert name in WORLDS or world not in WORLDS
    return name
