"""A shard as plain Parquet: `data/train-00000.parquet`, columns of lists and numbers, a card.

    datasets.load_dataset("OUT")["train"].with_format("numpy")

A row is a decision. Views are lists of numbers (pictures and tables flattened, their shapes in the
card), actions one index a head. A log-probability nobody knows is null.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from levelcap.lake.header import Header
from levelcap.lake.shard import FLAGS, Shard

CARD = "README.md"


def schema_of(header: Header) -> pa.Schema:
    """Columns of the file."""
    views = []
    for name in header.view_names:
        kind = pa.from_numpy_dtype(header.view_dtype(name))
        views.append(pa.field(name, pa.list_(kind, int(np.prod(header.view_shapes[name])))))
    return pa.schema(
        [
            pa.field("episode", pa.int32()),
            pa.field("t", pa.int32()),
            pa.field("policy", pa.string()),
            *views,
            pa.field("action", pa.list_(pa.uint8(), len(header.heads))),
            pa.field("reward", pa.float32()),
            *(pa.field(name, pa.bool_()) for name in FLAGS),
            pa.field("outcome", pa.int8()),
            pa.field("intent", pa.int8()),
            pa.field("behaviour_log_prob", pa.float32()),
        ]
    )


def write(shard: Shard, out: Path) -> int:
    """Fill a folder; returns the number of rows. Memory: one row group."""
    header, schema, rows = shard.header, schema_of(shard.header), 0
    (out / "data").mkdir()
    path = out / "data" / "train-00000.parquet"
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        for group in range(shard.num_groups):
            columns = _columns(shard, group)
            arrays = [_arrow(columns[field.name], field.type) for field in schema]
            table = pa.Table.from_arrays(arrays, schema=schema)
            file.write_table(table)
            rows += len(table)
    (out / CARD).write_text(_card(header, shard.digest), encoding="utf-8")
    return rows


def _columns(shard: Shard, group: int) -> dict[str, Any]:
    header = shard.header
    first, last = shard.span(group)
    length, kept = shard.length[first:last], shard.kept[first:last]
    wanted = np.repeat(kept, length)
    starts = np.repeat(np.cumsum(length) - length, length)
    names = np.array([policy["name"] for policy in header.policies])
    found: dict[str, Any] = dict(shard.decode(group, header.view_names))
    found["action"], found["behaviour_log_prob"] = found.pop("actions"), found.pop("log_prob", None)
    found["episode"] = np.repeat(np.arange(first, last), length)
    found["t"] = np.arange(len(starts)) - starts
    found["policy"] = names[np.repeat(shard.policy[first:last], length)]
    if found["behaviour_log_prob"] is None:
        found["behaviour_log_prob"] = np.full(len(starts), np.nan, np.float32)
    return {name: values[wanted] for name, values in found.items()}


def _arrow(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_fixed_size_list(kind):
        flat = np.ascontiguousarray(values).reshape(-1)
        return pa.FixedSizeListArray.from_arrays(pa.array(flat, kind.value_type), type=kind)
    if pa.types.is_string(kind):
        return pa.array(values.tolist(), kind)
    missing = np.isnan(values) if values.dtype.kind == "f" else None  # null, not NaN
    return pa.array(values.astype(kind.to_pandas_dtype()), kind, mask=missing)


def _card(header: Header, digest: str) -> str:
    """What the columns mean."""
    views = [f"- `{n}`: shape {list(s)}" for n, s in header.view_shapes.items()]
    heads = ", ".join(f"{name} ({size})" for name, size in header.heads)
    lines = [
        *("---", "configs:", "- config_name: default", "  data_files: data/*.parquet", "---", ""),
        *(f"# {header.num_steps:,} decisions of {header.world}", ""),
        f"From shard {digest}, {header.made_by}, source: {header.source}.",
        *("", *views, f"- `action`: an index a head: {heads}"),
        "- `outcome`: of the whole match, +1 won, 0, -1 lost",
        "- `behaviour_log_prob`: null where nobody knows it: imitate, do not weight by importance",
        "",
    ]
    return "\n".join(lines)
