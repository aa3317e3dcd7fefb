"""The environment that peers run in: without the thread counts levelcap sets for itself."""

from __future__ import annotations

import os

OURS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


def environment() -> dict[str, str]:
    """What a peer's process inherits."""
    return {name: value for name, value in os.environ.items() if name not in OURS}
