"""What else is known of an episode: `extras.parquet` of a shard, a row an episode, as JSON.

Most shards have none. Numbers and words of whole episodes, and values of every step: what a
recording said that no column of ours holds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

EXTRAS_FILE = "extras.parquet"
SCHEMA = pa.schema([pa.field("episode", pa.int32(), False), pa.field("extras", pa.string(), False)])
GROUP_CHARS = 8 << 20


class ExtrasWriter:
    """Streams the extras of one shard; the file is made with the first of them."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / EXTRAS_FILE
        self._file: pq.ParquetWriter | None = None
        self._waiting: list[tuple[int, str]] = []
        self._chars = 0

    def add(self, episode: int, extras: Mapping[str, object]) -> None:
        """Keep the extras of an episode; arrays are a value a step."""
        steps = {n: v.tolist() for n, v in extras.items() if isinstance(v, np.ndarray)}
        facts = {n: v for n, v in extras.items() if n not in steps}
        text = json.dumps({"facts": facts, "steps": steps}, allow_nan=False)
        self._waiting.append((episode, text))
        self._chars += len(text)
        if self._chars > GROUP_CHARS:
            self._flush()

    def close(self) -> None:
        """Write what is waiting."""
        self._flush()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _flush(self) -> None:
        if self._waiting:
            if self._file is None:
                self._file = pq.ParquetWriter(self._path, SCHEMA, compression="zstd")
            numbers, texts = zip(*self._waiting, strict=True)
            self._file.write_table(pa.table([numbers, texts], schema=SCHEMA))
            self._waiting, self._chars = [], 0


def read_extras(folder: Path, first: int, last: int) -> dict[int, dict[str, Any]]:
    """Extras of the episodes first..last-1 that have some; values of steps are arrays again."""
    if not (folder / EXTRAS_FILE).is_file():
        return {}
    wanted = [("episode", ">=", first), ("episode", "<", last)]
    table = pq.read_table(folder / EXTRAS_FILE, filters=wanted, use_threads=False)
    found = {}
    for episode, text in zip(*(table.column(n).to_pylist() for n in SCHEMA.names), strict=True):
        value = json.loads(text)
        found[episode] = value["facts"] | {n: objects(v) for n, v in value["steps"].items()}
    return found


def objects(values: list[Any]) -> np.ndarray:
    """An array of anything: one value a step, whatever its shape."""
    return np.fromiter(values, dtype=object, count=len(values))
