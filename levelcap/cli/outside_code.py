"""Code of the user's own, named on the command line as `package.module:attribute`."""

from __future__ import annotations

import site
from pathlib import Path
from typing import Any

from levelcap.world import policy


def allow_here(*names: str) -> None:
    """Let modules of the current folder be imported, if one of the names is outside code.

    Only the local command line calls this: the person at the keyboard typed the name.
    """
    if any(":" in name for name in names):
        site.addsitedir(str(Path.cwd()))


def load_policy(name: str) -> Any:
    """A policy by name: bot, cousin, seer, or outside code."""
    allow_here(name)
    return policy.load(name, outside_code=True)
