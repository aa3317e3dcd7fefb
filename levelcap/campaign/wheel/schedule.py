"""Task Master: what this machine can take now. Pure decisions over a look at the machine.

Training takes two cores. What else runs beside it gets what is left; on two cores nothing does, and
evaluations run between rounds. Training waits on battery (unless allowed) and when the disk is
full, and goes on by itself.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import psutil

from levelcap.kit.config import Settings

TRAINING_CORES = 2
SLOT_GB = 1.5  # memory of one more worker
LOW_DISK_GB = 1.0
FREE_SHARE = 0.95  # training goes on when the realm is below this share of the cap again


@dataclass(frozen=True)
class Machine:
    """A look at the machine."""

    cores: int
    free_memory_gb: float
    free_disk_gb: float
    realm_gb: float
    on_battery: bool


def look(base: Path, realm_gb: float) -> Machine:
    """Look now; `realm_gb` is measured apart because it takes longer."""
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return Machine(
        cores=psutil.cpu_count() or 1,
        free_memory_gb=psutil.virtual_memory().available / 1e9,
        free_disk_gb=shutil.disk_usage(base).free / 1e9,
        realm_gb=realm_gb,
        on_battery=battery is not None and not battery.power_plugged,
    )


def why_wait(machine: Machine, settings: Settings, held: str | None) -> str | None:
    """Why training must wait, or None. `held`: why it waits already, if it does."""
    if settings.pause_on_battery and machine.on_battery:
        return "on battery"
    low = LOW_DISK_GB * (1.5 if held else 1.0)
    if machine.free_disk_gb < low:
        return "the disk is full"
    cap = settings.disk_cap_gb * (FREE_SHARE if held else 1.0)
    if machine.realm_gb > cap:
        return "the disk cap is reached"
    return None


def extra_workers(machine: Machine, settings: Settings) -> int:
    """How many workers may run beside the trainer."""
    cores = min(machine.cores, settings.cores) - TRAINING_CORES
    return max(0, min(cores, int(machine.free_memory_gb / SLOT_GB) - 1, 4))


def used_bytes(base: Path) -> int:
    """Size of all files below a folder; files that vanish meanwhile count nothing."""
    total = 0
    for place, _, names in os.walk(base):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:
                continue
    return total
