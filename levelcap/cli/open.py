"""`levelcap open`: a fresh address that lets its reader into the Tavern."""

from __future__ import annotations

import os
import sys
import webbrowser

from rich.console import Console

from levelcap.kit.errors import StateError, refuse


def open_(*, browser: bool = True) -> None:
    """Print an address with a one-time code, good for ten minutes, and open it.

    Parameters
    ----------
    browser
        Open it in a browser when this machine has a display.
    """
    from levelcap.services.process.standing import read_leader

    leader = read_leader()
    if leader is None or "tavern" not in leader.ports:
        what = "the Tavern does not run"
        raise StateError(refuse(what, "no service", "Start it: levelcap up"))
    show_entry(Console(highlight=False, soft_wrap=True), browser)


def show_entry(console: Console, browser: bool = True) -> None:
    """Print a fresh address, and open it when there is a display."""
    from levelcap.services.tavern.entry import entry_url, make_code

    url = entry_url(make_code())
    console.print(f"{'enter here':<12}{url}", markup=False)
    if browser and has_display():
        webbrowser.open(url)


def has_display() -> bool:
    """Whether a browser could be seen here."""
    if sys.platform == "darwin":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
