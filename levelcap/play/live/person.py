"""A person at the table: keys and cursor, sampled whenever everybody decides.

Input arrives at any time, from another thread; the grid takes a sample of it. A click since the
last sample counts, even if the button is up again. When nothing has arrived since the last sample,
the move is repeated and the trigger released; after two seconds of silence the person stands idle.

One input is 24 bytes, little endian: kind 1, held and clicked buttons (bits fire, Q, E, R,
interact), one byte of zero, a number that rises, then move x, y and cursor x, y as floats in
[-1, 1] (world frame, y up; the cursor relative to the player in units of sight).
"""

from __future__ import annotations

import hashlib
import math
import struct
import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, refuse
from levelcap.world.actions import Action, encode
from levelcap.world.protocols import Decision, Policy, PolicyState, Views
from levelcap.world.spec import HEAD_OFFSETS

LAYOUT = struct.Struct("<BBBBIffff")
KIND_INPUT = 1
FIRE, KEY_Q, KEY_E, KEY_R, INTERACT = (1 << i for i in range(5))
ALL_BUTTONS = 31
IDLE_AFTER = 20  # decisions: 2 s on the grid of 3 ticks
REMEDY = "Send inputs as levelcap.play.live.person describes them"
_OFFSETS = np.array(HEAD_OFFSETS)
_IDLE = encode(Action())


@dataclass(frozen=True)
class Input:
    """What a person's hands do at one moment."""

    number: int
    held: int
    clicked: int
    move_x: float
    move_y: float
    aim_x: float
    aim_y: float

    def pack(self) -> bytes:
        """The 24 bytes."""
        vector = (self.move_x, self.move_y, self.aim_x, self.aim_y)
        return LAYOUT.pack(KIND_INPUT, self.held, self.clicked, 0, self.number, *vector)


def read_input(data: bytes) -> Input:
    """An input out of bytes that may come from anywhere.

    Raises:
        BadValue: another length or kind, an unknown button, a number outside [-1, 1].
    """
    if len(data) != LAYOUT.size:
        raise BadValue(refuse(f"an input has {LAYOUT.size} bytes", len(data), REMEDY))
    kind, held, clicked, zero, number, *vector = LAYOUT.unpack(data)
    if kind != KIND_INPUT or zero != 0:
        raise BadValue(refuse("no input of a person", (kind, zero), REMEDY))
    if (held | clicked) > ALL_BUTTONS:
        raise BadValue(refuse("an unknown button", (held, clicked), REMEDY))
    for value in vector:
        if not abs(value) <= 1.0:  # false for NaN as well
            raise BadValue(refuse("a direction outside [-1, 1]", value, REMEDY))
    return Input(number, held, clicked, *vector)


class Person(Policy):
    """A policy whose actions come from a person."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ack, self.silent = 0, 0
        self._lock = threading.Lock()
        self._last: Input | None = None
        self._clicked, self._fresh = 0, False
        self._sign = 1.0

    @property
    def content_hash(self) -> str:
        """Of the name: nobody can hash a person."""
        return hashlib.sha256(f"person {self.name}".encode()).hexdigest()

    @property
    def idle(self) -> bool:
        """Has nothing been heard for two seconds?"""
        return self.silent >= IDLE_AFTER

    def seat(self, sign: float) -> None:
        """sign: -1 for a side that sees the world turned round, else 1."""
        self._sign = sign

    def hear(self, given: Input) -> None:
        """Take in an input; one older than the last is forgotten."""
        with self._lock:
            if self._last is None or given.number >= self._last.number:
                self._clicked |= given.clicked
                self._last, self._fresh = given, True

    def sample(self) -> NDArray[np.uint8]:
        """The decision [7] of this moment."""
        with self._lock:
            last, clicked, fresh = self._last, self._clicked, self._fresh
            self._clicked, self._fresh = 0, False
        self.silent = 0 if fresh else self.silent + 1
        if last is None or self.idle:
            return encode(Action())
        self.ack = last.number
        return encode(_action(last, (last.held | clicked) if fresh else 0, self._sign))

    def act(self, views: Views, state: PolicyState) -> Decision:
        """The sampled decision for its row; a bin that is not allowed now becomes the idle one.

        The rules would ignore it; whoever learns from the recording must not see it.
        """
        rows = np.repeat(self.sample()[None], len(views["key"]), axis=0)
        allowed = np.take_along_axis(views["mask"], rows + _OFFSETS, axis=1)
        return Decision(np.where(allowed == 0, _IDLE, rows))


def _action(given: Input, buttons: int, sign: float) -> Action:
    """An input as an action of a seat."""
    slots = ((KEY_Q, 1), (KEY_E, 2), (KEY_R, 3))
    ability = next((slot for bit, slot in slots if buttons & bit), 0)
    aim_x, aim_y = given.aim_x, given.aim_y
    reach = max(abs(aim_x), abs(aim_y))
    if buttons & FIRE and not ability and reach > 0:
        # A shot needs the direction only: at the rim the grid of aims is finest.
        aim_x, aim_y = aim_x / reach, aim_y / reach
    move_x, move_y = given.move_x, given.move_y
    length = math.hypot(move_x, move_y)
    if length > 1.0:
        move_x, move_y = move_x / length, move_y / length
    return Action(
        move_x=sign * move_x,
        move_y=sign * move_y,
        aim_x=sign * aim_x,
        aim_y=sign * aim_y,
        fire=int(bool(buttons & FIRE)),
        ability=ability,
        interact=int(bool(buttons & INTERACT)),
    )
