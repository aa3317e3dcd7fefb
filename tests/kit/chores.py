"""Stages for tests of backends, in a module that is quick to import in a new process."""

from __future__ import annotations

import os
import signal
import time

from levelcap.kit.errors import BadValue


def square(value: int) -> int:
    return value * value


def slow_square(value: int) -> int:
    time.sleep(0.05)
    return value * value


def refuse_odd(value: int) -> int:
    if value % 2:
        raise BadValue(f"odd: {value}")
    return value


def die(value: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return value


def die_once(unit: tuple[int, str]) -> int:
    """The first process that gets a unit dies of it; the file says that one did."""
    value, mark = unit
    if not os.path.exists(f"{mark}-{value}"):
        open(f"{mark}-{value}", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return value * value
