"""What a shard holds: the columns of its tables, and one player's trajectory.

A shard is a published folder (`kit.publish`):

    steps-00000.parquet …   a row a decision of one player; the rows of one player of one match
                            (an episode) lie together, in time order; out for good = no more rows
    episodes.parquet        a row an episode, in the order of the steps
    shard.json              the header (`header.py`)

`views: lazy` leaves out what the world can compute again from the match seed and everybody's
actions (see `replay.py`). A log-probability that nobody knows is null in the file, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.lake.header import Header, packed_size

EPISODES_FILE = "episodes.parquet"
VIEW = "view_"  # view columns bear this prefix, so that no view can collide with another column
NO_INTENT = -1


def steps_schema(header: Header) -> pa.Schema:
    """Columns of `steps-*.parquet`."""
    columns = [
        pa.field("episode", pa.int32(), False),
        pa.field("t", pa.int32(), False),
        pa.field("actions", _list(pa.uint8(), len(header.heads)), False),
        pa.field("behaviour_log_prob", pa.float32(), True),
        pa.field("intent", pa.int8(), False),
    ]
    if not header.lazy:
        columns += [
            pa.field("mask", pa.binary(packed_size(header.mask_size)), False),
            pa.field("reward", pa.float32(), False),
            pa.field("terminated", pa.bool_(), False),
            pa.field("truncated", pa.bool_(), False),
            pa.field("alive", pa.bool_(), False),
        ]
        columns += [_view(header, name) for name in header.view_names]
    return pa.schema(columns)


def _view(header: Header, name: str) -> pa.Field:
    """A view's column: its numbers as bytes, dtype and shape in the field's metadata.

    Parquet writes and reads bytes three times as fast as a list of as many floats.
    """
    shape, dtype = header.view_shapes[name], header.view_dtype(name)
    described = {"dtype": dtype.name, "shape": str(list(shape))}
    width = int(np.prod(shape)) * dtype.itemsize
    return pa.field(VIEW + name, pa.binary(width), False, metadata=described)


def _list(kind: pa.DataType, size: int) -> pa.DataType:
    return pa.list_(pa.field("element", kind, False), size)


EPISODES = pa.schema(
    [
        pa.field("episode", pa.int32(), False),
        pa.field("match", pa.int32(), False),
        pa.field("match_seed", pa.uint64(), False),
        pa.field("seat", pa.int16(), False),
        pa.field("team", pa.int16(), False),
        pa.field("policy", pa.string(), False),
        pa.field("policy_hash", pa.string(), False),
        pa.field("champion", pa.string(), False),  # "" where the game has none
        pa.field("outcome", pa.int8(), False),  # +1 won, 0 drawn or none named, -1 lost
        pa.field("reward_sum", pa.float32(), False),
        pa.field("length", pa.int32(), False),
        pa.field("first_row", pa.int64(), False),
        pa.field("kept", pa.bool_(), False),  # False: there for replaying only (lazy)
    ]
)


@dataclass(frozen=True)
class Episodes:
    """Facts of E episodes, one array each; `match` counts from 0 within the block."""

    match: NDArray[np.int32]
    match_seed: NDArray[np.uint64]
    seat: NDArray[np.int16]
    team: NDArray[np.int16]
    policy: NDArray[np.int16]  # index into the header's policies
    champion: NDArray[np.str_]
    outcome: NDArray[np.int8]
    reward_sum: NDArray[np.float32]
    length: NDArray[np.int32]
    kept: NDArray[np.bool_]

    def __post_init__(self) -> None:
        _same_length(len(self.match), {f.name: getattr(self, f.name) for f in fields(self)})
        if len(self.length) and self.length.min() < 1:
            raise BadValue(refuse("an episode without steps", 0, "Leave it out"))

    def __len__(self) -> int:
        return len(self.match)

    def part(self, first: int, last: int) -> Episodes:
        """Episodes first..last-1."""
        return Episodes(**{f.name: getattr(self, f.name)[first:last] for f in fields(self)})


@dataclass(frozen=True)
class Steps:
    """N rows of whole episodes, one array a column. A lazy shard needs only the first three.

    `log_probs` are read only for policies whose header says that they are known.
    """

    actions: NDArray[np.uint8]  # [N, heads]
    log_probs: NDArray[np.float32]
    intents: NDArray[np.int8]
    mask: NDArray[np.uint8] | None = None  # [N, bins]
    rewards: NDArray[np.float32] | None = None
    terminated: NDArray[np.bool_] | None = None
    truncated: NDArray[np.bool_] | None = None
    alive: NDArray[np.bool_] | None = None
    views: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _same_length(len(self.actions), self.columns() | dict(self.views))

    def __len__(self) -> int:
        return len(self.actions)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays that are there, without the views."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "views"}
        return {name: array for name, array in given.items() if array is not None}

    def part(self, first: int, last: int) -> Steps:
        """Rows first..last-1."""
        columns = {name: array[first:last] for name, array in self.columns().items()}
        views = {name: array[first:last] for name, array in self.views.items()}
        return Steps(**columns, views=views)


def join_steps(parts: Sequence[Steps]) -> Steps:
    """One block of several, copied."""
    columns: dict[str, NDArray[Any]] = {
        name: np.concatenate([part.columns()[name] for part in parts])
        for name in parts[0].columns()
    }
    views = {n: np.concatenate([part.views[n] for part in parts]) for n in parts[0].views}
    return Steps(**columns, views=views)


def join_episodes(parts: Sequence[Episodes]) -> Episodes:
    """One block of several, copied."""
    return Episodes(
        **{f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Episodes)}
    )


@dataclass(frozen=True)
class TrajectorySequence:
    """One player's way through one match, T decisions long.

    obs [T, D]; actions {head: [T]}; rewards [T]; dones [T]; behavior_logp [T], or None when
    missing. Arrays in `extras` are per step as well and are cut with the rest.
    """

    obs: NDArray[np.float32]
    actions: dict[str, NDArray[Any]]
    rewards: NDArray[np.float32]
    dones: NDArray[np.bool_]
    behavior_logp: NDArray[np.float32] | None = None
    extras: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        arrays = {f"actions[{head}]": array for head, array in self.actions.items()}
        arrays |= {"rewards": self.rewards, "dones": self.dones}
        if self.behavior_logp is not None:
            arrays["behavior_logp"] = self.behavior_logp
        arrays |= {f"extras[{n}]": a for n, a in self.extras.items() if isinstance(a, np.ndarray)}
        if self.obs.ndim != 2:
            raise BadValue(refuse("obs has the shape [T, D]", self.obs.shape, "Flatten the views"))
        _same_length(len(self.obs), arrays)

    def __len__(self) -> int:
        return len(self.obs)

    def slice(self, a: int, b: int) -> TrajectorySequence:
        """Decisions a..b-1, as views of the same memory."""
        if not 0 <= a <= b <= len(self):
            remedy = f"Give bounds within 0 … {len(self)}"
            raise BadValue(refuse("slice outside of the trajectory", (a, b), remedy))
        return TrajectorySequence(
            obs=self.obs[a:b],
            actions={head: array[a:b] for head, array in self.actions.items()},
            rewards=self.rewards[a:b],
            dones=self.dones[a:b],
            behavior_logp=None if self.behavior_logp is None else self.behavior_logp[a:b],
            extras={n: v[a:b] if isinstance(v, np.ndarray) else v for n, v in self.extras.items()},
        )


def _same_length(length: int, arrays: Mapping[str, NDArray[Any]]) -> None:
    for name, array in arrays.items():
        if len(array) != length:
            remedy = f"Give {length} entries, as many as the others have"
            raise BadValue(refuse(f"{name} has another length", len(array), remedy))
