"""Segments: every decision once an epoch, history from the same match, labels joined."""

import numpy as np
import pytest

import levelcap.world
from levelcap.kit.errors import BadValue, Conflict, Corrupt
from levelcap.kit.seeds import chain
from levelcap.lake.labels import MISSING, open_labels, write_labels
from levelcap.lake.read import open_shards
from levelcap.lake.shard import Shard
from levelcap.play.record.games import record

LENGTH, BURN_IN = 16, 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("lake") / "shard"
    record(["veteran", "rookie"], "duel", 12, 3, place, views=["features"])
    return place


@pytest.fixture(scope="module")
def shards(folder):
    return open_shards([folder])


def total(shards):
    lengths = shards._sources[0].shard.length
    return int((-(-lengths // LENGTH)).sum())


def one_epoch(shards, **more):
    count = total(shards)
    stream = shards.segments(count, 7, length=LENGTH, burn_in=BURN_IN, **more)
    return next(stream)


def test_every_decision_is_learned_from_once_an_epoch(shards):
    batch = one_epoch(shards)
    assert int(batch.learned.sum()) == shards.num_steps
    episodes = list(shards.episodes())
    left = sorted(batch.left[batch.learned].tolist())
    assert left == sorted(n for e in episodes for n in range(len(e)))


def places_of(shards):
    """{episode: t} of every row by what was seen and what was left; mirrored starts look alike."""
    found = {}
    for k, e in enumerate(shards.episodes()):
        for t, row in enumerate(e.obs):
            found.setdefault((row.tobytes(), len(e) - 1 - t), {})[k] = t
    return found


def key(batch, t, b):
    return batch.views["features"][t, b].tobytes(), int(batch.left[t, b])


def test_a_segment_is_a_stretch_of_one_match(shards):
    batch, known = one_epoch(shards), places_of(shards)
    for b in range(batch.left.shape[1]):
        places = [known[key(batch, t, b)] for t in np.flatnonzero(batch.valid[:, b])]
        common = set.intersection(*(set(one) for one in places))
        assert common
        at = [one[min(common)] for one in places]
        assert at == list(range(at[0], at[0] + len(at)))
        begins = np.flatnonzero(batch.reset[:, b]).tolist()
        assert begins == ([int(np.argmax(batch.valid[:, b]))] if at[0] == 0 else [])


def test_the_order_follows_from_the_seed_and_reading_resumes(shards):
    stream = shards.segments(5, 1, length=LENGTH, burn_in=BURN_IN)
    batches = [next(stream) for _ in range(9)]
    again = shards.segments(5, 1, 6, length=LENGTH, burn_in=BURN_IN)
    for expected in batches[6:]:
        found = next(again)
        np.testing.assert_array_equal(found.actions, expected.actions)
        np.testing.assert_array_equal(found.valid, expected.valid)
    other = next(shards.segments(5, 2, length=LENGTH, burn_in=BURN_IN))
    assert not np.array_equal(other.actions, batches[0].actions)


def test_history_comes_from_before_the_segment_and_never_from_another_match(shards):
    batch = one_epoch(shards, history=3, every=10, history_views=["features"])
    episodes = list(shards.episodes())
    known, checked = places_of(shards), 0
    for b in range(batch.left.shape[1]):
        first = int(np.argmax(batch.valid[:, b]))
        episode, t = min(known[key(batch, int(batch.valid[:, b].sum()) + first - 1, b)].items())
        t -= int(batch.valid[:, b].sum()) - 1
        start = t - first  # of the segment's first row, before the match's start or not
        for s, ago in enumerate((30, 20, 10)):
            there = start - ago >= 0
            assert bool(batch.history_valid[s, b]) == there
            if there:
                row = batch.history["features"][s, b]
                np.testing.assert_array_equal(row, episodes[episode].obs[start - ago])
                checked += 1
    assert checked > 10


HIERARCHY = ["summary", "body", "team"]


@pytest.fixture(scope="module", params=["stored", "lazy"])
def minute(request, tmp_path_factory):
    """Matches of the hierarchy's views, long enough for a history of some seconds."""
    place = tmp_path_factory.mktemp("lake") / "shard"
    lazy = request.param == "lazy"
    record(["veteran", "rookie"], "crown", 2, 5, place, views=HIERARCHY, lazy=lazy)
    return open_shards([place])


def test_the_hierarchys_views_come_back_as_the_world_showed_them(minute):
    header = minute.header
    episodes = list(minute.episodes())
    matches = [(5, 0), (5, 0)]
    world = levelcap.world.make(
        "crown",
        2,
        views=tuple(HIERARCHY),
        match_seeds=[chain(*seed) for seed in matches],
        auto_reset=False,
        decision_ticks=header.decision_ticks,
    )
    views = world.reset()
    length = max(len(e) for e in episodes)
    actions = np.zeros((2, 10, 7), np.uint8)
    for t in range(length):
        for n, e in enumerate(episodes):
            place = divmod(n, 10)
            if t < len(e):
                shown = np.concatenate([views[name][place] for name in HIERARCHY])
                np.testing.assert_array_equal(e.obs[t], shown)
                actions[place] = [e.actions[name][t] for name, _ in header.heads]
        views = world.step(actions)[0]


def test_a_minute_of_summaries_one_a_second(minute):
    rows = {}  # a row of `body` -> the places where it stands; the clock is in it
    episodes = list(minute.episodes())
    for n, e in enumerate(episodes):
        for t in range(len(e)):
            rows.setdefault(e.obs[t, 192:256].tobytes(), []).append((n, t))
    stream = minute.segments(
        8, 0, length=16, burn_in=16, history=60, every=10, history_views=["summary"]
    )
    checked = 0
    for batch in (next(stream) for _ in range(4)):
        assert batch.history["summary"].shape == (60, 8, 192)
        assert batch.views["summary"].shape == (32, 8, 192)
        for b in range(8):
            if not batch.valid[0, b]:  # the segment begins before its match: nothing is older
                assert not batch.history_valid[:, b].any()
                continue
            found = rows[batch.views["body"][0, b].tobytes()]
            if len(found) > 1:  # the dead see zeros
                continue
            episode, start = found[0]
            past = start - 10 * np.arange(60, 0, -1)
            assert batch.history_valid[:, b].tolist() == (past >= 0).tolist()
            there = past[past >= 0]
            summaries = episodes[episode].obs[there, :192]
            np.testing.assert_array_equal(batch.history["summary"][past >= 0, b], summaries)
            checked += len(there)
    assert checked > 100
    stream.close()


def test_what_makes_no_segment_is_refused(shards):
    for bad in ({"length": 0}, {"length": 4, "burn_in": -1}, {"length": 4, "every": 0}):
        with pytest.raises(BadValue, match="segments"):
            shards.segments(2, 0, **bad)
    with pytest.raises(BadValue, match="history"):
        shards.segments(2, 0, length=4, history=2, views=[], history_views=["features"])


def some_labels(shard):
    episode = np.repeat(np.arange(len(shard.length)), 2)
    t = np.tile([0, 3], len(shard.length))
    intent = (np.arange(len(t)) % 5).astype(np.int8)
    return {"episode": episode, "t": t, "intent": intent, "sure": np.ones(len(t), np.float32)}


def test_labels_lie_beside_the_shard_and_are_joined_by_decision(folder, shards, tmp_path):
    shard = Shard(folder)
    columns = some_labels(shard)
    write_labels(tmp_path / "labels", shard, columns, "test coach")
    labels = open_labels([tmp_path / "labels"], [shard])
    batch = one_epoch(shards, labels=labels)
    said = batch.labels["intent"][batch.learned]
    assert sorted(said[said != MISSING].tolist()) == sorted(columns["intent"].tolist())
    assert np.isnan(batch.labels["sure"][batch.learned]).sum() == len(said) - len(columns["t"])
    first = batch.reset & batch.learned
    assert (batch.labels["intent"][first] != MISSING).all()


def test_labels_that_do_not_fit_are_refused(folder, tmp_path):
    shard = Shard(folder)
    columns = some_labels(shard)
    for change, problem in (
        ({"t": columns["t"] + 10_000}, "no decision"),
        ({"episode": columns["episode"] - 1}, "no decision"),
        ({"t": np.zeros_like(columns["t"])}, "twice"),
        ({"intent": columns["intent"].astype(str)}, "type"),
    ):
        with pytest.raises(BadValue, match=problem):
            write_labels(tmp_path / "bad", shard, {**columns, **change}, "test")
    assert not (tmp_path / "bad").exists()
    record(["idle", "rookie"], "duel", 2, 0, tmp_path / "other", views=["features"])
    write_labels(tmp_path / "labels", shard, columns, "test")
    with pytest.raises(Conflict, match="another shard"):
        open_labels([tmp_path / "labels"], [Shard(tmp_path / "other")])
    path = tmp_path / "labels" / "labels.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(Corrupt):
        open_labels([tmp_path / "labels"], [shard])
