"""Scripted players by name: bots, cousins, bots without a skill, seers, `uniform`.

    scripted("master")  scripted("veteran~17")  scripted("master-no-lead")  scripted("seer-16")

Who may be named where (training, over HTTP, at the keyboard) is decided by `levelcap.play.roster`.
"""

from __future__ import annotations

import hashlib

import numpy as np

from levelcap.kit.seeds import splitmix64_array
from levelcap.world.players.bot_names import COUSIN, WARY, WITHOUT, check_bot
from levelcap.world.players.bots import Bot, bot_traits, cousin_traits
from levelcap.world.players.wary import WaryBot
from levelcap.world.protocols import Decision, Policy, PolicyState, Views, World


def scripted(name: str) -> Policy:
    """The scripted player of this name.

    Raises:
        UnknownName: nobody is called that.
    """
    check_bot(name)
    if name == "uniform":
        return Uniform()
    if cousin := COUSIN.match(name):
        return Bot(name, cousin_traits(cousin[1], int(cousin[2])))
    if without := WITHOUT.match(name):
        return Bot(name, bot_traits(without[1])._replace(**{without[2]: 0.0}))
    if wary := WARY.match(name):
        return WaryBot(name, Bot(wary[1], bot_traits(wary[1])))
    if name.startswith("seer-"):
        from levelcap.world.players.seers import Seer  # its kernels hold the whole simulator

        return Seer(int(name.split("-")[1]))
    return Bot(name, bot_traits(name))


class Uniform(Policy):
    """Draws every head uniformly among its allowed bins; works in any world."""

    name = "uniform"

    def __init__(self) -> None:
        self._sizes: tuple[int, ...] = ()

    @property
    def content_hash(self) -> str:
        """Of its name; the class is named as in the first shards."""
        return hashlib.sha256(b"levelcap.world.policy.Uniform ").hexdigest()

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
