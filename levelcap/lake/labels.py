"""What somebody said of recorded play: published folders of their own, joined by decision.

    write_labels(folder, shard, {"episode": e, "t": t, "intent": i, "confidence": c}, made_by="…")
    labels = open_labels([folder], shards)
    training.segments(…, labels=labels)

    labels.parquet    episode int32, t int32, and a column a label
    labels.json       format, the shard's digest, the columns' types
    manifest.json     sha256 of both, written last; its parent is the shard

A decision nobody spoke of is MISSING in whole-number columns and NaN in others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, Conflict, Corrupt, refuse
from levelcap.kit.files import read_json, write_json
from levelcap.kit.publish import publish, verify
from levelcap.lake.shard import Shard

TABLE_FILE, HEADER_FILE = "labels.parquet", "labels.json"
FORMAT = 1
MISSING = -1
KEYS = ("episode", "t")
KINDS = ("int8", "int16", "int32", "float32")


def write_labels(
    folder: Path, shard: Shard, columns: Mapping[str, NDArray[Any]], made_by: str
) -> None:
    """Publish labels of one shard as a new folder.

    columns: `episode` and `t` say which decision a row is about; every other array is a label.

    Raises:
        BadValue: a row names no decision of the shard, or one twice; a column of another type.
        Conflict: the folder exists.
    """
    missing = [name for name in KEYS if name not in columns]
    names = [name for name in columns if name not in KEYS]
    if missing or not names:
        what = "labels need episode, t and at least one more column"
        raise BadValue(refuse(what, list(columns), "Give all of them"))
    for name in names:
        if columns[name].dtype.name not in KINDS:
            what = f"label {name} has a type that is not kept"
            raise BadValue(refuse(what, columns[name].dtype.name, f"Use one of {KINDS}"))
    rows = _place(shard, columns["episode"], columns["t"])
    if len(np.unique(rows)) != len(rows):
        raise BadValue(refuse("a decision is labelled twice", len(rows), "Keep one label of it"))
    table = pa.table(
        {
            "episode": columns["episode"].astype(np.int32),
            "t": columns["t"].astype(np.int32),
            **{name: columns[name] for name in names},
        }
    )
    header = {
        "format": FORMAT,
        "shard": shard.digest,
        "made_by": made_by,
        "columns": {name: columns[name].dtype.name for name in names},
    }

    def write(target: Path) -> None:
        pq.write_table(table, target / TABLE_FILE)
        write_json(target / HEADER_FILE, header)

    publish(folder, write, made_by=made_by, parents=[shard.digest])


class Labels:
    """Labels of some shards, a dense column each, ready to be joined."""

    def __init__(self, columns: dict[str, str], by_shard: dict[str, dict[str, NDArray[Any]]]):
        """columns: type of each; by_shard: shard's digest -> column -> a value a row."""
        self.columns, self._by_shard = columns, by_shard

    def rows(self, shard: Shard, group: int) -> dict[str, NDArray[Any]]:
        """Every label of every row of a row group."""
        first, last = shard.span(group)
        a = int(shard.first_row[first])
        b = int(shard.first_row[last - 1]) + int(shard.length[last - 1])
        if shard.digest not in self._by_shard:
            return {name: _unknown(kind, b - a) for name, kind in self.columns.items()}
        return {name: values[a:b] for name, values in self._by_shard[shard.digest].items()}


def open_labels(folders: Sequence[Path], shards: Sequence[Shard]) -> Labels:
    """Read label folders of these shards; each must be of one of them, all with the same columns.

    Raises:
        Corrupt: a byte differs from the manifest, or a row names no decision.
        Conflict: labels of a shard that is not among these, or of other columns.
    """
    known = {shard.digest: shard for shard in shards}
    columns: dict[str, str] = {}
    found: dict[str, dict[str, NDArray[Any]]] = {}
    for folder in folders:
        verify(folder)
        header = read_json(folder / HEADER_FILE)
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            remedy = "Label the shard again"
            raise Corrupt(refuse("labels of another format", str(folder), remedy))
        if header["shard"] not in known:
            remedy = "Name the shard these labels are of"
            raise Conflict(refuse(f"{folder} labels another shard", header["shard"][:16], remedy))
        if columns and header["columns"] != columns:
            what = f"{folder} has other labels than the first"
            raise Conflict(refuse(what, sorted(header["columns"]), "Read them apart"))
        columns = dict(header["columns"])
        shard = known[header["shard"]]
        table = pq.read_table(folder / TABLE_FILE)
        rows = _place(shard, table.column("episode").to_numpy(), table.column("t").to_numpy())
        dense = found.setdefault(header["shard"], {})
        total = int(shard.length.sum())
        for name, kind in columns.items():
            column = dense.setdefault(name, _unknown(kind, total))
            column[rows] = table.column(name).to_numpy()
    return Labels(columns, found)


def _unknown(kind: str, rows: int) -> NDArray[Any]:
    return np.full(rows, np.nan if kind.startswith("float") else MISSING, kind)


def _place(shard: Shard, episode: NDArray[Any], t: NDArray[Any]) -> NDArray[np.int64]:
    """Row of the shard of each (episode, t)."""
    count = len(shard.length)
    bad = (episode < 0) | (episode >= count)
    bad |= (t < 0) | (t >= shard.length[np.clip(episode, 0, count - 1)])
    if bad.any():
        at = int(np.argmax(bad))
        value = (int(episode[at]), int(t[at]))
        raise BadValue(refuse("a label of no decision (episode, t)", value, "Correct the row"))
    return shard.first_row[episode] + t
