"""The state of a training run on disk: everything needed to go on as if nothing had happened.

    checkpoints/checkpoint-<update>-<date>-<time>/
        tensors.safetensors   weights, optimizer, EMA, replay, worlds, minds of opponents
        state.json            counters, clocks, what the tensors are
        manifest.json         sha256 of both, written last

A state is a dictionary of arrays and one of plain JSON; never pickle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

import levelcap
from levelcap.kit.errors import BadFile, Corrupt, refuse
from levelcap.kit.files import read_json, write_json
from levelcap.kit.ids import CHECKPOINT_PATTERN, checkpoint_name, checkpoint_step
from levelcap.kit.publish import publish, retire, sweep, verify

TENSORS, STATE = "tensors.safetensors", "state.json"
STATE_VERSION = 1


@dataclass
class State:
    """Arrays by name and plain values by name; parts are kept apart by a prefix."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def put(self, prefix: str, part: State) -> None:
        """Take another state in under a prefix."""
        self.arrays.update({f"{prefix}/{name}": array for name, array in part.arrays.items()})
        self.values[prefix] = part.values

    def get(self, prefix: str) -> State:
        """The part that was put in under this prefix."""
        start = f"{prefix}/"
        arrays = {n[len(start) :]: a for n, a in self.arrays.items() if n.startswith(start)}
        return State(arrays, self.values.get(prefix, {}))


def save_state(folder: Path, update: int, state: State) -> Path:
    """Publish a checkpoint of this update under `folder`; returns its folder.

    Raises:
        Corrupt: a weight is not finite; nothing is written.
    """
    for name, array in state.arrays.items():
        # Worlds and memories may hold NaN of their own; weights may not.
        if name.startswith(("net/", "ema/")) and not np.isfinite(array).all():
            raise Corrupt(refuse("weights must be finite", name, "Go back to the last checkpoint"))
    # Structured arrays (worlds, minds) are kept as bytes; their readers know the type.
    plain = {n: _plain(a) for n, a in state.arrays.items()}

    def write(target: Path) -> None:
        (target / TENSORS).write_bytes(save(plain))
        write_json(target / STATE, {"version": STATE_VERSION, "values": state.values})

    place = folder / checkpoint_name(update)
    if place.exists():  # the same update again after a roll-back
        retire(place)
    publish(place, write, made_by=f"levelcap {levelcap.__version__} engine")
    return place


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    if not array.dtype.names:
        return np.ascontiguousarray(array)
    # Field by field, so that the gaps between fields are zero and equal states are equal bytes.
    clean = np.zeros(array.shape, array.dtype)
    for name in array.dtype.names:
        clean[name] = array[name]
    return clean.reshape(-1).view(np.uint8)


def load_state(folder: Path) -> State:
    """Read one checkpoint, verified byte by byte."""
    verify(folder)
    document = read_json(folder / STATE)
    if not isinstance(document, dict) or document.get("version") != STATE_VERSION:
        found = document.get("version") if isinstance(document, dict) else type(document).__name__
        remedy = f"This version reads {STATE_VERSION}; start a new run"
        raise BadFile(refuse(f"{folder / STATE} has another version", found, remedy))
    try:
        arrays = load((folder / TENSORS).read_bytes())
    except SafetensorError as error:
        raise Corrupt(
            refuse(f"cannot read {TENSORS} ({error})", str(folder), "Remove it")
        ) from error
    return State(arrays, document["values"])


def checkpoints(folder: Path) -> list[Path]:
    """Published checkpoints, oldest first."""
    if not folder.is_dir():
        return []
    found = [p for p in folder.iterdir() if CHECKPOINT_PATTERN.fullmatch(p.name)]
    return sorted(found, key=lambda p: (checkpoint_step(p.name), p.name))


def keep_newest(folder: Path, count: int) -> None:
    """Remove all but the newest checkpoints, and what a kill left behind."""
    for old in checkpoints(folder)[:-count]:
        retire(old)
    sweep(folder)


def load_newest(folder: Path) -> tuple[State, Path] | None:
    """The newest checkpoint that is whole; None when there is none.

    Raises:
        Corrupt: there are checkpoints and none of them is whole.
    """
    # Newest first; a torn one is passed over as long as an older one is whole.
    there = checkpoints(folder)
    problem: Corrupt | None = None
    for place in reversed(there):
        try:
            return load_state(place), place
        except Corrupt as error:
            problem = problem or error
    if problem is not None:
        raise problem
    return None
