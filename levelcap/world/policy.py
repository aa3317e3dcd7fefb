"""What a policy is, and how it is named.

A name is a bot (`master`), a cousin (`veteran~17`), a bot without one skill (`master-no-lead`), a
seer (`seer-16`), `uniform`, or, on the local command line and in Python only, outside code as
`package.module:attribute`. Checkpoints are loaded by
`levelcap.play.load`, which knows this module.
"""

from __future__ import annotations

import hashlib
import importlib
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, UnknownName, UserError, refuse
from levelcap.world.bot_names import COUSIN, WITHOUT, check_bot
from levelcap.world.bots import Bot, bot_traits, cousin_traits


@runtime_checkable
class Policy(Protocol):
    """Decides for batches of players. Bots, nets and outside code look the same.

    views: names of the views it reads; `decision_ticks`: its own rate.
    `act(views, state)` gets the rows of its players: the views asked for, and always `mask`
    [n, bins], `reset` [n] (this row starts a match: zero that row's state), `key` uint64 [n] (the
    only source of chance) and `alive` [n]. Returns bins [n, heads] and the new state.
    A policy may also have `bind(world)`, called once before the first `act`, and `sit(matches,
    seats)`, called with the match and seat of each of its rows.
    """

    views: tuple[str, ...]
    decision_ticks: int

    def initial_state(self, num_rows: int) -> Any:
        """State for `num_rows` players at the start of their matches."""
        ...

    def act(self, views: dict[str, NDArray[Any]], state: Any) -> tuple[NDArray[Any], Any]:
        """Bins [n, heads] for n rows, and their new state."""
        ...


def load(name: str, *, outside_code: bool = False, for_training: bool = False) -> Any:
    """The policy of this name.

    outside_code: also accept `package.module:attribute`. True only where the person at the
    keyboard typed the name; never for recipes, payloads or requests.
    for_training: refuse opponents of the sealed panel.
    """
    if ":" in name:
        return _load_outside(name, outside_code)
    check_bot(name, for_training=for_training)
    if name == "uniform":
        return Uniform()
    if cousin := COUSIN.match(name):
        return Bot(name, cousin_traits(cousin[1], int(cousin[2])))
    if without := WITHOUT.match(name):
        return Bot(name, bot_traits(without[1])._replace(**{without[2]: 0.0}))
    if name.startswith("seer-"):
        from levelcap.world.seers import Seer

        return Seer(int(name.split("-")[1]))
    return Bot(name, bot_traits(name))


def content_hash(policy: Any) -> str:
    """sha256 that changes when the policy's behaviour may: its own hash, or that of its numbers."""
    own = getattr(policy, "content_hash", None)
    if own is not None:
        return str(own)
    numbers = getattr(policy, "traits", getattr(policy, "futures", ""))
    text = f"{type(policy).__module__}.{type(policy).__qualname__} {numbers}"
    return hashlib.sha256(text.encode()).hexdigest()


def _load_outside(name: str, allowed: bool) -> Any:
    if not allowed:
        remedy = "Name a bot or a checkpoint; code by name works on the local command line only"
        raise BadValue(refuse("code by name is refused here", name, remedy))
    module_name, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownName(
            refuse(f"no such policy ({error})", name, "Give package.module:attribute")
        ) from error
    policy = found() if isinstance(found, type) else found
    check_policy(policy, name)
    return policy


def check_policy(policy: Any, name: str) -> None:
    """Refuse an object that does not look like a policy, naming what is missing."""
    for part in ("views", "decision_ticks", "initial_state", "act"):
        if not hasattr(policy, part):
            raise UserError(
                refuse(f"not a policy: no {part!r}", name, "See levelcap.world.policy.Policy")
            )


class Uniform:
    """Draws every head uniformly among its allowed bins; works in any world."""

    views: tuple[str, ...] = ()
    decision_ticks = 3

    def __init__(self) -> None:
        self._sizes: tuple[int, ...] = ()

    def bind(self, world: Any) -> None:
        """Learn the heads' sizes."""
        self._sizes = tuple(head.size for head in world.spec.heads)

    def initial_state(self, num_rows: int) -> None:
        """It remembers nothing."""

    def act(self, views: dict[str, NDArray[Any]], state: Any) -> tuple[NDArray[Any], Any]:
        """One allowed bin per head, by a hash of the row's key."""
        from levelcap.kit.seeds import splitmix64_array

        bits, start, columns = views["key"], 0, []
        for size in self._sizes:
            allowed = views["mask"][:, start : start + size].astype(bool)
            bits = splitmix64_array(bits)
            wanted = (bits % allowed.sum(1).astype(np.uint64)).astype(np.int64) + 1
            columns.append((allowed.cumsum(1) >= wanted[:, None]).argmax(1))
            start += size
        return np.stack(columns, axis=1), state
