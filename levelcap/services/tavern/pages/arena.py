"""`/arena`: watch matches live or as replays, and play one.

The page is one element whose modules lie in `static/arena`. Frames come over a WebSocket of our
own, never through NiceGUI's channel; see `relay.py`.
"""

from __future__ import annotations

from nicegui import ui
from nicegui.element import Element

from levelcap.services.tavern.page import Page
from levelcap.services.tavern.parts import page_heading
from levelcap.services.tavern.tags import STATIC


class Canvas(Element, component=STATIC / "arena" / "element.js"):
    """The arena; `base` is where its modules lie."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._props["base"] = base


class ArenaPage(Page):
    """One open page."""

    def build(self) -> None:
        """The element."""
        base = f"{self.tavern.static}/arena"
        ui.add_head_html(f'<link rel="stylesheet" href="{base}/arena.css">')
        page_heading("Arena", "Watch heroes and bots fight, or step in yourself.")
        Canvas(base)
