"""Policies named on the command line, code of the user's own included."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from levelcap.export.bundle import FILE as BUNDLE
from levelcap.kit.errors import UnknownName, unknown_name
from levelcap.play.roster import Door, find
from levelcap.trials.capped import SUFFIX, Capped
from levelcap.vault.ask import NAMES, find_folder
from levelcap.world.players.bot_names import BOTS, is_bot
from levelcap.world.protocols import Policy

if TYPE_CHECKING:
    from levelcap.play.alone import Hero

_ID = re.compile(r"checkpoint|[0-9a-f]{4,12}$")  # looks like one: the vault says which there are
SOME = ("uniform", "seer-16", "veteran~17", "master-no-lead", "master-wary")


def import_world(name: str) -> None:
    """Import the module of `gym:module:id` or `zoo:module` if it lies in the current folder."""
    kind, _, rest = name.partition(":")
    import_here(f"{rest}:" if kind == "zoo" else rest)


def import_here(name: str) -> None:
    """Import `package/module.py` of the current folder, if `name` names such a file.

    Only the local command line calls this: the person at the keyboard typed the name. The import
    path stays as it is, so nothing else of the folder is picked up by accident.
    """
    module = name.partition(":")[0]
    path = Path.cwd().joinpath(*module.split(".")).with_suffix(".py")
    if ":" not in name or module in sys.modules or not path.is_file():
        return
    spec = importlib.util.spec_from_file_location(module, path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[module] = found
    spec.loader.exec_module(found)


def load_policy(name: str) -> Policy:
    """A policy by name: bot, cousin, seer, checkpoint, outside code; +human behind it caps it.

    A checkpoint is a folder or any name that `vault.ask` knows: an id or its beginning, champion,
    best, latest.
    """
    if name.endswith(SUFFIX):
        return Capped(load_policy(name.removesuffix(SUFFIX)))
    import_here(name)
    return find(name, Door.LOCAL, nets=_net)


def world_of(world: str | None, default: str, *policies: Policy) -> str:
    """The world asked for; without one that of the first checkpoint among the players."""
    if world is not None:
        return world
    metas = [getattr(policy, "meta", None) for policy in policies]
    return next((str(meta.world) for meta in metas if meta is not None), default)


def _net(name: str) -> Policy | None:
    if is_bot(name) or (":" in name and not Path(name).is_dir()):
        return None
    if (Path(name) / BUNDLE).is_file():
        from levelcap.export.policy import load_bundle

        return load_bundle(Path(name))
    try:
        place = find_folder(name, reads=False)
    except UnknownName as error:
        if name in NAMES or _ID.match(name):
            raise
        others = ("a checkpoint's id or folder", "package.module:attribute")
        raise unknown_name("player", name, (*BOTS, *SOME, *NAMES, *others)) from error
    from levelcap.play.load import load_checkpoint  # brings torch in

    return load_checkpoint(place)


def load_hero(name: str, seed: int) -> Hero:
    """A checkpoint by any of its names, alone; see `levelcap.load`."""
    from levelcap.play.alone import Hero
    from levelcap.play.load import load_checkpoint

    return Hero(load_checkpoint(find_folder(name, reads=False)), seed)
