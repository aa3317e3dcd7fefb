"""How far two coaches say the same of the same play: accuracy, kappa, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, Conflict, refuse
from levelcap.kit.files import read_json
from levelcap.kit.publish import verify
from levelcap.lake.labels import HEADER_FILE, TABLE_FILE
from levelcap.world.spec import INTENTS


@dataclass(frozen=True)
class Agreement:
    """Of the windows both have labelled."""

    table: NDArray[np.int64]
    """windows [A's intent, B's intent]"""
    targets: float
    """share of windows with the same target"""

    @property
    def windows(self) -> int:
        """How many there are."""
        return int(self.table.sum())

    @property
    def accuracy(self) -> float:
        """Share of windows with the same intent."""
        return float(self.table.trace() / max(self.windows, 1))

    @property
    def kappa(self) -> float:
        """Agreement beyond chance (Cohen 1960): 0 as chance would have it, 1 always."""
        shares = self.table / max(self.windows, 1)
        chance = float((shares.sum(0) * shares.sum(1)).sum())
        return 1.0 if chance == 1.0 else (self.accuracy - chance) / (1 - chance)

    def per_intent(self) -> dict[str, float]:
        """Of A's windows of each intent, the share B calls the same."""
        seen = self.table.sum(1)
        return {n: float(self.table[i, i] / seen[i]) for i, n in enumerate(INTENTS) if seen[i]}


def agree(a: Path, b: Path) -> Agreement:
    """Compare two folders of labels of one shard.

    Raises:
        Conflict: they are of different shards. BadValue: they label no window in common.
    """
    one, other = _read(a), _read(b)
    if one[0] != other[0]:
        remedy = "Give two labellings of one shard"
        raise Conflict(refuse("these labels are of different shards", str(b), remedy))
    mine, theirs = (rows["episode"] << 32 | rows["t"] for rows in (one[1], other[1]))
    _, left, right = np.intersect1d(mine, theirs, return_indices=True)
    if not len(left):
        raise BadValue(refuse("no window is in both", str(b), "Label the same windows"))
    table = np.zeros((len(INTENTS), len(INTENTS)), np.int64)
    np.add.at(table, (one[1]["intent"][left], other[1]["intent"][right]), 1)
    same = one[1]["target"][left] == other[1]["target"][right]
    return Agreement(table, float(same.mean()))


def _read(folder: Path) -> tuple[str, dict[str, NDArray[np.int64]]]:
    """The shard's digest and the columns of a folder of labels."""
    verify(folder)
    header = read_json(folder / HEADER_FILE)
    table = pq.read_table(folder / TABLE_FILE)
    missing = [name for name in ("intent", "target") if name not in table.column_names]
    if missing:
        raise BadValue(refuse("labels without intents", missing, "Label with a coach"))
    names = ("episode", "t", "intent", "target")
    return str(header["shard"]), {n: table.column(n).to_numpy().astype(np.int64) for n in names}
