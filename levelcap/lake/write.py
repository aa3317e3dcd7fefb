"""Writing a shard: blocks of whole matches in, a published folder out, memory bounded.

    def fill(writer):
        for steps, episodes in play():
            writer.add(steps, episodes)
    header = write_shard(folder, header, fill)

`fill` runs while the folder is still a hidden temporary one: a kill, a full disk or an error
leaves nothing that a reader would take for a shard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.files import write_bytes
from levelcap.kit.publish import publish
from levelcap.lake.extras import ExtrasWriter
from levelcap.lake.header import HEADER_FILE, Header
from levelcap.lake.quality import Quality
from levelcap.lake.records import (
    EPISODES,
    EPISODES_FILE,
    VIEW,
    Episodes,
    Steps,
    join_episodes,
    join_steps,
    steps_schema,
)

GROUP_ROWS = 65_536
GROUP_BYTES = 16 << 20  # wide rows come in smaller groups, so that a reader's window holds several
LAZY_GROWTH = 4  # replaying many matches at once is faster
FILE_ROWS = 2_000_000
COUNTERS = ("episode", "t")  # columns that rise by one
_ZSTD: dict[str, Any] = {"compression": "zstd", "compression_level": 1}


def write_shard(folder: Path, header: Header, fill: Callable[[ShardWriter], None]) -> Header:
    """Publish a new shard.

    Args:
        folder: where it will be; it must not exist yet.
        header: what is known beforehand; counts and quality are filled in.
        fill: called with a writer, to which it adds blocks.

    Returns:
        The header as stored.

    Raises:
        Conflict: `folder` exists. BadValue: a broken record, or none at all. NoSpace: disk full.
        After any of them nothing is left behind.
    """
    done: list[Header] = []

    def write(tmp: Path) -> None:
        writer = ShardWriter(tmp, header)
        try:
            fill(writer)
            done.append(writer.finish())
        finally:
            writer.close()

    publish(folder, write, made_by=header.made_by, parents=header.parents)
    return done[0]


class ShardWriter:
    """Streams blocks of whole matches into the files of one shard; made by `write_shard`."""

    def __init__(self, folder: Path, header: Header) -> None:
        self._folder, self._header = folder, header
        self._schema = steps_schema(header)
        self._quality = Quality(header)
        self._known = np.array([bool(p["log_probs"]) for p in header.policies])
        width = header.row_bytes(header.view_names)
        self._group_rows = max(1, min(GROUP_ROWS, GROUP_BYTES // width))
        self._group_rows *= LAZY_GROWTH if header.lazy else 1
        self._waiting: list[tuple[Steps, Episodes]] = []
        self._waiting_rows = 0
        self._files: dict[str, int] = {}
        self._steps_file: pq.ParquetWriter | None = None
        self._episodes_file = pq.ParquetWriter(folder / EPISODES_FILE, EPISODES, **_ZSTD)
        self._extras = ExtrasWriter(folder)
        self._num_rows = self._num_episodes = self._num_matches = self._num_added = 0

    def add(self, steps: Steps, episodes: Episodes) -> None:
        """Add a block: the episodes of whole matches and their rows, in the same order.

        Raises:
            BadValue: rows and episodes do not belong together, or a value is broken.
        """
        if len(episodes) == 0:
            return
        self._check_shape(steps, episodes)
        self._quality.add(steps, episodes)
        turns = np.concatenate(([0], np.diff(episodes.match) != 0))
        matches = (self._num_matches + np.cumsum(turns)).astype(np.int32)
        self._num_matches = int(matches[-1]) + 1
        self._num_added += len(episodes)
        self._take(steps, replace(episodes, match=matches))

    def add_extras(self, extras: Mapping[str, object]) -> None:
        """Keep what else is known of the episode that was added last."""
        self._extras.add(self._num_added - 1, extras)

    def finish(self) -> Header:
        """Write what is waiting, then the header."""
        self._flush()
        self.close()
        if self._num_episodes == 0:
            remedy = "Play at least one game, and keep a policy that plays"
            raise BadValue(refuse("a shard without episodes", 0, remedy))
        report = self._quality.report()
        header = replace(
            self._header,
            num_steps=report["steps"],
            num_episodes=report["episodes"],
            num_matches=self._num_matches,
            step_files=self._files,
            quality=report,
        )
        write_bytes(self._folder / HEADER_FILE, header.to_bytes())
        return header

    def close(self) -> None:
        """Close the files as they are."""
        if self._steps_file is not None:
            self._steps_file.close()
            self._steps_file = None
        self._episodes_file.close()
        self._extras.close()

    def _check_shape(self, steps: Steps, episodes: Episodes) -> None:
        header = self._header
        if int(episodes.length.sum()) != len(steps):
            remedy = "Give the rows of exactly these episodes, in their order"
            raise BadValue(refuse("rows and episodes do not fit", len(steps), remedy))
        wanted: dict[str, tuple[int, ...]] = {"actions": (len(header.heads),)}
        given = {"actions": steps.actions.shape[1:]}
        if not header.lazy:
            wanted |= {"mask": (header.mask_size,), **header.view_shapes}
            columns = {**steps.columns(), **steps.views}
            flat = ("rewards", "terminated", "truncated", "alive")
            missing = [name for name in (*flat, *wanted) if name not in columns]
            if missing:
                raise BadValue(refuse("columns are missing", missing, "Give all of them"))
            given = {name: columns[name].shape[1:] for name in wanted}
        for name, shape in wanted.items():
            if given[name] != shape:
                what = f"{name} has the wrong shape for {header.world}"
                raise BadValue(refuse(what, given[name], f"Give rows of {shape}"))

    def _take(self, steps: Steps, episodes: Episodes) -> None:
        """Cut a block into row groups that end where an episode (lazy: a match) ends."""
        ends = np.cumsum(episodes.length)
        last_of_match = np.append(np.diff(episodes.match) != 0, True)
        cuts = np.flatnonzero(last_of_match) if self._header.lazy else np.arange(len(ends))
        row = episode = 0
        while row < len(steps):
            full = row + self._group_rows - self._waiting_rows
            number = int(np.searchsorted(ends[cuts], full))
            last = number >= len(cuts)
            cut = len(ends) - 1 if last else int(cuts[number])
            end = int(ends[cut])
            part = steps.part(row, end)
            # What is left to wait is copied: it must not keep the memory of the whole block.
            part = join_steps([part]) if last else part
            self._waiting.append((part, episodes.part(episode, cut + 1)))
            self._waiting_rows += end - row
            row, episode = end, cut + 1
            if not last:
                self._flush()

    def _flush(self) -> None:
        """Write what is waiting as one row group."""
        if self._waiting:
            steps, episodes = zip(*self._waiting, strict=True)
            self._waiting, self._waiting_rows = [], 0
            one = len(steps) == 1
            self._write_group(
                steps[0] if one else join_steps(steps),
                episodes[0] if one else join_episodes(episodes),
            )

    def _write_group(self, steps: Steps, episodes: Episodes) -> None:
        table = self._step_table(steps, episodes)
        file = self._open_file()
        file.write_table(table, row_group_size=max(1, len(steps)))
        self._files[next(reversed(self._files))] += len(steps)
        self._episodes_file.write_table(self._episode_table(episodes))
        self._num_rows += len(steps)
        self._num_episodes += len(episodes)

    def _open_file(self) -> pq.ParquetWriter:
        full = self._files and next(reversed(self._files.values())) >= FILE_ROWS
        if self._steps_file is not None and full:
            self._steps_file.close()
            self._steps_file = None
        if self._steps_file is None:
            name = f"steps-{len(self._files):05d}.parquet"
            self._files[name] = 0
            repeating = ["actions.list.element", "intent", "reward"]
            self._steps_file = pq.ParquetWriter(
                self._folder / name,
                self._schema,
                use_dictionary=[n for n in repeating if n.split(".")[0] in self._schema.names],
                column_encoding={name: "DELTA_BINARY_PACKED" for name in COUNTERS},
                write_statistics=list(COUNTERS),
                **_ZSTD,
            )
        return self._steps_file

    def _step_table(self, steps: Steps, episodes: Episodes) -> pa.Table:
        starts = np.cumsum(episodes.length) - episodes.length
        numbers = np.arange(self._num_episodes, self._num_episodes + len(episodes))
        unknown = np.repeat(~self._known[episodes.policy], episodes.length)
        columns: dict[str, Any] = {
            "episode": np.repeat(numbers, episodes.length).astype(np.int32),
            "t": (np.arange(len(steps)) - np.repeat(starts, episodes.length)).astype(np.int32),
            "actions": steps.actions,
            "behaviour_log_prob": pa.array(steps.log_probs, pa.float32(), mask=unknown),
            "intent": steps.intents,
        }
        if not self._header.lazy:
            assert steps.mask is not None
            columns |= {"mask": np.packbits(steps.mask, axis=1), "reward": steps.rewards}
            columns |= {n: getattr(steps, n) for n in ("terminated", "truncated", "alive")}
            for name in self._header.view_names:
                dtype = self._header.view_dtype(name)
                columns[VIEW + name] = np.ascontiguousarray(steps.views[name], dtype)
        arrays = [_arrow(columns[field.name], field.type) for field in self._schema]
        return pa.Table.from_arrays(arrays, schema=self._schema)

    def _episode_table(self, episodes: Episodes) -> pa.Table:
        names = np.array([policy["name"] for policy in self._header.policies])
        hashes = np.array([policy["hash"] for policy in self._header.policies])
        given = {f.name: getattr(episodes, f.name) for f in fields(episodes)}
        columns = given | {
            "episode": np.arange(self._num_episodes, self._num_episodes + len(episodes)),
            "policy": names[episodes.policy],
            "policy_hash": hashes[episodes.policy],
            "first_row": self._num_rows + np.cumsum(episodes.length) - episodes.length,
        }
        arrays = [pa.array(columns[field.name], field.type) for field in EPISODES]
        return pa.Table.from_arrays(arrays, schema=EPISODES)


def _arrow(values: Any, kind: pa.DataType) -> pa.Array:
    """A numpy column as an Arrow array of this type, without copying wide ones."""
    if isinstance(values, pa.Array):
        return values
    if pa.types.is_fixed_size_list(kind):
        flat = np.ascontiguousarray(values, kind.value_type.to_pandas_dtype()).reshape(-1)
        return pa.FixedSizeListArray.from_arrays(pa.array(flat), type=kind)
    if pa.types.is_fixed_size_binary(kind):
        data = np.ascontiguousarray(values)
        assert data.nbytes == len(data) * kind.byte_width, "rows of another width"
        buffers = [None, pa.py_buffer(data)]
        return pa.FixedSizeBinaryArray.from_buffers(kind, len(data), buffers)
    return pa.array(np.asarray(values), kind)
