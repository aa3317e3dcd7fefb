"""`levelcap orders`: vectors with which a live hero can be told what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from levelcap.cli.options import AsJson, Int
from levelcap.cli.printer import print_table, say_json, table
from levelcap.coach.orders import ORDERS
from levelcap.lake.shard import Shard
from levelcap.learn.imitation.orders import STEPS, learn_orders
from levelcap.play.load import load_checkpoint
from levelcap.play.orders import save_orders
from levelcap.vault.ask import find_folder


def orders(checkpoint: str, shard: Path, /, *, steps: Int = STEPS, json_: AsJson = False) -> None:
    """Learn what each order adds to a hero's goal, and keep it in the checkpoint's folder.

    Parameters
    ----------
    checkpoint
        An id, champion, best, latest or a folder; the hero must be of the family hierarchy.
    shard
        A folder that `levelcap record` wrote with the views this hero reads.
    steps
        Of the gradient, an order; 0: the mean goals of matching moments alone.
    json_
        Print one JSON object as the last line.
    """
    place = find_folder(checkpoint, reads=False)
    found = learn_orders(load_checkpoint(place), Shard(shard), steps)
    save_orders(place, found)
    rows = [
        (name, f"{np.linalg.norm(found[name]):.2f}" if name in found else "nothing to learn from")
        for name in ORDERS
    ]
    print_table(table(("order", "length of its vector"), rows, "Orders", right=True))
    if json_:
        say_json({"orders": sorted(found)})
