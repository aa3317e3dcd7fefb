"""From a name to a policy, and who may be named where. No torch.

find("veteran~17")                            a scripted player
find("checkpoint…", nets=shelf.policy_of)     a net, if the caller knows where nets lie
find("package.module:Class", Door.LOCAL)      code of the person at the keyboard
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from enum import Enum

from levelcap.kit.errors import BadValue, UnknownName, UserError, refuse
from levelcap.world.players.bot_names import refuse_sealed
from levelcap.world.players.scripted import scripted
from levelcap.world.protocols import Policy

Nets = Callable[[str], Policy | None]  # the net of this name, or None: the name is no net's


class Door(Enum):
    """Where a name came in."""

    TRAINING = "training"
    """an opponent to learn against: nobody of the sealed panel, no code"""
    REMOTE = "remote"
    """recipes, payloads, requests, judges: no code"""
    LOCAL = "local"
    """typed at the keyboard of this machine, or written in Python: everything"""


def find(name: str, door: Door = Door.REMOTE, nets: Nets | None = None) -> Policy:
    """The policy of this name.

    Args:
        name: of a scripted player, a net or (LOCAL only) `package.module:attribute`.
        door: what may be named here.
        nets: turns the names of nets into policies; asked first.

    Raises:
        BadValue: this door does not let it in. UnknownName: nobody is called that.
        UserError: the code named is no policy.
    """
    if door is Door.TRAINING:
        refuse_sealed(name)
    if nets is not None and (found := nets(name)) is not None:
        return found
    if ":" not in name:
        return scripted(name)
    if door is not Door.LOCAL:
        remedy = "Name a bot or a checkpoint; code by name works on the local command line only"
        raise BadValue(refuse("code by name is refused here", name, remedy))
    return _outside(name)


def _outside(name: str) -> Policy:
    module_name, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        remedy = "Give package.module:attribute"
        raise UnknownName(refuse(f"no such policy ({error})", name, remedy)) from error
    policy = found() if isinstance(found, type) else found
    if not isinstance(policy, Policy):
        remedy = "Derive its class from levelcap.world.Policy; QUICKSTART has an example"
        raise UserError(refuse("not a policy", f"{name}, a {type(policy).__name__}", remedy))
    if not policy.name:
        policy.name = name
    return policy
