"""A person's hand as inputs tell of it: pointer, clicks and keys, one decision after the other."""

from __future__ import annotations

import re

from levelcap.world.actions import CENTRE, HOTKEYS, LEFT, RIGHT, from_mouse
from levelcap.world.spec import MOVE_BINS

BUTTONS = {"left": LEFT, "0": LEFT, "right": RIGHT, "2": RIGHT}  # numbers as browsers count them
MOVES = {"W": (0, 1), "A": (-1, 0), "S": (0, -1), "D": (1, 0)}
SHOWN = ("W", "A", "S", "D", "Q", "E", "R", "Space", "Ctrl")  # keys with a number of their own
CLOCK_STEPS = 10_000  # decisions until the clock begins again: a thousand seconds
_CODE = re.compile(r"\d{2,3}")


def key_name(code: str | int) -> str:
    """W, 1, Space, Ctrl … of what browsers (KeyW), libraries (w) and Windows (87) call a key."""
    text = str(code)
    if isinstance(code, int) or _CODE.fullmatch(text):
        text = (
            chr(int(code)) if 48 <= int(code) <= 90 else {"32": "Space", "17": "Ctrl"}.get(text, "")
        )
    text = text.removeprefix("Key.").removeprefix("Key").removeprefix("Digit")
    if text.lower().startswith(("ctrl", "control")):
        return "Ctrl"
    return "Space" if text.lower() in ("space", " ") else text.upper()


class Hand:
    """What the hand is like, and what it has done since the last decision."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._at = self._place = (0.5, 0.5)  # now, and at the last decision
        self._moved = (0.0, 0.0)  # between the last two decisions
        self._click = self._clicked = 0
        self._wheel = self._rolled = 0.0
        self._pressed = "none"
        self._idle = self._was_idle = True
        self._seen: tuple[str, ...] = ()  # keys held at the last decision

    def take(
        self,
        kind: str,
        key: str | int | None,
        button: str | int | None,
        delta: float | None,
    ) -> None:
        """One input."""
        self._idle = self._idle and kind == "frame"
        if key is not None and kind == "key_down":
            name = key_name(key)
            self._keys.add(name)
            self._pressed = name if name in HOTKEYS else self._pressed
        elif key is not None and kind == "key_up":
            self._keys.discard(key_name(key))
        elif kind == "mouse_click":
            self._click = BUTTONS.get(str(button).lower(), self._click)
        elif kind == "wheel":
            self._wheel += delta or 0.0

    def move(self, x: float | None, y: float | None) -> None:
        """Where the pointer is, if the input says so."""
        self._at = (self._at[0] if x is None else x, self._at[1] if y is None else y)

    def before(self, number: int) -> list[float]:
        """`world.spec.WATCH`: as it was at the last decision, before what `bins` tells."""
        return [
            *(number % CLOCK_STEPS / CLOCK_STEPS, *self._place, *self._moved),
            *(float(self._clicked == LEFT), float(self._clicked == RIGHT)),
            *(max(-1.0, min(1.0, self._rolled)), len(self._seen) / 10),
            *(float(name in self._seen) for name in SHOWN),
            float(self._was_idle),
        ]

    def bins(self) -> list[int]:
        """What was done: heads through the mouse's rules; W, A, S, D are moves."""
        x, y = (2 * place - 1 for place in self._at)
        found: list[int] = from_mouse([x, y, self._click, HOTKEYS.index(self._pressed)]).tolist()
        held = [MOVES[name] for name in sorted(self._keys & MOVES.keys())]
        if held:
            full = MOVE_BINS // 2
            found[:2] = (CENTRE + full * max(-1, min(1, sum(m[i] for m in held))) for i in (0, 1))
        return found

    def next(self) -> None:
        """The decision is over."""
        (x, y), (old_x, old_y) = self._at, self._place
        self._place, self._moved = self._at, (x - old_x, y - old_y)
        self._clicked, self._rolled, self._was_idle = self._click, self._wheel, self._idle
        self._seen = tuple(sorted(self._keys))
        self._click, self._wheel, self._pressed, self._idle = 0, 0.0, "none", True
