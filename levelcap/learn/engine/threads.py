"""Torch threads: measured once on this machine and stored, because the default can be wrong by 10x.

Two spinning threads on a busy two-core machine wait for each other most of the time. Acting and
learning overlap in two threads of ours, so one torch thread each is what usually wins; the
measurement decides. Import this module before torch does any work.
"""

from __future__ import annotations

import os
import time
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read by torch's OpenMP when it loads

import torch

from levelcap.kit.config import load_settings
from levelcap.kit.errors import LevelcapError
from levelcap.kit.files import read_json, write_json
from levelcap.kit.paths import folder

FILE = "threads.json"
ROWS, WIDTH, REPEATS, ROUNDS = 4096, 256, 4, 3


def tune_threads() -> int:
    """Set torch's threads to what is fastest here; measured at the first call on a machine."""
    cores = load_settings().cores
    path = folder("state") / FILE
    key = f"torch {torch.__version__}, {cores} cores"
    stored: Any = None
    if path.exists():
        try:
            stored = read_json(path)
        except LevelcapError:
            path.unlink()  # a cache: measured again
    if isinstance(stored, dict) and stored.get("key") == key:
        best = int(stored["threads"])
    else:
        times = {count: _time(count) for count in range(1, cores + 1)}
        # More threads must win clearly: acting needs a core too.
        best = min(times, key=lambda count: times[count] * (1.0 if count == 1 else 1.6))
        write_json(
            path, {"key": key, "threads": best, "seconds": {str(k): v for k, v in times.items()}}
        )
    torch.set_num_threads(best)
    return best


def _time(count: int) -> float:
    """Best seconds of a forward and backward pass with this many threads."""
    torch.set_num_threads(count)
    net = torch.nn.Sequential(
        torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH)
    )
    rows = torch.zeros(ROWS, WIDTH)
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(REPEATS):
            net(rows).sum().backward()
        best = min(best, time.perf_counter() - began)
    return best
