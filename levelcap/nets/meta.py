"""What a checkpoint says of itself: enough to rebuild the net without guessing. No torch here."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from levelcap.kit.errors import BadFile, refuse
from levelcap.nets.text_shape import TextShape, shape_from_json
from levelcap.world.spec import WorldSpec

META_VERSION = 1
TEXT_WORLD = "text"


@dataclass(frozen=True)
class Meta:
    """Architecture, sizes, world and history of one net. Saved as `meta.json`."""

    architecture: str
    size: str
    world: str
    world_version: int
    patch: str
    views: tuple[str, ...]
    input_size: int
    hidden: tuple[int, ...]
    head_names: tuple[str, ...]
    head_sizes: tuple[int, ...]
    aim_heads: tuple[int, ...]
    aim_users: tuple[int, ...]
    decision_ticks: int = 3
    standardise: bool = False
    steps: int = 0
    parents: tuple[str, ...] = ()
    metrics: dict[str, float] = field(default_factory=dict)
    meta_version: int = META_VERSION
    text: TextShape | None = None
    """of a net that reads text; the key is absent for nets of a world"""

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers, for `meta.json`."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in dataclasses.asdict(self).items()
            if key != "text" or value is not None
        }


def text_meta(shape: TextShape, size: str) -> Meta:
    """The description of a new text net: it has a shape instead of views and heads."""
    return Meta(
        architecture="qwen3", size=size, world=TEXT_WORLD, world_version=0, patch="", views=(),
        input_size=0, hidden=(shape.hidden,) * shape.layers, head_names=(), head_sizes=(),
        aim_heads=(), aim_users=(), text=shape,
    )  # fmt: skip


def meta_from_json(values: Any, where: str) -> Meta:
    """Read `meta.json`'s content back.

    Raises:
        BadFile: a key is missing or unknown, or another version wrote it.
    """
    names = {f.name for f in dataclasses.fields(Meta)}
    if isinstance(values, dict) and values.get("architecture") != "qwen3":
        names -= {"text"}
    if not isinstance(values, dict) or set(values) != names:
        odd = sorted(set(values) ^ names) if isinstance(values, dict) else type(values).__name__
        remedy = "Use a checkpoint written by this version"
        raise BadFile(refuse(f"{where} does not describe a net", odd, remedy))
    if values["meta_version"] != META_VERSION:
        remedy = f"This version reads {META_VERSION}"
        raise BadFile(refuse(f"{where} has another version", values["meta_version"], remedy))
    lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    inner = {"text": shape_from_json(values["text"], where)} if "text" in names else {}
    return Meta(**{**values, **lists, **inner})


def check_fits(meta: Meta, spec: WorldSpec) -> None:
    """Refuse a world whose views or heads are not the ones the net was made for.

    Raises:
        BadFile: naming the first thing that differs.
    """
    wanted = {
        "world version": (meta.world_version, spec.version),
        "heads": (meta.head_sizes, tuple(head.size for head in spec.heads)),
        "views": (set(meta.views) - set(spec.views), set()),
    }
    for name, (have, need) in wanted.items():
        if have != need:
            remedy = f"This net plays {meta.world}"
            raise BadFile(refuse(f"{name} of {spec.name} differ: {need}", have, remedy))
    size = sum(spec.views[name].size for name in meta.views)
    if size != meta.input_size:
        remedy = f"This net plays {meta.world}"
        raise BadFile(refuse(f"{spec.name} gives {size} numbers", meta.input_size, remedy))
