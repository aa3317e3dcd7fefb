"""`/oracle`: ask text heroes, two side by side; one element, `static/oracle/chat.js`."""

from __future__ import annotations

from nicegui import ui
from nicegui.element import Element

from levelcap.services.tavern.page import Page
from levelcap.services.tavern.parts import page_heading
from levelcap.services.tavern.tags import STATIC


class Chat(Element, component=STATIC / "oracle" / "chat.js"):
    """The conversation; `base` is where its modules lie."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._props["base"] = base


class OraclePage(Page):
    """One open page."""

    def build(self) -> None:
        """The element."""
        base = f"{self.tavern.static}/oracle"
        ui.add_head_html(f'<link rel="stylesheet" href="{base}/oracle.css">')
        page_heading("Oracle", "Ask a text hero, or two of its checkpoints side by side.")
        Chat(base)
