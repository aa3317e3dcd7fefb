"""The spec of any world a trainer can be pointed at."""

from __future__ import annotations

from levelcap.kit.errors import unknown_name
from levelcap.world.spec import RECORDED, WORLDS, WorldSpec, arena_spec, recorded_spec


def spec_of_world(world: str, patch: str = "1.0") -> WorldSpec:
    """Heads and views of one of our rulesets, of `gym:…` / `zoo:…`, or of recordings."""
    if world in WORLDS:
        return arena_spec(world, patch)
    if world in RECORDED:
        return recorded_spec(world)
    if ":" not in world:
        raise unknown_name("world", world, (*WORLDS, *RECORDED, "gym:<id>", "zoo:<module>"))
    from levelcap.world.doors.outside import spec_of

    return spec_of(world)
