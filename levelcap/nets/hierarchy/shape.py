"""Sizes and options of a hierarchy, as saved in meta.json under `shape`. No torch here.

Four sizes of one architecture: `full` (the layers as designed), `seed` (nearest to 1.2 M / 120 k /
250 k parameters), `slim` (trains in minutes on two cores), `dummy` (tests). Options are parts that
can be chosen by name; the first of each row is what `slim` has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from levelcap.kit.errors import BadFile, BadValue, refuse
from levelcap.nets.meta import Meta
from levelcap.nets.row import world_meta
from levelcap.world.spec import INTENTS, WorldSpec

VIEWS = ("body", "objects", "summary")
GOAL = 64
TARGET = 32  # numbers of target information; its position comes beside them
MODES = len(INTENTS)
PERIOD = 10
REMEDY = "Use a checkpoint that this version wrote"
NUMBERS = ("window", "state")  # options that count something
OPTIONS: dict[str, tuple[str, ...]] = {
    "strategist": ("ssd", "lstm", "transformer", "perceiver", "experts"),
    "executor": ("lstm", "ssd", "ssd1", "ssd2", "ssd3", "longconv"),
    "window": ("60", "2"),
    "last": ("seen", "hidden"),
    "state": ("16", "64", "128"),
    "norm": ("pre", "post"),
    "layer_norm": ("layer", "batch"),
    "attention": ("fused", "plain", "nested"),
    "activation": ("gelu", "relu", "silu", "mish"),
    "tactician": ("alone", "self"),
    "targeting": ("cross", "pointer", "concat"),
    "goal": ("on", "off"),
    "critic": ("own", "team"),
    "mouse": ("off", "on"),
}


@dataclass(frozen=True)
class Shape:
    """Widths and depths; `options` are merged in by name."""

    plan: int
    """width of the Strategist"""
    plan_ffn: int
    plan_layers: int
    plan_heads: int
    scene: int
    """width of the Tactician"""
    scene_ffn: int
    scene_layers: int
    deed: int
    """width of the Executor"""
    deed_head: int
    """hidden width of its action head"""
    deed_layers: int = 1
    dropout: float = 0.0
    strategist: str = "ssd"
    window: int = 60
    """seconds that a Strategist with a window looks back on; 2: a clip without a past, for any"""
    executor: str = "lstm"
    last: str = "seen"
    """hidden: the Executor does not see its last action, which a clone is tempted to repeat"""
    state: int = 16
    """numbers a state-space block keeps for each of its own"""
    norm: str = "pre"
    attention: str = "fused"
    activation: str = "gelu"
    tactician: str = "alone"
    targeting: str = "cross"
    goal: str = "on"
    """off: a twin whose goal is always zero, to measure what the channel is worth"""
    layer_norm: str = "layer"
    """batch: moments of the batch instead of the row's, for imitation"""
    critic: str = "own"
    """team: the value also reads the true state of the own team, which only training worlds show"""
    mouse: str = "off"
    """on: the Executor has heads for cursor, click and hotkey too, learned by imitation alone"""


_LARGE = {"strategist": "transformer", "executor": "ssd", "state": 64, "tactician": "self"}
_LARGE |= {"deed_layers": 2, "dropout": 0.1}
SIZES: dict[str, Shape] = {
    "dummy": Shape(8, 16, 1, 2, 8, 16, 1, 8, 8),
    "slim": Shape(48, 96, 4, 4, 32, 64, 1, 64, 64),
    "seed": Shape(144, 576, 4, 4, 64, 128, 2, 128, 64, **_LARGE),  # type: ignore[arg-type]
    "full": Shape(256, 1024, 4, 4, 128, 256, 2, 256, 128, **_LARGE),  # type: ignore[arg-type]
}


def hierarchy_meta(
    spec: WorldSpec,
    size: str,
    standardise: bool,
    views: tuple[str, ...],
    options: Mapping[str, str],
) -> Meta:
    """The description of a new hierarchy for this world.

    Raises:
        BadValue: the world has no bodies, objects and summaries, or other views were asked for.
    """
    missing = [name for name in VIEWS if name not in spec.views]
    if missing or (views and views != VIEWS) or standardise:
        remedy = f"It reads {', '.join(VIEWS)} of our own rulesets, as they are"
        wanted = missing or views or "standardise"
        raise BadValue(refuse(f"a hierarchy cannot play {spec.name} so", wanted, remedy))
    chosen: dict[str, object] = {
        name: int(value) if name in NUMBERS else value for name, value in options.items()
    }
    shape = asdict(replace(SIZES[size], **chosen))  # type: ignore[arg-type]
    shape["input_size"] = sum(spec.views[name].size for name in VIEWS)
    shape["summary"] = spec.views["summary"].size
    shape["body"] = spec.views["body"].size
    shape["slots"], shape["columns"] = spec.views["objects"].shape
    # Decisions between two looks of the Strategist: ten decisions are a second.
    shape["period"] = PERIOD
    return world_meta("hierarchy", spec, size, VIEWS, shape)


def shape_of(meta: Meta) -> Shape:
    """The sizes of a description.

    Raises:
        BadFile: a size is missing, is no number that a layer can have, or names an unknown part.
    """
    names = {field.name: field for field in fields(Shape)}
    wanted = {*names, "input_size", "summary", "body", "slots", "columns", "period"}
    # A net saved before an option existed is what it was then: the option's default.
    sizes: dict[str, Any] = {name: names[name].default for name in OPTIONS} | meta.shape
    if set(sizes) != wanted:
        odd = sorted(set(sizes) ^ wanted)
        raise BadFile(refuse("the shape of a hierarchy has other sizes", odd, REMEDY))
    for name, value in sizes.items():
        known = OPTIONS.get(name)
        fine = type(value) is int and value > 0
        if name == "dropout":
            fine = type(value) in (int, float) and 0 <= value < 1
        elif known is not None:
            fine = str(value) in known
        if not fine:
            raise BadFile(refuse(f"no hierarchy has such a {name}", value, REMEDY))
    heads = (sizes["plan_heads"], 2)
    if any(sizes[n] % h for n, h in zip(("plan", "scene"), heads, strict=True)):
        widths = {n: sizes[n] for n in ("plan", "plan_heads", "scene")}
        raise BadFile(refuse("widths are no multiples of their heads", widths, REMEDY))
    return Shape(**{name: sizes[name] for name in names})
