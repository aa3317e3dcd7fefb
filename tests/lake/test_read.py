"""Reading: damaged, foreign and incomplete shards are refused; filters and splits keep promises."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from levelcap.kit.errors import BadValue, Conflict, Corrupt, UnknownName
from levelcap.kit.files import dump_json
from levelcap.lake.check import check_shard
from levelcap.lake.read import open_shards
from tests.lake import made

FILES = ("steps-00000.parquet", "episodes.parquet", "shard.json", "manifest.json")


@pytest.fixture
def shard(tmp_path):
    made.shard(tmp_path / "s", [3, 1, 4])
    return tmp_path / "s"


def edited(**changes):
    """A change of shard.json, to be signed anew."""

    def change(folder):
        path = folder / "shard.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def with_column(name, make):
    """A change of one column of the steps, to be signed anew."""

    def change(folder):
        path = folder / "steps-00000.parquet"
        table = pq.read_table(path)
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        column = pa.array(make(table.column(name).to_pylist()), field.type)
        pq.write_table(table.set_column(place, field, column), path, row_group_size=64)

    return change


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_refused(shard, name):
    data = (shard / name).read_bytes()
    (shard / name).write_bytes(data[:-1])
    with pytest.raises(Corrupt, match="manifest" if name == "manifest.json" else "wrong size"):
        open_shards([shard])


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_anywhere_is_refused(shard, name):
    whole = (shard / name).read_bytes()
    for place in np.linspace(0, len(whole) - 1, 12).astype(int).tolist():
        data = bytearray(whole)
        data[place] ^= 1
        (shard / name).write_bytes(data)
        with pytest.raises(Corrupt):
            open_shards([shard])
    (shard / name).write_bytes(whole)
    assert open_shards([shard]).num_steps == 16


def test_a_missing_or_added_file_and_no_shard_at_all_are_refused(shard, tmp_path):
    (shard / "steps-00001.parquet").write_bytes(b"PAR1")
    with pytest.raises(Corrupt, match="extra file"):
        open_shards([shard])
    (shard / "steps-00001.parquet").unlink()
    (shard / "episodes.parquet").unlink()
    with pytest.raises(Corrupt, match="missing file"):
        open_shards([shard])
    with pytest.raises(Corrupt, match="manifest"):
        open_shards([tmp_path / "nowhere"])
    with pytest.raises(BadValue, match="no shard was named"):
        open_shards([])


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"world_version": 99}, Conflict, "another world version than 1; got 99"),
        ({"schema": 2}, Conflict, "another schema than 1; got 2"),
        ({"num_steps": 15}, Corrupt, "steps and episodes do not fit"),
        ({"step_files": {}}, Corrupt, "other files than the manifest"),
        ({"heads": [["turn", 3]]}, Corrupt, "other columns than its header says"),
        ({"heads": 7}, Corrupt, "makes no sense"),
        ({"policies": [{"name": "net", "hash": "", "log_probs": True}]}, Corrupt, "'bot'"),
        ({"surprise": 1}, Corrupt, "missing or unknown keys; got ..surprise"),
        ({"view_specs": []}, Corrupt, "makes no sense"),
    ],
)
def test_a_header_of_something_else_is_refused_though_signed(shard, changes, error, said):
    with pytest.raises(error, match=said):
        open_shards([made.signed_again(shard, edited(**changes))])


def nan_at_the_end(rows):
    nan = np.float32(np.nan).tobytes()
    return [*rows[:-1], nan + rows[-1][4:] if isinstance(rows[-1], bytes) else np.nan]


@pytest.mark.parametrize(
    ("column", "make", "said"),
    [
        ("view_features", nan_at_the_end, "features holds NaN"),
        ("reward", nan_at_the_end, "reward holds NaN"),
        ("behaviour_log_prob", lambda rows: [np.nan, *rows[1:]], "log_prob holds NaN"),
        ("actions", lambda rows: [[0, 2], *rows[1:]], "action is out of range"),
    ],
)
def test_broken_values_are_refused_though_signed(shard, column, make, said):
    shards = open_shards([made.signed_again(shard, with_column(column, make))])
    with pytest.raises(Corrupt, match=said):
        next(shards.batches(4, seed=0))
    with pytest.raises(Corrupt, match=said):
        list(shards.episodes())


def test_a_file_that_is_no_parquet_is_refused_though_signed(shard):
    def garble(folder):
        (folder / "steps-00000.parquet").write_bytes(b"PAR1 and then nothing PAR1")

    with pytest.raises(Corrupt, match="no Parquet file"):
        open_shards([made.signed_again(shard, garble)])


def test_check_notices_a_report_that_does_not_describe_the_records(shard):
    assert check_shard(shard)[1]["steps"] == 16
    kept = made.signed_again(shard, with_column("intent", lambda rows: [4] * len(rows)))
    assert open_shards([kept]).num_steps == 16  # every value is fine
    with pytest.raises(Corrupt, match="other records than its report says; got ..shares"):
        check_shard(kept)


def test_shards_that_do_not_belong_together_are_refused(shard, tmp_path):
    other_patch = {"name": "1.1", "sha256": "0" * 64, "content": None}
    made.shard(tmp_path / "patch", [3], seed=1, patch=other_patch)
    made.shard(tmp_path / "views", [3], seed=1, view_names=("features",))
    made.shard(tmp_path / "rate", [3], seed=1, decision_ticks=3)
    for name, said in (("patch", "patch"), ("views", "view specs"), ("rate", "decision ticks")):
        with pytest.raises(Conflict, match=f"another {said} than"):
            open_shards([shard, tmp_path / name])
    with pytest.raises(Conflict, match="another world; got 'gym:made'. Give shards of duel"):
        open_shards([shard], world="duel")
    assert open_shards([shard], world="gym:made").world == "gym:made"


def test_a_shard_without_a_tick_rate_was_played_at_thirty(shard):
    assert open_shards([shard]).header.tick_hz == 30

    def forget(folder):
        path = folder / "shard.json"
        values = json.loads(path.read_text())
        del values["tick_hz"]
        path.write_bytes(dump_json(values))

    old = made.signed_again(shard, forget)
    assert open_shards([old]).header.tick_hz == 30


def test_the_same_records_twice_are_refused(shard, tmp_path):
    shutil.copytree(shard, tmp_path / "copy")
    for second in (shard, tmp_path / "copy"):
        with pytest.raises(Conflict, match="same records"):
            open_shards([shard, second])
    made.shard(tmp_path / "more", [5], seed=1)
    both = open_shards([shard, tmp_path / "more"])
    assert len(set(both.digests)) == 2
    assert both.digests[0] == open_shards([tmp_path / "copy"]).digests[0]
    assert (both.num_steps, both.num_episodes) == (26, 8)


def test_missing_log_probabilities_are_refused_when_needed(shard, tmp_path):
    with pytest.raises(Conflict, match="no behaviour log-probabilities of this policy; got 'bot'"):
        open_shards([shard], need_log_probs=True)
    shards = open_shards([shard], policies=["net"], need_log_probs=True)
    batch = next(shards.batches(8, seed=0))
    assert np.isfinite(batch.log_probs).all() and (batch.log_probs < 0).all()
    assert next(open_shards([shard], policies=["bot"]).batches(8, seed=0)).log_probs is None


def test_mixed_policies_have_nan_where_the_log_probability_is_missing(shard):
    batch = next(open_shards([shard]).batches(16, seed=0))
    row = batch.views["features"][:, 0].astype(int)
    of_the_net = np.isin(row, [0, 1, 2, 6, 8, 9, 10, 11])
    assert (np.isfinite(batch.log_probs) == of_the_net).all()


def test_a_shard_of_bots_beside_one_of_a_net_has_nan_and_not_zero(shard, tmp_path):
    bots = [{"name": name, "hash": "", "log_probs": False} for name in ("net", "bot")]
    made.shard(tmp_path / "bots", [5], seed=1, policies=bots)
    shards = open_shards([tmp_path / "bots", shard])
    batch = next(shards.batches(26, seed=0))
    assert np.isnan(batch.log_probs).sum() == 10 + 8
    assert (batch.log_probs[np.isfinite(batch.log_probs)] < 0).all()


def test_rows_stay_together_through_filter_and_shuffle(shard, tmp_path):
    steps, _ = made.block([3, 1, 4])
    shards = open_shards([shard]).filtered(policies=["bot"])
    assert (shards.num_steps, shards.num_episodes, shards.policies) == (8, 3, ("bot",))
    batch = next(shards.batches(8, seed=5))
    rows = batch.views["features"][:, 0].astype(int)
    assert sorted(rows.tolist()) == [3, 4, 5, 7, 12, 13, 14, 15]
    for name, array in batch.views.items():
        assert (array == steps.views[name][rows]).all()
    assert (batch.actions == steps.actions[rows]).all()
    assert (batch.rewards == steps.rewards[rows]).all()
    assert (batch.intents == steps.intents[rows]).all()
    assert (batch.alive == steps.alive[rows]).all()
    assert (batch.terminated == steps.terminated[rows]).all()
    assert (batch.outcome == -1).all()
    last = {3: 5, 4: 5, 5: 5, 7: 7, 12: 15, 13: 15, 14: 15, 15: 15}
    assert batch.left.tolist() == [last[row] - row for row in rows.tolist()]
    assert batch.mask.shape == (8, 5) and (batch.mask == 1).all()


def test_inputs_are_the_views_side_by_side(shard):
    batch = next(open_shards([shard]).batches(8, seed=0))
    flat = batch.inputs(("grid", "features"))
    assert flat.dtype == np.float32 and flat.shape == (8, 10)
    assert (flat[:, :6] == batch.views["grid"].reshape(8, 6)).all()
    assert (flat[:, 6:] == batch.views["features"]).all()
    assert batch.inputs(("frame",)).dtype == np.float32
    only = next(open_shards([shard]).batches(8, seed=0, views=("grid",)))
    assert list(only.views) == ["grid"] and (only.views["grid"] == batch.views["grid"]).all()


def test_wrong_names_and_numbers_are_refused(shard):
    shards = open_shards([shard])
    with pytest.raises(UnknownName, match="Did you mean 'bot'"):
        shards.filtered(policies=["bott"])
    with pytest.raises(UnknownName, match="view in these shards"):
        shards.batches(8, seed=0, views=("objects",))
    with pytest.raises(UnknownName, match="view in these shards"):
        list(shards.episodes(views=("objects",)))
    for arguments in ((0, 0, 0), (8, 0, -1)):
        with pytest.raises(BadValue, match="batch_size is at least 1"):
            shards.batches(*arguments)
    with pytest.raises(BadValue, match="window_mb"):
        shards.batches(8, seed=0, window_mb=0)
    with pytest.raises(BadValue, match="seed must be in"):
        shards.batches(8, seed=-1)
    with pytest.raises(BadValue, match="share"):
        shards.split(1.5)
    with pytest.raises(BadValue, match="no episode is left"):
        shards.split(0.0)[1].batches(8, seed=0)


def test_a_split_keeps_matches_whole_and_is_the_same_in_every_shard(tmp_path):
    made.shard(tmp_path / "a", [2] * 400)
    made.shard(tmp_path / "b", [1] * 400, view_names=("features", "grid", "frame"))
    sides = []
    for name, length in (("a", 2), ("b", 1)):
        shards = open_shards([tmp_path / name])
        training, validation = shards.split(0.25)
        assert training.num_steps + validation.num_steps == shards.num_steps
        assert 0.18 < validation.num_episodes / shards.num_episodes < 0.32
        first = [int(s.obs[0, 0]) // (2 * length) for s in validation.episodes()]  # the match
        assert [first.count(match) for match in set(first)] == [2] * len(set(first))
        held_out = set(first)
        assert held_out.isdisjoint(int(s.obs[0, 0]) // (2 * length) for s in training.episodes())
        sides.append(held_out)
    assert sides[0] == sides[1]  # the same match seeds
    assert open_shards([tmp_path / "a"]).split(0.0)[0].num_episodes == 800
    assert open_shards([tmp_path / "a"]).split(1.0)[1].num_episodes == 800
