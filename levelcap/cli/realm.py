"""`levelcap realm size|wipe`: what lies under $LEVELCAP_HOME, and how to get rid of it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.paths import FOLDERS, get_base_dir


def _bytes(path: Path) -> int:
    return sum(f.lstat().st_size for f in path.rglob("*") if f.is_file() and not f.is_symlink())


def size() -> None:
    """Print how much each folder of the realm takes."""
    base = get_base_dir()
    table = Table(title=f"{base}", title_justify="left")
    table.add_column("folder")
    table.add_column("MB", justify="right")
    total = 0
    for path in sorted(p for p in base.glob("*") if p.is_dir()):
        used = _bytes(path)
        total += used
        table.add_row(path.name, f"{used / 1e6:.1f}")
    table.add_row("all", f"{total / 1e6:.1f}")
    Console(highlight=False).print(table)


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
    amount = sum(_bytes(path) for path in mine) / 1e6
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
