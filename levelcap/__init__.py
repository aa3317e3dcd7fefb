"""levelcap: train heroes in a small, fast arena game, and keep what they learned.

`levelcap.load("champion").act(observation)` asks one of them.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from levelcap.play.alone import Hero

__version__ = "0.1.0"

# One thread for every matrix product, in every thread and child process. Acting and learning have a
# core each; two threads of one product on a core that something else wants wait for each other at
# every layer (a run fell to a fiftieth of its speed), and sums over two threads have other bits.
# OpenMP reads this when torch is loaded; whoever sets it before us is obeyed.
for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def load(name: str = "champion", seed: int = 0) -> Hero:
    """A hero of the arena: champion, best, latest, an id or its beginning, or a folder.

    Its `act(observation)` decides for one player; `seed` is that of its chances.

    Raises:
        UnknownName: no checkpoint is called that. Corrupt: its bytes are damaged.
    """
    # By name: the command line stands above all folders, and loading brings torch in.
    return cast("Hero", importlib.import_module("levelcap.cli.policies").load_hero(name, seed))
