"""The order of batches: every row once an epoch, the same from any start, little to decode."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from levelcap.lake.order import Order
from levelcap.lake.read import open_shards
from levelcap.lake.shard import Shard
from tests.lake import made

LENGTHS = [int(n) for n in np.random.default_rng(3).integers(1, 30, 40)]
TOTAL = 2 * sum(LENGTHS)


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    path = tmp_path_factory.mktemp("lake")
    made.shard(path / "a", LENGTHS[:25], group_rows=40)
    made.shard(path / "b", LENGTHS[25:], group_rows=70, seed=1)
    return open_shards([path / "a", path / "b"])


def rows(batch):
    """Which row of which shard: shards differ in their second feature."""
    return list(map(tuple, batch.views["features"][:, :2].tolist()))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    batch_size=st.integers(1, 200),
    seed=st.integers(0, 2**64 - 1),
    first=st.integers(0, 40),
    window_mb=st.sampled_from([0.005, 0.02, 256.0]),
)
def test_starting_anywhere_gives_the_batches_of_a_run_from_zero(
    shards, batch_size, seed, first, window_mb
):
    options = {"views": ("features",), "window_mb": window_mb}
    whole = list(islice(shards.batches(batch_size, seed, **options), first, first + 3))
    later = list(islice(shards.batches(batch_size, seed, first, **options), 3))
    for one, two in zip(whole, later, strict=True):
        assert len(one) == len(two) == batch_size
        assert (one.views["features"] == two.views["features"]).all()
        assert (one.actions == two.actions).all() and (one.mask == two.mask).all()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**64 - 1), window_mb=st.sampled_from([0.005, 0.02, 256.0]))
def test_every_epoch_has_every_row_once_in_an_order_of_its_own(shards, seed, window_mb):
    batches = shards.batches(TOTAL, seed, views=("features",), window_mb=window_mb)
    first, second = (rows(batch) for batch in islice(batches, 2))
    assert len(first) == len(set(first)) == TOTAL
    assert set(first) == set(second)
    assert first != second


def test_seeds_differ_and_repeat(shards):
    one, two, three = (rows(next(shards.batches(TOTAL, seed))) for seed in (1, 2, 1))
    assert one == three
    assert one != two


def test_a_whole_window_is_mixed(shards):
    batch = next(shards.batches(100, seed=0))
    row = batch.views["features"][:, 0]
    assert len(set((row // 40).astype(int).tolist())) > 10  # rows of most row groups


def test_a_late_start_decodes_only_its_own_window(shards, monkeypatch):
    decoded = []
    plain = Shard.decode

    def counting(shard, group, views):
        decoded.append(group)
        return plain(shard, group, views)

    monkeypatch.setattr(Shard, "decode", counting)
    batches = shards.batches(10, seed=0, first_batch=10 * TOTAL, window_mb=0.02)
    next(batches)
    batches.close()
    total = sum(source.shard.num_groups for source in shards._sources)
    assert 0 < len(decoded) <= total // 4  # its window, and perhaps the next


@given(
    counts=st.lists(st.integers(0, 50), min_size=1, max_size=30).filter(any),
    window_rows=st.integers(1, 120),
    position=st.integers(0, 10_000),
)
def test_windows_hold_all_groups_once_and_no_more_rows_than_allowed(counts, window_rows, position):
    order = Order(np.array(counts), window_rows, seed=7)
    windows = order.windows(epoch=2)
    groups = np.concatenate(windows)
    assert sorted(groups.tolist()) == np.flatnonzero(counts).tolist()
    for window in windows:
        assert order.counts[window].sum() <= window_rows or len(window) == 1
    epoch, window, row = order.find(position)
    before = sum(int(order.counts[w].sum()) for w in order.windows(epoch)[:window])
    assert epoch * order.total + before + row == position
    assert 0 <= row < order.counts[order.windows(epoch)[window]].sum()


def test_places_are_a_permutation():
    order = Order(np.array([5, 7]), 100, seed=0)
    places = order.places(0, 0, 12)
    assert sorted(places.tolist()) == list(range(12))
    assert (places == order.places(0, 0, 12)).all()
    for epoch, window in ((1, 0), (0, 1)):
        assert (places != order.places(epoch, window, 12)).any()
