"""What a policy is, and how it is named.

A name is a bot (`master`), a cousin (`veteran~17`), a bot without one skill (`master-no-lead`), a
seer (`seer-16`), `uniform`, or, on the local command line and in Python only, outside code as
`package.module:attribute`. Checkpoints are loaded by
`levelcap.play.load`, which knows this module.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, UnknownName, UserError, refuse, unknown_name
from levelcap.world.bots import BOTS, SEALED_FROM, SKILLS, Bot, bot_traits, cousin_traits

SEERS = (2, 4, 16, 64)
_COUSIN = re.compile(r"^([a-z]+)~(\d{1,18})$")
_WITHOUT = re.compile(r"^([a-z]+)-no-([a-z]+)$")


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


def is_sealed(name: str) -> bool:
    """Is this opponent reserved for judging? No training run may ever play it."""
    cousin = _COUSIN.match(name)
    return name.startswith("seer-") or (cousin is not None and int(cousin[2]) >= SEALED_FROM)


def load(name: str, *, outside_code: bool = False, for_training: bool = False) -> Any:
    """The policy of this name.

    outside_code: also accept `package.module:attribute`. True only where the person at the
    keyboard typed the name; never for recipes, payloads or requests.
    for_training: refuse opponents of the sealed panel.
    """
    if for_training and is_sealed(name):
        remedy = f"Train against bots or cousins with seeds below {SEALED_FROM}"
        raise BadValue(refuse("a sealed opponent cannot be trained against", name, remedy))
    if ":" in name:
        return _load_outside(name, outside_code)
    if name == "uniform":
        return Uniform()
    cousin, without = _COUSIN.match(name), _WITHOUT.match(name)
    if cousin and cousin[1] in BOTS:
        return Bot(name, cousin_traits(cousin[1], int(cousin[2])))
    if without and without[1] in BOTS and without[2] in SKILLS:
        return Bot(name, bot_traits(without[1])._replace(**{without[2]: 0.0}))
    if name.startswith("seer-"):
        return _load_seer(name)
    if name not in BOTS:
        known = (*BOTS, *(f"seer-{k}" for k in SEERS), "uniform", "veteran~17", "master-no-lead")
        raise unknown_name("policy", name, known)
    return Bot(name, bot_traits(name))


def content_hash(policy: Any) -> str:
    """sha256 that changes when the policy's behaviour may: its own hash, or that of its numbers."""
    own = getattr(policy, "content_hash", None)
    if own is not None:
        return str(own)
    numbers = getattr(policy, "traits", getattr(policy, "futures", ""))
    text = f"{type(policy).__module__}.{type(policy).__qualname__} {numbers}"
    return hashlib.sha256(text.encode()).hexdigest()


def _load_seer(name: str) -> Any:
    from levelcap.world.seers import Seer

    known = tuple(f"seer-{k}" for k in SEERS)
    if name not in known:
        raise unknown_name("policy", name, known)
    return Seer(int(name.split("-")[1]))


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
