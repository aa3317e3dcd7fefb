"""The header of a shard, `shard.json`: world, patch, sizes, policies, config, counts, quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, Conflict, Corrupt, refuse
from levelcap.kit.files import dump_json, parse_json
from levelcap.kit.ids import sha256_bytes
from levelcap.world.spec import TICK_HZ, Head, ViewSpec, WorldSpec

SCHEMA = 1
HEADER_FILE = "shard.json"
STORED, LAZY = "stored", "lazy"


@dataclass(frozen=True)
class Header:
    """`shard.json`; the counts and the quality report are filled in by the writer."""

    world: str
    world_version: int
    patch: dict[str, Any]  # name, sha256, content (null for a shipped patch)
    views: str  # "stored" or "lazy"
    view_specs: list[dict[str, Any]]  # name, shape, dtype; in this order they are flattened
    heads: list[list[Any]]  # name, number of bins
    num_players: int
    num_teams: int
    decision_ticks: int
    champions: Any  # as given to `levelcap.world.make`
    policies: list[dict[str, Any]]  # name, hash, log_probs (are they known?)
    made_by: str
    source: str
    config: dict[str, Any]
    parents: list[str] = field(default_factory=list)
    config_sha256: str = ""
    num_steps: int = 0
    num_episodes: int = 0
    num_matches: int = 0
    step_files: dict[str, int] = field(default_factory=dict)  # name -> rows in the file
    quality: dict[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA
    tick_hz: int = TICK_HZ  # not in the first shards, which were all played at 30

    def __post_init__(self) -> None:
        if self.views not in (STORED, LAZY):
            raise BadValue(refuse("views are 'stored' or 'lazy'", self.views, "Give one of them"))
        if not self.view_specs or not self.heads or not self.policies:
            raise BadValue(refuse("a shard without views, heads or policies", "", "Name them"))
        wide = [name for name, size in self.heads if size > 256]
        if wide:
            remedy = "Wrap the game so that every head has at most 256 bins"
            raise BadValue(refuse("actions are stored as bytes; too many bins", wide, remedy))
        names = [policy["name"] for policy in self.policies]
        if any(set(policy) != {"name", "hash", "log_probs"} for policy in self.policies):
            remedy = "Give name, hash and log_probs of each"
            raise BadValue(refuse("policies are not described", names, remedy))
        if len(set(names)) < len(names):
            raise BadValue(refuse("two policies of one name", names, "Give each its own name"))

    @property
    def lazy(self) -> bool:
        """Are views computed again when read?"""
        return self.views == LAZY

    @property
    def head_sizes(self) -> NDArray[np.int64]:
        """Bins of every head."""
        return np.array([size for _, size in self.heads], np.int64)

    @property
    def mask_size(self) -> int:
        """Bins of all heads together."""
        return int(self.head_sizes.sum())

    @property
    def view_names(self) -> tuple[str, ...]:
        """Names of the views, in order."""
        return tuple(view["name"] for view in self.view_specs)

    @property
    def view_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every view, for one player."""
        return {view["name"]: tuple(view["shape"]) for view in self.view_specs}

    def view_dtype(self, name: str) -> np.dtype[Any]:
        """float32, or uint8 for pictures."""
        return next(np.dtype(v["dtype"]) for v in self.view_specs if v["name"] == name)

    def row_bytes(self, views: Sequence[str]) -> int:
        """Bytes of one decoded row with these views, masks packed."""
        sizes = [np.prod(self.view_shapes[v]) * self.view_dtype(v).itemsize for v in views]
        return int(sum(sizes)) + packed_size(self.mask_size) + len(self.heads) + 20

    def to_bytes(self) -> bytes:
        """The content of `shard.json`."""
        return dump_json(asdict(self))

    @classmethod
    def from_file(cls, path: Path) -> Header:
        """Read `shard.json`; its bytes have been compared with the manifest before."""
        try:
            values = parse_json(path.read_bytes())
            schema = values["schema"]
        except (OSError, ValueError, TypeError, KeyError) as error:
            remedy = "Restore the shard or record it again"
            raise Corrupt(refuse("no readable shard header", str(path), remedy)) from error
        if schema != SCHEMA:
            remedy = "Use the levelcap version that wrote it"
            raise Conflict(refuse(f"{path} has another schema than {SCHEMA}", schema, remedy))
        known = {f.name for f in fields(cls)}
        values.setdefault("tick_hz", TICK_HZ)
        if set(values) != known:
            wrong = sorted(set(values) ^ known)
            raise Corrupt(refuse(f"{path} has missing or unknown keys", wrong, "Record it again"))
        try:
            header = cls(**values)
            header.row_bytes(header.view_names)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            what = f"the header makes no sense ({error})"
            raise Corrupt(refuse(what, str(path), "Record it again")) from error
        return header


def header_of(spec: WorldSpec, view_names: Sequence[str], **more: Any) -> Header:
    """The header of a shard of this world; `more` are the remaining fields of `Header`."""
    described = [
        {"name": n, "shape": list(spec.views[n].shape), "dtype": spec.views[n].dtype}
        for n in view_names
    ]
    return Header(
        world=spec.name,
        world_version=spec.version,
        view_specs=described,
        heads=[[head.name, head.size] for head in spec.heads],
        num_players=spec.num_players,
        num_teams=spec.num_teams,
        tick_hz=spec.tick_hz,
        config_sha256=sha256_bytes(dump_json(more["config"])),
        **more,
    )


def heads_of(header: Header) -> tuple[Head, ...]:
    """The action heads as in a `WorldSpec`."""
    return tuple(Head(name, size) for name, size in header.heads)


def views_of(header: Header) -> dict[str, ViewSpec]:
    """The views as in a `WorldSpec`."""
    return {v["name"]: ViewSpec(tuple(v["shape"]), v["dtype"]) for v in header.view_specs}


def packed_size(num_bins: int) -> int:
    """Bytes of a mask row with eight bins a byte."""
    return (num_bins + 7) // 8
