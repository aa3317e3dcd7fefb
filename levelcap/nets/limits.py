"""What a description may say: kinds and sizes, checked before anything is built. No torch here.

A checkpoint from elsewhere may name any size. A net is only built when its description holds plain
values, and asks for no more than a probe's memory can take (see `levelcap.play.probe`).
"""

from __future__ import annotations

import math
from typing import Any

from levelcap.kit.errors import BadFile, refuse
from levelcap.nets.meta import Meta
from levelcap.nets.text.shape import TextShape
from levelcap.world.spec import TICK_RATES

MAX_LAYERS = 64
MAX_WIDTH = 8192
MAX_HEADS = 64
MAX_BINS = 4096  # of all heads together
MAX_INPUTS = 1 << 16
MAX_POSITIONS = 1 << 15
MAX_VOCAB = 1 << 18
# Built, read and loaded a net exists three times: 3 x 256 MB beside torch fit into 2 GiB.
MAX_PARAMETERS = 64_000_000
REMEDY = "Use a checkpoint that this version wrote"


def check_limits(meta: Meta) -> None:
    """Refuse a description with values of the wrong kind or sizes no net of ours has.

    Raises:
        BadFile: naming the first field that is out of bounds.
    """
    _texts(meta)
    _whole("world_version", meta.world_version, 0, 1 << 20)
    _whole("steps", meta.steps, 0, 1 << 53)
    _whole("decision_ticks", meta.decision_ticks, 1, max(TICK_RATES))
    _whole("input_size", meta.shape["input_size"], 0, MAX_INPUTS)
    _row("head_sizes", meta.head_sizes, MAX_HEADS, 1, MAX_BINS)
    _row("aim_heads", meta.aim_heads, MAX_HEADS, 0, MAX_HEADS)
    _row("aim_users", meta.aim_users, MAX_HEADS, 0, MAX_HEADS)
    # Each head may be small and all of them together still absurd.
    if sum(meta.head_sizes) > MAX_BINS:
        raise _bad("the heads have too many bins together", sum(meta.head_sizes))
    if meta.text is not None:
        _check_text(meta.text)
        return
    for name, value in meta.shape.items():
        _check_size(name, value)
    if meta.architecture == "flat":
        hidden = meta.shape["hidden"]
        _row("hidden", hidden, MAX_LAYERS, 1, MAX_WIDTH)
        check_parameters(_flat_parameters(meta.input_size, hidden, sum(meta.head_sizes)))


def check_parameters(count: int) -> None:
    """Refuse a net of more weights than a probe's memory can take."""
    if count > MAX_PARAMETERS:
        raise _bad(f"a net has at most {MAX_PARAMETERS:,} weights", count)


def _flat_parameters(inputs: int, hidden: tuple[int, ...], bins: int) -> int:
    widths = (inputs, *hidden)
    inner = sum(a * b for a, b in zip(widths, widths[1:], strict=False))
    return inner + widths[-1] * (bins + 1)


def _check_size(name: str, value: Any) -> None:
    """A family's own sizes: its layers may be many or wide, but no single number is absurd."""
    if isinstance(value, tuple):
        _row(name, value, MAX_LAYERS, 0, MAX_INPUTS)
    elif type(value) is int:
        _whole(name, value, 0, MAX_INPUTS)
    elif type(value) is str and len(value) > 200:
        raise _bad(f"{name} is a short text", value[:40])
    elif type(value) not in (bool, str, float):
        raise _bad(f"{name} is a number, a name or a list of them", value)


def _texts(meta: Meta) -> None:
    for name in ("architecture", "size", "world", "patch"):
        value = getattr(meta, name)
        if type(value) is not str or len(value) > 200:
            raise _bad(f"{name} is a short text", value)
    for name in ("views", "head_names", "parents"):
        value = getattr(meta, name)
        if not isinstance(value, tuple) or len(value) > MAX_HEADS:
            raise _bad(f"{name} is a short list", value)
        if any(type(one) is not str or len(one) > 200 for one in value):
            raise _bad(f"{name} holds short texts", value)
        if len(set(value)) < len(value):
            raise _bad(f"{name} names nothing twice", value)
    if type(meta.shape.get("standardise", False)) is not bool:
        raise _bad("standardise is true or false", meta.shape["standardise"])
    metrics: Any = meta.metrics
    if not isinstance(metrics, dict) or len(metrics) > 1000:
        raise _bad("metrics is a short mapping", type(metrics).__name__)
    for name, number in metrics.items():
        if type(number) not in (int, float) or not abs(number) < 1 << 53:
            raise _bad(f"metric {name[:40]!r} is a number", number)


def _check_text(shape: TextShape) -> None:
    for name in ("hidden", "heads", "kv_heads", "head_dim", "ffn"):
        _whole(name, getattr(shape, name), 1, 4 * MAX_WIDTH)
    _whole("layers", shape.layers, 1, MAX_LAYERS)
    _whole("vocab", shape.vocab, 3, MAX_VOCAB)
    _whole("positions", shape.positions, 16, MAX_POSITIONS)
    _whole("alphabet_version", shape.alphabet_version, 0, 1 << 20)
    for name in ("rope_theta", "norm_eps"):
        value = getattr(shape, name)
        if type(value) not in (int, float) or not (0 < value < math.inf):
            raise _bad(f"{name} is a positive number", value)
    if type(shape.tied) is not bool or type(shape.characters) is not str:
        raise _bad("tied is true or false, characters a text", (shape.tied, shape.characters))
    if len(set(shape.characters)) < len(shape.characters):
        raise _bad("a character occurs twice in the alphabet", shape.characters)
    check_parameters(shape.parameters)


def _row(name: str, values: Any, longest: int, least: int, most: int) -> None:
    if not isinstance(values, tuple) or len(values) > longest:
        raise _bad(f"{name} is a list of at most {longest} numbers", values)
    for value in values:
        _whole(name, value, least, most)


def _whole(name: str, value: Any, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise _bad(f"{name} is a whole number from {least} to {most}", value)


def _bad(what: str, value: object) -> BadFile:
    return BadFile(refuse(f"the description is out of bounds: {what}", value, REMEDY))
