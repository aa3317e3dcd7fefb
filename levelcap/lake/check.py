"""Reading a shard to the last value, and the list of shards in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from levelcap.kit.errors import BadValue, Corrupt, StateError, refuse
from levelcap.kit.publish import read_manifest
from levelcap.lake.header import HEADER_FILE, Header
from levelcap.lake.quality import Quality
from levelcap.lake.records import EPISODES_FILE, Episodes, Steps
from levelcap.lake.shard import AGAIN, FLAGS, Shard

LATER = ("actions_forbidden", "alive_share")  # a lazy shard learns these only when replayed


def check_shard(folder: Path) -> tuple[Header, dict[str, Any]]:
    """Verify bytes and content of a shard: decode all of it (lazy: replay it) and count anew.

    Returns:
        The header, and the quality report as counted now.

    Raises:
        Corrupt: bytes, values or the stored report are not what was written.
        Conflict: another world version or schema.
    """
    shard = Shard(folder)
    quality = Quality(shard.header)
    table = _episodes(shard)
    for group in range(shard.num_groups):
        first, last = shard.span(group)
        try:
            quality.add(_steps(shard, group), table.part(first, last))
        except BadValue as error:
            raise Corrupt(refuse(f"broken values ({error})", str(folder), AGAIN)) from error
    report = quality.report()
    stored = dict(shard.header.quality)
    if shard.header.lazy:
        stored |= {name: report[name] for name in LATER}
    if report != stored:
        different = sorted(n for n in report if report[n] != stored.get(n))
        what = f"{folder} holds other records than its report says"
        raise Corrupt(refuse(what, different, AGAIN))
    return shard.header, report


def list_shards(parent: Path) -> Iterator[tuple[Path, Header | None, str]]:
    """Shards in a folder: path, header and time of making; no header when it cannot be read.

    Only manifests and headers are read; `check_shard` reads the rest.
    """
    for path in sorted(p for p in parent.glob("*") if p.is_dir() and p.name[0] != "."):
        try:
            made = read_manifest(path).created
            yield path, Header.from_file(path / HEADER_FILE), made
        except StateError:
            yield path, None, ""


def _steps(shard: Shard, group: int) -> Steps:
    header = shard.header
    columns = shard.decode(group, header.view_names)
    nothing = np.zeros(len(columns["actions"]), np.float32)
    return Steps(
        **{name: columns[name] for name in ("actions", *FLAGS)},
        log_probs=columns.get("log_prob", nothing),
        intents=columns["intent"],
        mask=np.unpackbits(columns["mask"], axis=1, count=header.mask_size),
        rewards=columns["reward"],
        views={name: columns[name] for name in header.view_names},
    )


def _episodes(shard: Shard) -> Episodes:
    table = pq.read_table(shard.folder / EPISODES_FILE, use_threads=False)
    own = ("match", "match_seed", "seat", "team", "outcome", "reward_sum", "length", "kept")
    columns = {name: table.column(name).to_numpy() for name in own}
    champion = np.array(table.column("champion").to_pylist(), dtype=np.str_)
    return Episodes(**columns, policy=shard.policy, champion=champion)
