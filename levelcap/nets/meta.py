"""What a checkpoint says of itself: enough to rebuild the net without guessing. No torch here."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from levelcap.kit.errors import BadFile, refuse
from levelcap.nets.text.shape import TextShape, shape_from_json
from levelcap.world.spec import WorldSpec, split_world

META_VERSION = 1
TEXT_WORLD = "text"


# The first two families wrote their own sizes beside the rest; a file's keys are a format, so they
# still do. Later families have a table of their own under `shape`.
_BESIDE = {
    "flat": ("input_size", "hidden", "standardise"),
    "qwen3": ("input_size", "hidden", "standardise", "text"),
}
# What only some nets of a family have; a file without them is read as before.
_MAYBE = {"flat": ("aim", "objects")}


@dataclass(frozen=True)
class Meta:
    """A header that every net has, and a `shape` that its family understands. See `meta.json`."""

    architecture: str
    size: str
    world: str
    world_version: int
    patch: str
    views: tuple[str, ...]
    head_names: tuple[str, ...]
    head_sizes: tuple[int, ...]
    aim_heads: tuple[int, ...]
    aim_users: tuple[int, ...]
    shape: dict[str, Any]
    """sizes of the family named by `architecture`: numbers, names, tuples of them"""
    decision_ticks: int = 3
    steps: int = 0
    parents: tuple[str, ...] = ()
    metrics: dict[str, float] = field(default_factory=dict)
    meta_version: int = META_VERSION

    @property
    def tick_hz(self) -> int:
        """Ticks a second of the world it was made for: part of that world's name."""
        return split_world(self.world)[1]

    @property
    def input_size(self) -> int:
        """Numbers of all views together, as the net was made for them; 0: it reads text."""
        return int(self.shape["input_size"])

    @property
    def text(self) -> TextShape | None:
        """Sizes and alphabet of a net that reads text; None: it plays a world."""
        return self.shape.get("text")

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers, for `meta.json`."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "shape"}
        beside = self.architecture in _BESIDE
        values |= self.shape if beside else {"shape": self.shape}
        return {key: _plain(value) for key, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return asdict(value) if isinstance(value, TextShape) else value


def text_meta(shape: TextShape, size: str) -> Meta:
    """The description of a new text net: it has a text shape instead of views and heads."""
    sizes = {
        "input_size": 0,
        "hidden": (shape.hidden,) * shape.layers,
        "standardise": False,
        "text": shape,
    }
    return Meta(
        architecture="qwen3",
        size=size,
        world=TEXT_WORLD,
        world_version=0,
        patch="",
        views=(),
        head_names=(),
        head_sizes=(),
        aim_heads=(),
        aim_users=(),
        shape=sizes,
    )


def meta_from_json(values: Any, where: str) -> Meta:
    """Read `meta.json`'s content back.

    Raises:
        BadFile: a key is missing or unknown, or another version wrote it.
    """
    known = {f.name for f in fields(Meta)}
    table = values if isinstance(values, dict) else {}
    # An unknown family has its sizes under `shape`; whether it can be built is not asked here.
    family = str(table.get("architecture"))
    beside = _BESIDE.get(family, ())
    beside += tuple(name for name in _MAYBE.get(family, ()) if name in table)
    names = (known - {"shape"}) | set(beside) if beside else known
    if set(table) != names:
        odd = sorted(set(table) ^ names) if isinstance(values, dict) else type(values).__name__
        remedy = "Use a checkpoint written by this version"
        raise BadFile(refuse(f"{where} does not describe a net", odd, remedy))
    if table["meta_version"] != META_VERSION:
        remedy = f"This version reads {META_VERSION}"
        raise BadFile(refuse(f"{where} has another version", table["meta_version"], remedy))
    shape = {name: table[name] for name in beside} if beside else table["shape"]
    if not isinstance(shape, dict) or "input_size" not in shape:
        raise BadFile(refuse(f"{where} names no input_size", shape, "Use a whole checkpoint"))
    shape = {name: _tuples(value) for name, value in shape.items()}
    if "text" in shape:
        shape["text"] = shape_from_json(table["text"], where)
    header = {name: _tuples(table[name]) for name in known - {"shape"}}
    return Meta(**header, shape=shape)


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def check_fits(meta: Meta, spec: WorldSpec) -> None:
    """Refuse a world whose views or heads are not the ones the net was made for.

    Raises:
        BadFile: naming the first thing that differs.
    """
    if meta.tick_hz != split_world(spec.name)[1]:
        what = f"{spec.name} runs at {spec.tick_hz} ticks a second, this net was made for another"
        remedy = f"Use a net of {spec.name}, or --tick-hz {meta.tick_hz}"
        raise BadFile(refuse(what, meta.tick_hz, remedy))
    # Versions and heads first: what is left would be misread silently.
    wanted = {
        "world version": (meta.world_version, spec.version),
        "heads": (meta.head_sizes, tuple(head.size for head in spec.heads)),
        "views": (set(meta.views) - set(spec.acting_views), set()),
    }
    for name, (have, need) in wanted.items():
        if have != need:
            remedy = f"This net plays {meta.world}"
            raise BadFile(refuse(f"{name} of {spec.name} differ: {need}", have, remedy))
    # A view that has grown or shrunk since the net was trained.
    size = sum(spec.views[name].size for name in meta.views)
    if size != meta.input_size:
        remedy = f"This net plays {meta.world}"
        raise BadFile(refuse(f"{spec.name} gives {size} numbers", meta.input_size, remedy))
