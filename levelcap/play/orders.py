"""Orders on disk: for each a vector that is added to a hero's goal, in the checkpoint's folder.

    save_orders(folder, learn_orders(policy, shard))   # writes `.orders.json`; `learn/imitation`
    load_checkpoint(folder).orders                     # the names it now understands

The file is attached after publishing, as the ledger's is: no part of the checkpoint's content.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.coach.orders import ORDERS
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.files import dump_json, parse_json
from levelcap.kit.publish import ORDERS_FILE, attach

STANDS_S = 5.0  # an order counts for so long, and is given again while it stands


def save_orders(folder: Path, vectors: dict[str, NDArray[Any]]) -> None:
    """Put the vectors into a checkpoint's folder, beside what was published."""
    rounded = {name: [round(float(v), 4) for v in vector] for name, vector in vectors.items()}
    attach(folder, dump_json(rounded), ORDERS_FILE)


def load_orders(folder: Path, goal_size: int) -> dict[str, NDArray[np.float32]]:
    """The vectors of a checkpoint by the name of the order; none were learned: empty.

    Raises:
        BadValue: a file that was not written here.
    """
    path = folder / ORDERS_FILE
    if not goal_size or not path.is_file():
        return {}
    try:
        found = {n: np.array(v, np.float32) for n, v in parse_json(path.read_bytes()).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise BadValue(refuse("no vectors of orders", str(path), "Learn them again")) from error
    for name, vector in found.items():
        if name not in ORDERS or vector.shape != (goal_size,) or not np.isfinite(vector).all():
            raise BadValue(refuse(f"no vector of an order in {path}", name, "Learn them again"))
    return found
