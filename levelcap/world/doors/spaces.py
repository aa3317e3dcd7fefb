"""Gymnasium spaces on one side, our feature rows and categorical heads on the other.

Observations: Box and MultiBinary are flattened, Discrete and MultiDiscrete become one-hot, Dict
and Tuple (nested too) are laid one after the other in the space's own order. Actions: Discrete is
one head, MultiDiscrete and MultiBinary one head per entry, Box one head per number with bins
spread evenly from low to high, both ends included. What has no such form (text, graphs, sequences,
pictures, unbounded actions) is refused in one sentence.

A space is compiled once into plain functions, because they run for every step of every match.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from levelcap.kit.errors import BadValue
from levelcap.world.spec import Head

BOX_BINS = 11
MAX_FEATURES = 16_384
MAX_DISCRETE = 1_024
MAX_HEADS = 64
# Eleven bins over a wider span are too coarse to act with; such bounds stand for "no bounds".
MAX_BOX_SPAN = 1e6
TAKEN = "Box, Discrete, MultiDiscrete, MultiBinary, Dict and Tuple"

Encode = Callable[[Any, np.ndarray], None]
Decode = Callable[[Sequence[int]], Any]


@dataclass(frozen=True)
class SeatCodec:
    """How one player's observations and actions translate.

    `encode(observation, out)` writes `num_features` numbers into `out`; `decode(row)` turns head
    indices into the environment's action. `masked_view` says that observations come as
    {"observation", "action_mask"}.
    """

    num_features: int
    heads: tuple[Head, ...]
    encode: Encode
    decode: Decode
    takes_mask: bool
    masked_view: bool


def no_world(who: str, why: str, remedy: str) -> BadValue:
    """The error (not raised here) for a game that has no form of ours."""
    return BadValue(f"{who} cannot be a world: {why}; {remedy}.")


def seat_codec(observation_space: spaces.Space, action_space: spaces.Space, who: str) -> SeatCodec:
    """Compile the two spaces of one player. `who` names the environment in a refusal."""
    masked_view = isinstance(observation_space, spaces.Dict) and (
        set(observation_space.spaces) == {"observation", "action_mask"}
    )
    if masked_view:
        observation_space = observation_space["observation"]
    num_features, encode = _encoder(observation_space, who)
    if not 0 < num_features <= MAX_FEATURES:
        limits = f"more than 0 and at most {MAX_FEATURES:,} are taken"
        why = f"its observation has {num_features:,} numbers, {limits}"
        raise no_world(who, why, "wrap it to return a smaller observation")
    heads: list[Head] = []
    decode = _decoder(action_space, "action", heads, who)
    if not 0 < len(heads) <= MAX_HEADS:
        why = f"its action has {len(heads):,} parts, between 1 and {MAX_HEADS} are taken"
        raise no_world(who, why, "wrap it to accept a smaller action")
    takes_mask = isinstance(action_space, spaces.Discrete)
    return SeatCodec(num_features, tuple(heads), encode, decode, takes_mask, masked_view)


def common_heads(codecs: Sequence[SeatCodec]) -> tuple[Head, ...]:
    """The heads of a world whose players differ: as many as the most, each as wide as the widest.

    Names are kept when they are unambiguous, else the heads are numbered.
    """
    longest = max((codec.heads for codec in codecs), key=len)
    names = [head.name for head in longest]
    agree = all(
        [head.name for head in codec.heads] == names[: len(codec.heads)] for codec in codecs
    )
    if not agree or len(set(names)) < len(names):
        names = [f"action_{index}" for index in range(len(names))]
    sizes = [
        max(codec.heads[index].size for codec in codecs if index < len(codec.heads))
        for index in range(len(names))
    ]
    return tuple(Head(name, size) for name, size in zip(names, sizes, strict=True))


def _encoder(space: spaces.Space, who: str) -> tuple[int, Encode]:
    """Width of the space in features and the function that writes one observation."""
    match space:
        case spaces.Box() | spaces.MultiBinary():
            return int(np.prod(space.shape)), _write_flat
        case spaces.Discrete():
            return int(space.n), _one_hot_writer(np.zeros(1, np.int64), int(space.start))
        case spaces.MultiDiscrete():
            sizes = space.nvec.reshape(-1).astype(np.int64)
            offsets = np.concatenate(([0], np.cumsum(sizes)[:-1]))
            return int(sizes.sum()), _one_hot_writer(offsets, space.start.reshape(-1))
        case spaces.Dict() | spaces.Tuple():
            return _compound_encoder(_children(space), who)
    why = f"its observation space holds {type(space).__name__}, and only {TAKEN} are taken"
    raise no_world(who, why, "wrap it to return one of these")


def _write_flat(value: Any, out: np.ndarray) -> None:
    out[:] = np.asarray(value).reshape(-1)


def _one_hot_writer(offsets: np.ndarray, start: int | np.ndarray) -> Encode:
    columns = offsets - start

    def write(value: Any, out: np.ndarray) -> None:
        out[:] = 0.0
        out[columns + np.asarray(value).reshape(-1)] = 1.0

    return write


def _compound_encoder(children: list[tuple[Any, spaces.Space]], who: str) -> tuple[int, Encode]:
    parts: list[tuple[Any, int, int, Encode]] = []
    total = 0
    for key, child in children:
        size, encode = _encoder(child, who)
        parts.append((key, total, total + size, encode))
        total += size

    def write(value: Any, out: np.ndarray) -> None:
        for key, first, last, encode in parts:
            encode(value[key], out[first:last])

    return total, write


def _decoder(space: spaces.Space, name: str, heads: list[Head], who: str) -> Decode:
    """Append the heads of the space and return the function that reads them from a row."""
    first = len(heads)
    match space:
        case spaces.Discrete():
            _add_head(heads, name, int(space.n), who)
            start = int(space.start)
            return lambda row: row[first] + start
        case spaces.MultiDiscrete():
            for part, size in zip(_parts(name, space.shape), space.nvec.reshape(-1), strict=True):
                _add_head(heads, part, int(size), who)
            return _array_decoder(first, len(heads), space)
        case spaces.MultiBinary():
            heads.extend(Head(part, 2) for part in _parts(name, space.shape))
            return _array_decoder(first, len(heads), space)
        case spaces.Box():
            return _box_decoder(space, name, heads, who)
        case spaces.Dict() | spaces.Tuple():
            return _compound_decoder(space, name, heads, who)
    why = f"its action space holds {type(space).__name__}, and only {TAKEN} are taken"
    raise no_world(who, why, "wrap it to accept one of these")


def _add_head(heads: list[Head], name: str, size: int, who: str) -> None:
    if size > MAX_DISCRETE:
        why = f"its action '{name}' has {size:,} choices, at most {MAX_DISCRETE:,} are taken"
        raise no_world(who, why, "wrap it to accept a MultiDiscrete of smaller parts")
    heads.append(Head(name, size))


def _array_decoder(first: int, last: int, space: spaces.Space) -> Decode:
    shape, dtype = space.shape, space.dtype
    start = getattr(space, "start", np.zeros(shape, np.int64)).reshape(-1)

    def read(row: Sequence[int]) -> np.ndarray:
        return (np.array(row[first:last]) + start).astype(dtype).reshape(shape)

    return read


def _box_decoder(space: spaces.Box, name: str, heads: list[Head], who: str) -> Decode:
    low = space.low.reshape(-1).astype(np.float64)
    high = space.high.reshape(-1).astype(np.float64)
    with np.errstate(invalid="ignore"):  # inf - inf is as unbounded as inf
        narrow = high - low <= MAX_BOX_SPAN
    if not narrow.all():
        why = f"its action space {space} is unbounded, so it cannot be cut into bins"
        remedy = "give it finite bounds, for instance with gymnasium's RescaleAction wrapper"
        raise no_world(who, why, remedy)
    whole = np.issubdtype(space.dtype, np.integer)
    first, shape, dtype = len(heads), space.shape, space.dtype
    tables: list[list[float]] = []
    for part, bottom, top in zip(_parts(name, shape), low, high, strict=True):
        # A short range of whole numbers has fewer values than bins: one bin per value.
        count = min(BOX_BINS, int(top - bottom) + 1) if whole else BOX_BINS
        values = np.linspace(bottom, top, count)
        tables.append((np.rint(values) if whole else values).tolist())
        heads.append(Head(part, count))

    def read(row: Sequence[int]) -> np.ndarray:
        chosen = [table[row[first + index]] for index, table in enumerate(tables)]
        return np.array(chosen, dtype=dtype).reshape(shape)

    return read


def _compound_decoder(space: spaces.Space, name: str, heads: list[Head], who: str) -> Decode:
    named = isinstance(space, spaces.Dict)
    parts = []
    for key, child in _children(space):
        label = str(key) if named and name == "action" else f"{name}_{key}"
        parts.append((key, _decoder(child, label, heads, who)))
    if named:
        return lambda row: {key: decode(row) for key, decode in parts}
    return lambda row: tuple(decode(row) for _, decode in parts)


def _children(space: spaces.Space) -> list[tuple[Any, spaces.Space]]:
    return list(space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces))


def _parts(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the single numbers of an array action; an array of one keeps the plain name."""
    count = int(np.prod(shape))
    return [name] if count == 1 else [f"{name}_{index}" for index in range(count)]
