"""`/arena`: watch matches live or as replays, and play one.

The page is one element whose modules lie in `static/arena` and which reads the address itself.
Frames come over a WebSocket of their own; see `relay.py`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from levelcap.services.tavern.view import Asked, View

Name = Annotated[str, Field(max_length=100)]


class ArenaAsked(Asked):
    """Which recorded match, from which tick on; or which live one."""

    replay: Name = ""
    tick: Annotated[int, Field(ge=0)] = 0
    match: Name = ""


class ArenaView(View[ArenaAsked]):
    """Nothing is read: the element asks."""

    asked = ArenaAsked
