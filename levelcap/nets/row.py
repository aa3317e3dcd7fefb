"""A row of the table of net families (`levelcap.nets.family`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from levelcap.nets.meta import Meta
from levelcap.world.spec import DECISIONS_HZ, WorldSpec, split_world

if TYPE_CHECKING:
    from torch import nn

# (spec, size, standardise, views), and (options) where `nets.options` has some.
Describe = Callable[..., Meta]


@dataclass(frozen=True)
class Family:
    """One kind of net."""

    name: str
    """as in meta.json: `architecture`"""
    sizes: tuple[str, ...]
    """names of its sizes, small to large"""
    build: Callable[[Meta], nn.Module]
    """a net of this description"""
    describe: Describe | None = None
    """the description of a new net for a world; None: it plays no world"""


def world_meta(
    name: str, spec: WorldSpec, size: str, views: tuple[str, ...], shape: dict[str, Any]
) -> Meta:
    """What a description says of the world and its heads, around a family's own `shape`."""
    return Meta(
        architecture=name,
        size=size,
        world=spec.name,
        world_version=spec.version,
        patch=spec.patch,
        views=views or spec.flat_views,
        head_names=tuple(head.name for head in spec.heads),
        head_sizes=tuple(head.size for head in spec.heads),
        aim_heads=spec.aim_heads,
        aim_users=spec.aim_users,
        shape=shape,
        decision_ticks=split_world(spec.name)[1] // DECISIONS_HZ,
    )
