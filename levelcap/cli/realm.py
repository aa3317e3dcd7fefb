"""`levelcap realm size|wipe`: what lies under $LEVELCAP_HOME, and how to get rid of it."""

from __future__ import annotations

import shutil
import sys

from rich.console import Console

from levelcap.campaign.wheel.schedule import used_bytes
from levelcap.cli.printer import print_table, table
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.paths import FOLDERS, get_base_dir


def size() -> None:
    """Print how much each folder of the realm takes."""
    base = get_base_dir()
    used = {path.name: used_bytes(path) for path in sorted(base.glob("*")) if path.is_dir()}
    used["all"] = sum(used.values())
    rows = [(name, f"{size / 1e6:.1f}") for name, size in used.items()]
    print_table(table(("folder", "MB"), rows, str(base), right=True))


def wipe(*, yes: bool = False) -> None:
    """Delete the realm's folders; nothing else under $LEVELCAP_HOME is touched.

    Parameters
    ----------
    yes
        Do not ask.
    """
    console = Console(highlight=False)
    base = get_base_dir()
    mine = [base / name for name in FOLDERS if (base / name).is_dir()]
    amount = sum(used_bytes(path) for path in mine) / 1e6
    if not yes:
        if not sys.stdin.isatty():
            raise BadValue(refuse("wipe asks first", "no terminal", "Add --yes to delete anyway"))
        question = f"Delete {len(mine)} folders, {amount:.1f} MB, under {base}? Type wipe: "
        if console.input(question) != "wipe":
            console.print("nothing deleted")
            return
    for path in mine:
        shutil.rmtree(path)
    console.print(f"deleted {len(mine)} folders, {amount:.1f} MB, under {base}", soft_wrap=True)
