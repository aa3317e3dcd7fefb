"""Scripted players by name: bots, cousins, bots without a skill, seers, `uniform`.

    scripted("master")  scripted("veteran~17")  scripted("master-no-lead")  scripted("seer-16")

Who may be named where (training, over HTTP, at the keyboard) is decided by `levelcap.play.roster`.
"""

from __future__ import annotations

import re

import numpy as np

from levelcap.kit.errors import unknown_name
from levelcap.kit.seeds import splitmix64_array
from levelcap.world.bots import BOTS, SEALED_FROM, SKILLS, Bot, bot_traits, cousin_traits
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World

SEERS = (2, 4, 16, 64)
_COUSIN = re.compile(r"^([a-z]+)~(\d{1,18})$")
_WITHOUT = re.compile(r"^([a-z]+)-no-([a-z]+)$")


def is_sealed(name: str) -> bool:
    """Is this opponent reserved for judging? No training run may ever play it."""
    cousin = _COUSIN.match(name)
    return name.startswith("seer-") or (cousin is not None and int(cousin[2]) >= SEALED_FROM)


def scripted(name: str) -> Policy:
    """The scripted player of this name.

    Raises:
        UnknownName: nobody is called that.
    """
    if name == "uniform":
        return Uniform()
    cousin, without = _COUSIN.match(name), _WITHOUT.match(name)
    if cousin and cousin[1] in BOTS:
        return Bot(name, cousin_traits(cousin[1], int(cousin[2])))
    if without and without[1] in BOTS and without[2] in SKILLS:
        return Bot(name, bot_traits(without[1])._replace(**{without[2]: 0.0}))
    if name.startswith("seer-"):
        return _seer(name)
    if name not in BOTS:
        known = (*BOTS, *(f"seer-{k}" for k in SEERS), "uniform", "veteran~17", "master-no-lead")
        raise unknown_name("policy", name, known)
    return Bot(name, bot_traits(name))


def _seer(name: str) -> Policy:
    from levelcap.world.seers import Seer  # its kernels hold the whole simulator

    known = tuple(f"seer-{k}" for k in SEERS)
    if name not in known:
        raise unknown_name("policy", name, known)
    return Seer(int(name.split("-")[1]))


class Uniform(Policy):
    """Draws every head uniformly among its allowed bins; works in any world."""

    name = "uniform"

    def __init__(self) -> None:
        self._sizes: tuple[int, ...] = ()

    def bind(self, world: World) -> None:
        """Learn the heads' sizes."""
        self._sizes = tuple(head.size for head in world.spec.heads)

    def act(self, views: Views, state: PolicyState) -> Decision:
        """One allowed bin per head, by a hash of the row's key."""
        bits, start, columns = views["key"], 0, []
        for size in self._sizes:
            allowed = views["mask"][:, start : start + size].astype(bool)
            bits = splitmix64_array(bits)
            wanted = (bits % allowed.sum(1).astype(np.uint64)).astype(np.int64) + 1
            columns.append((allowed.cumsum(1) >= wanted[:, None]).argmax(1))
            start += size
        return Decision(np.stack(columns, axis=1))
