"""Rows of views in, decisions out: what `POST /act` does, without a model of the big arrays.

    {"checkpoint": "champion", "world": "duel", "greedy": false,
     "rows": [{"features": […], "player": […], "context": […], "objects": […],
               "mask": […], "key": 123}]}

A row gives every view the net reads, flat or in its shape, the mask of allowed bins (all, when it
is left out) and the key that chance comes from (0, when it is left out): the same rows with the
same keys are answered with the same decisions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.play.load import NetPolicy
from levelcap.services.oracle.checkpoint_cache import CheckpointCache, Loaded
from levelcap.world.spec import WORLDS, WorldSpec, arena_spec

MAX_ROWS = 256
LARGEST = float(np.finfo(np.float32).max)
KEYS = ("checkpoint", "world", "rows", "greedy")


class Decider:
    """Answers requests, keeping one bound policy per checkpoint, world and manner."""

    def __init__(self, shelf: CheckpointCache) -> None:
        self.shelf = shelf
        self._bound: dict[tuple[str, str, bool], tuple[Loaded, NetPolicy]] = {}

    def decide(self, loaded: Loaded, world: str, rows: Any, greedy: bool) -> dict[str, Any]:
        """Bins, log-probabilities and values of every row.

        Raises:
            BadValue: a row lacks a view, has one of the wrong size, or holds what is no number.
        """
        policy = self._policy(loaded, world, greedy)
        views = read_rows(rows, policy, arena_spec(world))
        decision = policy.act(views, policy.initial_state(len(views["key"])))
        assert decision.log_probs is not None and decision.values is not None
        return {
            "checkpoint": loaded.id,
            "actions": decision.actions.tolist(),
            "log_probs": decision.log_probs.tolist(),
            "values": decision.values.tolist(),
        }

    def _policy(self, loaded: Loaded, world: str, greedy: bool) -> NetPolicy:
        key = (loaded.id, world, greedy)
        found = self._bound.get(key)
        if found is None or found[0] is not loaded:
            policy = loaded.policy(greedy)
            policy.fit(arena_spec(world))
            here = {one.id for one in self.shelf.loaded()}
            self._bound = {k: v for k, v in self._bound.items() if k[0] in here}
            found = self._bound[key] = (loaded, policy)
        return found[1]


def check_request(body: Any) -> tuple[str, str, Any, bool]:
    """Checkpoint, world, rows and manner out of a request's JSON.

    Raises:
        BadValue, UnknownName: naming the field.
    """
    if not isinstance(body, dict):
        raise BadValue(refuse("a request is a table", type(body).__name__, "See /openapi.json"))
    for key in body:
        if key not in KEYS:
            raise unknown_name("field of /act", str(key), KEYS)
    checkpoint, world = body.get("checkpoint", "champion"), body.get("world", "duel")
    greedy, rows = body.get("greedy", False), body.get("rows")
    if not isinstance(checkpoint, str) or not 0 < len(checkpoint) <= 100:
        raise BadValue(refuse("checkpoint must be a name", checkpoint, "Give an id, or champion"))
    if world not in WORLDS:
        raise unknown_name("world", str(world), WORLDS)
    if not isinstance(greedy, bool):
        raise BadValue(refuse("greedy must be true or false", greedy, "Correct this field"))
    if not isinstance(rows, list) or not 0 < len(rows) <= MAX_ROWS:
        count = len(rows) if isinstance(rows, list) else rows
        raise BadValue(refuse(f"rows must be a list of 1 to {MAX_ROWS}", count, "Send fewer"))
    return checkpoint, str(world), rows, greedy


def read_rows(rows: list[Any], policy: NetPolicy, spec: WorldSpec) -> dict[str, NDArray[Any]]:
    """The views of all rows, as a policy gets them."""
    wanted = {name: spec.views[name].size for name in policy.views}
    views: dict[str, NDArray[Any]] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise BadValue(refuse(f"row {number} is no table", row, "Name the views in it"))
        if odd := set(row) - set(wanted) - {"mask", "key"}:
            raise unknown_name(f"view in row {number}", min(odd), (*wanted, "mask", "key"))
    for name, size in wanted.items():
        views[name] = _column(rows, name, size, np.float32)
    views["mask"] = _column(rows, "mask", spec.mask_size, np.uint8, [1] * spec.mask_size)
    views["reset"] = np.zeros(len(rows), np.bool_)  # every request is a moment of its own
    views["key"] = np.array([_key(row, number) for number, row in enumerate(rows)], np.uint64)
    return views


def _column(
    rows: list[Any], name: str, size: int, dtype: Any, missing: list[int] | None = None
) -> NDArray[Any]:
    out = np.empty((len(rows), size), dtype)
    for number, row in enumerate(rows):
        given = row.get(name, missing)
        try:
            array = np.asarray(given, np.float64).reshape(-1)
        except (TypeError, ValueError, OverflowError) as error:
            what = f"{name} of row {number} must be numbers"
            raise BadValue(refuse(what, given, "Give a list of them")) from error
        if array.size != size or not (np.abs(array) <= LARGEST).all():
            what = f"{name} of row {number} must be {size} finite numbers"
            raise BadValue(refuse(what, f"{array.size} values", "Send the whole view"))
        out[number] = array != 0 if dtype is np.uint8 else array
    return out


def _key(row: dict[str, Any], number: int) -> int:
    key = row.get("key", 0)
    if isinstance(key, bool) or not isinstance(key, int) or not 0 <= key < 2**64:
        what = f"key of row {number} must be a whole number below 2^64"
        raise BadValue(refuse(what, key, "Send the row's key"))
    return key
