"""The spec of any world a trainer can be pointed at."""

from __future__ import annotations

from levelcap.kit.errors import unknown_name
from levelcap.world.spec import WORLDS, WorldSpec, arena_spec


def spec_of_world(world: str, patch: str = "1.0") -> WorldSpec:
    """Heads and views of one of our rulesets, or of `gym:…` / `zoo:…`."""
    if world in WORLDS:
        return arena_spec(world, patch)
    if ":" not in world:
        raise unknown_name("world", world, (*WORLDS, "gym:<id>", "zoo:<module>"))
    from levelcap.world.doors.outside import spec_of

    return spec_of(world)
