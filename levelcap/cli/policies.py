"""Policies named on the command line, code of the user's own included."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from levelcap.play.roster import Door, find
from levelcap.trials.capped import SUFFIX, Capped
from levelcap.world.protocols import Policy


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
    """A policy by name: bot, cousin, seer, a checkpoint's folder, outside code; +human caps it."""
    if name.endswith(SUFFIX):
        return Capped(load_policy(name.removesuffix(SUFFIX)))
    import_here(name)
    return find(name, Door.LOCAL, nets=_in_folder)


def _in_folder(name: str) -> Policy | None:
    if not Path(name).is_dir():
        return None
    from levelcap.play.load import load_checkpoint  # brings torch in

    return load_checkpoint(Path(name))
