"""The clock of leases: seconds since boot, suspension included, and which boot it was.

Nobody can set this clock, so a wall clock that jumps by years ends no lease and keeps none. It
starts again at every boot: a time stored under another boot id lies in the past.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Clock:
    """A boot id and a reading of seconds since then; tests pass their own."""

    boot_id: str
    read: Callable[[], float]

    def now(self) -> float:
        """Returns seconds on this clock; never goes back within one boot id."""
        return self.read()


def system_clock() -> Clock:
    """Returns the clock of this machine and this boot."""
    return Clock(BOOT_ID_FILE.read_text(encoding="ascii").strip(), _since_boot)


def _since_boot() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)
