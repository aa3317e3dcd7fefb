"""Shards for programs of others: plain columns that say the same, lineage up to the matches."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from levelcap.kit.errors import Conflict, MissingPackage
from levelcap.lake import zones
from levelcap.lake.exporters import minari, parquet
from levelcap.lake.labels import write_labels
from levelcap.lake.lineage import lineage
from levelcap.lake.read import open_shards
from levelcap.lake.shard import Shard
from tests.cli.calling import levelcap
from tests.lake import made


@pytest.fixture
def shard():
    place = zones.zone("trajectories") / "demos"
    made.shard(place, [5, 3, 8], group_rows=6, parents=["policy net " + "1" * 64])
    return place


def test_the_parquet_of_a_shard_is_plain_columns_with_the_same_values(tmp_path, shard, capsys):
    out = tmp_path / "out"
    code, said, error = levelcap(
        capsys, "lake", "export", "demos", str(out), "--to", "parquet", "--json"
    )
    assert code == 0, error
    assert json.loads(said.splitlines()[-1])["steps"] == 32
    table = pq.read_table(out / "data" / "train-00000.parquet")
    # The shape that `datasets.load_dataset(folder)` takes without being told anything.
    assert [p.name for p in sorted(out.rglob("*.parquet"))] == ["train-00000.parquet"]
    assert table.schema.field("features").type == pa.list_(pa.float32(), 4)
    assert table.schema.field("frame").type == pa.list_(pa.uint8(), 12)
    assert table.schema.field("action").type == pa.list_(pa.uint8(), 2)
    rows = table.to_pylist()
    start = 0
    for number, one in enumerate(open_shards([shard]).episodes()):
        mine = rows[start : start + len(one)]
        start += len(one)
        assert {row["episode"] for row in mine} == {number}
        assert [row["t"] for row in mine] == list(range(len(one)))
        assert {row["policy"] for row in mine} == {one.extras["policy"]}
        seen = [row["features"] + row["grid"] + row["frame"] for row in mine]
        np.testing.assert_array_equal(np.array(seen, np.float32), one.obs)
        heads = [[one.actions[name][t] for name in ("turn", "push")] for t in range(len(one))]
        assert [row["action"] for row in mine] == heads
        assert [row["reward"] for row in mine] == one.rewards.tolist()
        known = [row["behaviour_log_prob"] for row in mine]
        missing = one.behavior_logp is None
        assert known == ([None] * len(one) if missing else one.behavior_logp.tolist())
    assert start == len(rows) and "never" not in (out / "README.md").read_text()
    with pytest.raises(Conflict, match="something already"), zones.sent(str(out)):
        pass


def test_an_address_takes_an_export_and_an_error_leaves_nothing_there(shard):
    with zones.sent("memory://exports/demos") as folder:
        parquet.write(Shard(shard), folder)
    with zones.brought("memory://exports/demos") as folder:
        assert pq.read_metadata(folder / "data" / "train-00000.parquet").num_rows == 32
    with pytest.raises(ZeroDivisionError), zones.sent("memory://exports/other"):
        1 / 0  # noqa: B018
    with zones.sent("memory://exports/other"):
        pass


def test_minari_that_is_not_installed_is_named_with_its_command(tmp_path, shard):
    try:
        rows = minari.write(Shard(shard), tmp_path)
    except MissingPackage as error:
        assert "pip install 'minari[arrow]'" in str(error)
    else:
        assert rows == 32


def test_a_lineage_leads_over_shards_to_policies_and_matches(tmp_path, shard):
    digest = Shard(shard).digest
    made.shard(zones.zone("synth") / "mixed", [4], seed=3, parents=[digest, "f" * 64])
    root = lineage(zones.zone("synth") / "mixed")
    assert [one.kind for one in root.walk()] == ["shard", "shard", "policy", "matches", "missing"]
    assert root.parents[0].sha256 == digest and "3 matches" in root.parents[0].parents[1].label
    columns = {"episode": np.zeros(1, int), "t": np.zeros(1, int), "intent": np.zeros(1, np.int8)}
    write_labels(tmp_path / "said", Shard(shard), columns, made_by="a test")
    told = lineage(tmp_path / "said")
    assert [one.kind for one in told.walk()] == ["labels", "shard", "policy", "matches"]
