"""One shard on disk, verified, indexed by episode, decoded a row group at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from levelcap.kit.errors import Conflict, Corrupt, refuse
from levelcap.kit.files import dump_json
from levelcap.kit.ids import sha256_bytes
from levelcap.kit.publish import Manifest, verify
from levelcap.kit.seeds import splitmix64_array
from levelcap.lake.extras import EXTRAS_FILE
from levelcap.lake.header import HEADER_FILE, Header
from levelcap.lake.quality import all_finite
from levelcap.lake.records import EPISODES, EPISODES_FILE, VIEW, steps_schema
from levelcap.lake.replay import Matches, check_patch, replay_matches
from levelcap.world.spec import WORLD_VERSION

BUCKETS = 65_536  # match seeds are hashed into so many parts, for splits
FLAGS = ("terminated", "truncated", "alive")
# Read of every episode; the last two of lazy shards only.
INDEXED = ("policy", "outcome", "length", "first_row", "kept", "match_seed", "match", "seat")
AGAIN = "Restore the shard from a copy, or record it again"
Columns = dict[str, NDArray[Any]]


class Shard:
    """A published folder of steps. Opening reads every byte once and compares it.

    Kept in memory: a few bytes an episode; steps are read when asked for.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.manifest: Manifest = verify(self.folder)
        self.header = Header.from_file(self.folder / HEADER_FILE)
        if self.header.world_version != WORLD_VERSION:
            what = f"{self.folder} was played in another world version than {WORLD_VERSION}"
            remedy = "Record it again, or read it with the levelcap version that wrote it"
            raise Conflict(refuse(what, self.header.world_version, remedy))
        if self.header.lazy:
            check_patch(self.header, str(self.folder))
        self._schema = steps_schema(self.header)
        self._groups: list[tuple[Path, pq.FileMetaData, int]] = []
        sizes: list[int] = []
        listed = {EPISODES_FILE, HEADER_FILE, *self.header.step_files}
        if listed != set(self.manifest.files) - {EXTRAS_FILE}:
            raise self._corrupt("the header names other files than the manifest")
        for name in self.header.step_files:
            metadata = self._metadata(name)
            for group in range(metadata.num_row_groups):
                self._groups.append((self.folder / name, metadata, group))
                sizes.append(metadata.row_group(group).num_rows)
        self._ends = np.cumsum(np.array(sizes, np.int64))
        self._index_episodes()

    @property
    def digest(self) -> str:
        """sha256 of all records: the same for the same content, whenever it was written."""
        return sha256_bytes(dump_json(self.manifest.files))

    @property
    def num_groups(self) -> int:
        """Row groups in all files."""
        return len(self._groups)

    def counts(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Rows of the chosen episodes in every row group."""
        groups = np.searchsorted(self._ends, self.first_row[chosen], "right")
        weights = self.length[chosen]
        return np.bincount(groups, weights, minlength=self.num_groups).astype(np.int64)

    def span(self, group: int) -> tuple[int, int]:
        """First episode of a row group, and the first of the next."""
        start = int(self._ends[group - 1]) if group else 0
        first, last = np.searchsorted(self.first_row, (start, int(self._ends[group])))
        return int(first), int(last)

    def rows(self, group: int, chosen: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        """Which rows of a row group belong to the chosen episodes; None means all."""
        first, last = self.span(group)
        taken = chosen[first:last]
        if taken.all():
            return None
        return np.flatnonzero(np.repeat(taken, self.length[first:last]))

    def decode(self, group: int, views: Sequence[str]) -> Columns:
        """Columns of one row group, all rows: the views, mask (packed), actions, reward, outcome,
        left, terminated, truncated, alive, intent and, where a policy knows them, log_prob.
        """
        header = self.header
        names = ["actions", "intent"]
        if any(policy["log_probs"] for policy in header.policies):
            names.append("behaviour_log_prob")
        if not header.lazy:
            names += ["mask", "reward", *FLAGS, *(VIEW + name for name in views)]
        path, metadata, number = self._groups[group]
        try:
            with pq.ParquetFile(path, metadata=metadata) as file:
                table = file.read_row_group(number, columns=names, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise self._corrupt(f"{path.name} cannot be decoded") from error
        columns = {name: _numpy(table.column(name)) for name in names}
        for name in views:
            if VIEW + name in columns:
                numbers = columns.pop(VIEW + name).view(header.view_dtype(name))
                columns[name] = numbers.reshape(-1, *header.view_shapes[name])
        if header.lazy:
            columns |= self._replayed(group, columns["actions"], views)
        first, last = self.span(group)
        length = self.length[first:last]
        columns["outcome"] = np.repeat(self.outcome[first:last], length)
        ends = np.repeat(np.cumsum(length, dtype=np.int32), length)
        columns["left"] = ends - np.arange(1, len(ends) + 1, dtype=np.int32)
        self._check_values(table, columns, views)
        if "behaviour_log_prob" in columns:
            columns["log_prob"] = columns.pop("behaviour_log_prob")
        return columns

    def _replayed(self, group: int, actions: NDArray[np.uint8], views: Sequence[str]) -> Columns:
        first, last = self.span(group)
        matches = Matches(
            match=(self.match[first:last] - self.match[first]).astype(np.int64),
            seed=self.match_seed[first:last],
            seat=self.seat[first:last].astype(np.int64),
            length=self.length[first:last].astype(np.int64),
            first_row=self.first_row[first:last] - self.first_row[first],
        )
        columns = replay_matches(self.header, matches, actions, views)
        columns["mask"] = np.packbits(columns["mask"], axis=1)
        return columns

    def _metadata(self, name: str) -> pq.FileMetaData:
        try:
            metadata = pq.read_metadata(self.folder / name)
        except (pa.ArrowException, OSError) as error:
            raise self._corrupt(f"{name} is no Parquet file") from error
        wanted = EPISODES if name == EPISODES_FILE else self._schema
        if not metadata.schema.to_arrow_schema().equals(wanted):
            raise self._corrupt(f"{name} has other columns than its header says")
        return metadata

    def _index_episodes(self) -> None:
        """Read what is needed of every episode, and see that it fits the steps."""
        self._metadata(EPISODES_FILE)
        needed = INDEXED if self.header.lazy else INDEXED[:6]
        table = pq.read_table(self.folder / EPISODES_FILE, columns=list(needed), use_threads=False)
        values = {name: _numpy(table.column(name)) for name in needed if name != "policy"}
        self.length: NDArray[np.int32] = values["length"]
        self.first_row: NDArray[np.int64] = values["first_row"]
        self.outcome: NDArray[np.int8] = values["outcome"]
        self.kept: NDArray[np.bool_] = values["kept"]
        if self.header.lazy:
            self.match: NDArray[np.int32] = values["match"]
            self.match_seed: NDArray[np.uint64] = values["match_seed"]
            self.seat: NDArray[np.int16] = values["seat"]
        self.policy = self._policy_numbers(table.column("policy"))
        hashed = splitmix64_array(values["match_seed"])
        self.bucket = (hashed >> np.uint64(48)).astype(np.uint16)
        ends = np.cumsum(self.length, dtype=np.int64)
        fits = len(ends) > 0 and int(self.length.min()) > 0
        fits = fits and bool((self.first_row == ends - self.length).all())
        fits = fits and len(self._ends) > 0 and bool(np.isin(self._ends, ends).all())
        fits = fits and int(self._ends[-1]) == int(ends[-1])
        fits = fits and int(self.length[self.kept].sum()) == self.header.num_steps
        if not fits:
            raise self._corrupt("steps and episodes do not fit together")

    def _policy_numbers(self, column: pa.ChunkedArray) -> NDArray[np.int16]:
        names = [policy["name"] for policy in self.header.policies]
        found = column.combine_chunks().dictionary_encode()
        places = {name: number for number, name in enumerate(names)}
        unknown = [name for name in found.dictionary.to_pylist() if name not in places]
        if unknown:
            raise self._corrupt(f"the header does not know the policy {unknown[0]!r}")
        table = np.array([places[name] for name in found.dictionary.to_pylist()], np.int16)
        return table[_numpy(pa.chunked_array([found.indices]))]

    def _check_values(self, table: pa.Table, columns: Columns, views: Sequence[str]) -> None:
        """Values that `write_shard` refuses, met in a shard that somebody else signed."""
        for name in (*views, "reward"):
            if not all_finite(columns[name]):
                raise self._corrupt(f"{name} holds NaN or infinity")
        if (columns["actions"] >= self.header.head_sizes).any():
            raise self._corrupt("an action is out of range")
        if "behaviour_log_prob" in columns:
            missing = table.column("behaviour_log_prob").null_count
            if int((~np.isfinite(columns["behaviour_log_prob"])).sum()) != missing:
                raise self._corrupt("behaviour_log_prob holds NaN or infinity")

    def _corrupt(self, what: str) -> Corrupt:
        return Corrupt(refuse(what, str(self.folder), AGAIN))


def _numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """An Arrow column as numpy: wide columns as [n, size] without a copy, null as NaN."""
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if pa.types.is_fixed_size_list(array.type):
        flat = array.flatten().to_numpy(zero_copy_only=True)
        return flat.reshape(len(array), array.type.list_size)
    if pa.types.is_fixed_size_binary(array.type):
        width = array.type.byte_width
        data = np.frombuffer(array.buffers()[1], np.uint8)
        start = array.offset * width
        return data[start : start + len(array) * width].reshape(len(array), width)
    return array.to_numpy(zero_copy_only=False)
