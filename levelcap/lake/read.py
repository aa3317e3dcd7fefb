"""Reading shards: opened with suspicion, filtered, split by match, served as seeded batches.

    shards = open_shards([folder_a, folder_b], world="duel", policies=["master"])
    training, validation = shards.split(validation=0.05)
    for batch in training.batches(4096, seed=0, first_batch=resume_at):
        ...

Nothing is read of a folder before all of its bytes have been compared with its manifest.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from levelcap.kit.errors import BadValue, Conflict, check_known, refuse
from levelcap.kit.seeds import check_seed
from levelcap.lake.batch import Batch, Batches
from levelcap.lake.extras import read_extras
from levelcap.lake.header import heads_of, views_of
from levelcap.lake.labels import Labels
from levelcap.lake.order import Order
from levelcap.lake.records import TrajectorySequence
from levelcap.lake.segments import Cut, SegmentBatch, Segments
from levelcap.lake.shard import BUCKETS, Shard
from levelcap.lake.windows import Source
from levelcap.world.spec import Head, ViewSpec

__all__ = ["Batch", "Shards", "TrajectorySequence", "open_shards"]

# Of all shards opened together.
SAME = ("world", "tick_hz", "patch", "view_specs", "heads", "decision_ticks")
# Of the memory a reader may use: the window being served, the one being made, and a row group.
WINDOW_SHARE = 0.45


def open_shards(
    paths: Sequence[Path],
    *,
    world: str | None = None,
    policies: Sequence[str] | None = None,
    need_log_probs: bool = False,
) -> Shards:
    """Open shards that may be read together; every byte is compared with the manifests.

    Args:
        paths: folders of shards; at least one, none twice.
        world: refuse shards of another world.
        policies: keep the episodes of these policies only (as `filtered`).
        need_log_probs: refuse when a policy that is kept has no behaviour log-probabilities.

    Raises:
        Corrupt: truncated, changed or inconsistent files.
        Conflict: another world version, world, patch, views, heads or rate than asked for or
            than the first shard has; missing log-probabilities.
    """
    if not paths:
        raise BadValue(refuse("no shard was named", [], "Give at least one folder"))
    opened: list[Shard] = []
    for path in paths:
        shard = Shard(Path(path))
        _check_alike(shard, opened, world)
        opened.append(shard)
    shards = Shards([Source(shard, shard.kept) for shard in opened])
    if policies is not None:
        shards = shards.filtered(policies=policies)
    if need_log_probs:
        shards.check_log_probs()
    return shards


class Shards:
    """Chosen episodes of shards that fit together; made by `open_shards`."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = list(sources)
        self.header = self._sources[0].shard.header

    @property
    def world(self) -> str:
        """Name of the world, as `levelcap.world.make` takes it."""
        return self.header.world

    @property
    def patch(self) -> str:
        """Name of the patch they were played with; "" for outside games."""
        return str(self.header.patch["name"])

    @property
    def digests(self) -> list[str]:
        """sha256 of the records of every shard, in the order they were named."""
        return [source.shard.digest for source in self._sources]

    @property
    def views(self) -> dict[str, ViewSpec]:
        """The views of these shards, stored or computed again."""
        return views_of(self.header)

    @property
    def heads(self) -> tuple[Head, ...]:
        """The action heads."""
        return heads_of(self.header)

    @property
    def policies(self) -> tuple[str, ...]:
        """Names of the policies that have chosen episodes."""
        return tuple({p["name"]: None for source in self._sources for p in source.policies})

    @property
    def num_episodes(self) -> int:
        """Chosen episodes."""
        return int(sum(source.chosen.sum() for source in self._sources))

    @property
    def num_steps(self) -> int:
        """Rows of the chosen episodes."""
        return int(sum(s.shard.length[s.chosen].sum(dtype=np.int64) for s in self._sources))

    def filtered(self, *, policies: Sequence[str]) -> Shards:
        """Only the episodes of these policies."""
        known = {p["name"] for source in self._sources for p in source.shard.header.policies}
        for name in policies:
            check_known("policy in these shards", name, known)
        found = []
        for source in self._sources:
            wanted = np.array([p["name"] in policies for p in source.shard.header.policies])
            found.append(Source(source.shard, source.chosen & wanted[source.shard.policy]))
        return Shards(found)

    def split(self, validation: float = 0.05) -> tuple[Shards, Shards]:
        """Training and validation episodes, by a hash of the match seed.

        All players of a match, and both games of a pair, fall on the same side, in any shard.
        """
        if not 0.0 <= validation <= 1.0:
            raise BadValue(refuse("validation is a share", validation, "Give 0 … 1"))
        limit = round(validation * BUCKETS)
        training, rest = [], []
        for source in self._sources:
            held_out = source.shard.bucket < limit
            training.append(Source(source.shard, source.chosen & ~held_out))
            rest.append(Source(source.shard, source.chosen & held_out))
        return Shards(training), Shards(rest)

    def check_log_probs(self) -> None:
        """Refuse when a chosen episode has no behaviour log-probabilities."""
        for source in self._sources:
            for policy in source.policies:
                if not policy["log_probs"]:
                    folder = source.shard.folder
                    what = f"{folder} has no behaviour log-probabilities of this policy"
                    remedy = "Imitate it, or read only policies that have them"
                    raise Conflict(refuse(what, policy["name"], remedy))

    def batches(
        self,
        batch_size: int,
        seed: int,
        first_batch: int = 0,
        *,
        views: Sequence[str] | None = None,
        window_mb: float = 256,
    ) -> Generator[Batch, None, None]:
        """Endless batches over epochs, in an order that depends on the arguments alone.

        Args:
            batch_size: rows of a batch; every batch is full.
            seed: of the order.
            first_batch: start here; the batches are those that a run from 0 would give.
            views: decode only these (default all).
            window_mb: memory for shuffling. Part of the order: resume with the same value.

        Decoding runs ahead in two threads; `close()` the generator to stop them early.
        """
        names = self._view_names(views)
        counts = np.concatenate([s.shard.counts(s.chosen) for s in self._sources])
        _check_reading(batch_size, first_batch, window_mb, seed, counts)
        rows = int(window_mb * (1 << 20) * WINDOW_SHARE / self.header.row_bytes(names))
        order = Order(counts, max(1, rows), seed)
        return Batches(self._sources, order, names).serve(batch_size, first_batch)

    def segments(
        self,
        batch_size: int,
        seed: int,
        first_batch: int = 0,
        *,
        length: int,
        burn_in: int = 0,
        history: int = 0,
        every: int = 10,
        history_views: Sequence[str] = (),
        views: Sequence[str] | None = None,
        labels: Labels | None = None,
        window_mb: float = 256,
    ) -> Generator[SegmentBatch, None, None]:
        """Endless batches of whole stretches of play, for nets that remember.

        Every decision of a chosen episode is among the `length` learned ones of exactly one segment
        an epoch; before them stand up to `burn_in` decisions that only warm the memory up.

        Args:
            batch_size: segments of a batch.
            seed, first_batch, views, window_mb: as for `batches`.
            length, burn_in: decisions of a segment.
            history: rows of `history_views` from before the segment, the last one `every`
                decisions before its first row (10 = one a second), older ones before it; rows
                before the match began are masked.
            labels: what a coach said of these shards; joined by episode and decision.
        """
        names = self._view_names(views)
        for name in self._view_names(history_views):
            if name not in names:
                remedy = "Name it among the views too"
                raise BadValue(refuse("history of a view that is not read", name, remedy))
        cut = Cut(length, burn_in, history, every, tuple(history_views))
        counts = np.concatenate([cut.counts(source) for source in self._sources])
        _check_reading(batch_size, first_batch, window_mb, seed, counts)
        width = self.header.row_bytes(names) * (length + burn_in + history)
        order = Order(counts, max(1, int(window_mb * (1 << 20) * WINDOW_SHARE / width)), seed)
        return Segments(self._sources, order, names, cut, labels).serve(batch_size, first_batch)

    def episodes(self, views: Sequence[str] | None = None) -> Iterator[TrajectorySequence]:
        """Every chosen episode, in the order of the shards, its views flattened into `obs`."""
        names = self._view_names(views)
        for source in self._sources:
            for group in np.flatnonzero(source.shard.counts(source.chosen)).tolist():
                yield from _episodes_of(source, group, names)

    def _view_names(self, views: Sequence[str] | None) -> tuple[str, ...]:
        names = tuple(self.header.view_names if views is None else views)
        for name in names:
            check_known("view in these shards", name, self.header.view_names)
        return names


def _check_reading(
    batch_size: int, first_batch: int, window_mb: float, seed: int, counts: NDArray[np.int64]
) -> None:
    if batch_size < 1 or first_batch < 0:
        what = "batch_size is at least 1 and first_batch at least 0"
        raise BadValue(refuse(what, (batch_size, first_batch), "Correct them"))
    if window_mb <= 0:
        raise BadValue(refuse("window_mb is above 0", window_mb, "Give e.g. 256"))
    check_seed(seed)
    if counts.sum() == 0:
        remedy = "Choose other policies, another split, or more shards"
        raise BadValue(refuse("no episode is left to read", 0, remedy))


def _check_alike(shard: Shard, opened: Sequence[Shard], world: str | None) -> None:
    header = shard.header
    if world is not None and header.world != world:
        remedy = f"Give shards of {world}"
        raise Conflict(refuse(f"{shard.folder} is of another world", header.world, remedy))
    if not opened:
        return
    first = opened[0]
    for name in SAME:
        ours, theirs = getattr(first.header, name), getattr(header, name)
        if ours != theirs:
            what = f"{shard.folder} has another {name.replace('_', ' ')} than {first.folder}"
            raise Conflict(refuse(what, theirs, "Read them apart"))
    for other in opened:
        if other.digest == shard.digest:
            what = f"{shard.folder} holds the same records as {other.folder}"
            raise Conflict(refuse(what, header.num_steps, "Name each shard once"))


def _episodes_of(
    source: Source, group: int, views: tuple[str, ...]
) -> Iterator[TrajectorySequence]:
    shard = source.shard
    columns = shard.decode(group, views)
    first, last = shard.span(group)
    start = int(shard.first_row[first])
    names = [name for name, _ in shard.header.heads]
    mask = np.unpackbits(columns["mask"], axis=1, count=shard.header.mask_size)
    known = read_extras(shard.folder, first, last)
    for episode in (first + np.flatnonzero(source.chosen[first:last])).tolist():
        a = int(shard.first_row[episode]) - start
        rows = slice(a, a + int(shard.length[episode]))
        policy = shard.header.policies[int(shard.policy[episode])]
        parts = [columns[name][rows].reshape(rows.stop - a, -1) for name in views]
        # Copies: a sequence that is kept must not keep its whole row group alive.
        yield TrajectorySequence(
            obs=np.concatenate(parts, axis=1, dtype=np.float32),
            actions={n: columns["actions"][rows, h].copy() for h, n in enumerate(names)},
            rewards=columns["reward"][rows].copy(),
            dones=columns["terminated"][rows] | columns["truncated"][rows],
            behavior_logp=columns["log_prob"][rows].copy() if policy["log_probs"] else None,
            extras={
                **known.get(episode, {}),
                "source": shard.header.source,
                "path": str(shard.folder),
                "policy": policy["name"],
                "terminal_outcome": int(shard.outcome[episode]),
                "truncated": bool(columns["truncated"][rows][-1]),
                "mask": mask[rows].copy(),
                "alive": columns["alive"][rows].copy(),
                "intents": columns["intent"][rows].copy(),
            },
        )
