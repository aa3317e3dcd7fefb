"""`levelcap doctor`: is this machine ready? A table of checks; exit code 1 when one fails."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable

from rich.console import Console

from levelcap.cli.printer import table
from levelcap.cli.realm_checks import FAIL, MIN_FREE_GB, PASS, REALM_CHECKS, WARN, Finding
from levelcap.kit.config import load_settings
from levelcap.kit.errors import LevelcapError
from levelcap.kit.paths import folder


def _python() -> Finding:
    text = sys.version.split()[0]
    return (PASS if sys.version_info >= (3, 11) else FAIL), f"Python {text}"


def _home() -> Finding:
    base = folder("state").parent
    free = shutil.disk_usage(base).free / 1e9
    return (PASS if free >= MIN_FREE_GB else WARN), f"{base}, {free:.0f} GB free"


def _settings() -> Finding:
    settings = load_settings()
    return PASS, f"cores {settings.cores}, disk cap {settings.disk_cap_gb} GB"


def _cores() -> Finding:
    count = os.cpu_count() or 1
    return (PASS if count >= 2 else WARN), f"{count} cores"


def _world() -> Finding:
    from levelcap.play.matchup import play_games
    from levelcap.play.roster import find

    began = time.monotonic()
    result = play_games(find("rookie"), find("idle"), "duel", 2)
    return PASS, f"{result.games} duels played in {time.monotonic() - began:.1f} s"


CHECKS: dict[str, Callable[[], Finding]] = {
    "python": _python,
    "cores": _cores,
    "home": _home,
    "settings": _settings,
    **REALM_CHECKS,
    "world": _world,
}


def doctor() -> None:
    """Check this machine; exit code 1 when something fails."""
    rows = []
    for name, check in CHECKS.items():
        try:
            result, text = check()
        except (LevelcapError, OSError, ImportError) as error:
            result, text = FAIL, str(error)
        rows.append((name, result, text))
    Console(highlight=False).print(table(("check", "result", "what was found"), rows, "doctor"))
    if any(result == FAIL for _, result, _ in rows):
        sys.exit(1)
