"""Writing: every column comes back, broken records never arrive, a killed writer leaves nothing."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from levelcap.kit.errors import BadValue, Conflict, Corrupt
from levelcap.kit.publish import sweep
from levelcap.lake.check import check_shard, list_shards
from levelcap.lake.read import open_shards
from levelcap.lake.shard import Shard
from levelcap.lake.write import write_shard
from tests.lake import made
from tests.services.realms import until


def test_every_column_comes_back_from_the_plain_files(tmp_path):
    steps, episodes = made.shard(tmp_path / "s", [3, 1, 4])
    table = pq.read_table(tmp_path / "s" / "steps-00000.parquet").to_pydict()
    assert table["episode"] == [0] * 3 + [1] * 3 + [2, 3] + [4] * 4 + [5] * 4
    assert table["t"] == [0, 1, 2, 0, 1, 2, 0, 0, 0, 1, 2, 3, 0, 1, 2, 3]
    assert table["actions"] == steps.actions.tolist()
    assert table["reward"] == steps.rewards.tolist()
    for name in ("terminated", "truncated", "alive"):
        assert table[name] == getattr(steps, name).tolist()
    assert table["intent"] == steps.intents.tolist()
    assert table["mask"] == [bytes([0b11111000])] * 16
    for name, rows in steps.views.items():
        assert table[f"view_{name}"] == [row.tobytes() for row in rows]
    # Episodes 0, 2, 4 are the net's; nobody knows the bot's log-probabilities.
    known = [0, 1, 2, 6, 8, 9, 10, 11]
    expected = [float(p) if i in known else None for i, p in enumerate(steps.log_probs)]
    assert table["behaviour_log_prob"] == expected


def test_a_view_column_says_how_to_read_its_bytes(tmp_path):
    steps, _ = made.shard(tmp_path / "s", [3])
    file = pq.ParquetFile(tmp_path / "s" / "steps-00000.parquet")
    field = file.schema_arrow.field("view_grid")
    assert field.metadata == {b"dtype": b"float32", b"shape": b"[2, 3]"}
    rows = b"".join(file.read(["view_grid"])["view_grid"].to_pylist())
    assert (np.frombuffer(rows, "float32").reshape(-1, 2, 3) == steps.views["grid"]).all()


def test_every_fact_of_an_episode_comes_back(tmp_path):
    _, episodes = made.shard(tmp_path / "s", [3, 1])
    table = pq.read_table(tmp_path / "s" / "episodes.parquet").to_pydict()
    assert table == {
        "episode": [0, 1, 2, 3],
        "match": [0, 0, 1, 1],
        "match_seed": [0, 0, 1, 1],
        "seat": [0, 1, 0, 1],
        "team": [0, 1, 0, 1],
        "policy": ["net", "bot", "net", "bot"],
        "policy_hash": ["1" * 64, "2" * 64] * 2,
        "champion": ["base", "Ranger"] * 2,
        "outcome": [1, -1, 1, -1],
        "reward_sum": episodes.reward_sum.tolist(),
        "length": [3, 3, 1, 1],
        "first_row": [0, 3, 6, 7],
        "kept": [True] * 4,
    }
    header = json.loads((tmp_path / "s" / "shard.json").read_bytes())
    assert (header["num_steps"], header["num_episodes"], header["num_matches"]) == (8, 4, 2)
    assert header["step_files"] == {"steps-00000.parquet": 8}
    assert header["heads"] == [["turn", 3], ["push", 2]]


def test_trajectories_come_back_as_they_were(tmp_path):
    steps, _ = made.shard(tmp_path / "s", [3, 1, 4], group_rows=4)
    found = list(open_shards([tmp_path / "s"]).episodes(views=("features", "grid")))
    flat = [steps.views[name].reshape(16, -1) for name in ("features", "grid")]
    assert [len(s) for s in found] == [3, 3, 1, 1, 4, 4]
    assert (np.concatenate([s.obs for s in found]) == np.concatenate(flat, axis=1)).all()
    for head, name in enumerate(("turn", "push")):
        given = np.concatenate([s.actions[name] for s in found])
        assert (given == steps.actions[:, head]).all()
    assert (np.concatenate([s.rewards for s in found]) == steps.rewards).all()
    assert [s.dones.tolist() for s in found[2:]] == [[True], [True]] + [[False] * 3 + [True]] * 2
    assert [s.extras["terminal_outcome"] for s in found] == [1, -1] * 3
    assert [s.behavior_logp is None for s in found] == [False, True] * 3
    assert (found[4].behavior_logp == steps.log_probs[8:12]).all()
    assert (np.concatenate([s.extras["alive"] for s in found]) == steps.alive).all()
    assert (found[0].extras["mask"] == 1).all() and found[0].extras["mask"].shape == (3, 5)


def test_row_groups_end_where_episodes_end_and_files_are_rolled(tmp_path, monkeypatch):
    monkeypatch.setattr("levelcap.lake.write.FILE_ROWS", 20)
    lengths = [5, 2, 9, 1, 6, 6, 3]
    made.shard(tmp_path / "s", lengths, group_rows=8)
    shard = Shard(tmp_path / "s")
    assert len(shard.header.step_files) == 3
    assert sum(shard.header.step_files.values()) == 2 * sum(lengths)
    each = np.repeat(lengths, 2)
    ends = {int(end) for end in np.cumsum(each)}
    sizes = [shard.counts(shard.kept)[g] for g in range(shard.num_groups)]
    assert set(np.cumsum(sizes).tolist()) <= ends
    assert min(sizes[:-1]) >= 8 and max(sizes) < 8 + max(lengths)


def test_blocks_of_any_size_give_the_same_records(tmp_path):
    steps, episodes = made.block([3, 1, 4, 2])
    ends = [0, *np.cumsum(episodes.length).tolist()]

    def in_pieces(writer):
        for a, b in ((0, 2), (2, 6), (6, 8)):
            writer.add(steps.part(ends[a], ends[b]), episodes.part(a, b))

    write_shard(tmp_path / "pieces", made.header(), in_pieces)
    made.shard(tmp_path / "whole", [3, 1, 4, 2])
    for name in ("steps-00000.parquet", "episodes.parquet"):
        one, two = (pq.read_table(tmp_path / f / name) for f in ("pieces", "whole"))
        assert one.equals(two)


def broken(name, value):
    steps, episodes = made.block([3, 2])
    if name in steps.views:
        views = {n: a.copy() for n, a in steps.views.items()}
        views[name].reshape(len(steps), -1)[4, -1] = value
        return replace(steps, views=views), episodes
    array = getattr(steps, name).copy()
    array.reshape(len(steps), -1)[0, 0] = value
    return replace(steps, **{name: array}), episodes


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("features", np.nan, "features of row 4 is not finite; got nan"),
        ("grid", np.inf, "grid of row 4 is not finite; got inf"),
        ("rewards", -np.inf, "rewards of row 0 is not finite"),
        ("log_probs", np.nan, "behaviour_log_prob of row 0 is not finite"),
        ("actions", 3, "action turn of row 0 is out of range; got 3. Give a bin from 0 to 2"),
    ],
)
def test_broken_values_are_refused_and_nothing_is_left_behind(tmp_path, name, value, said):
    steps, episodes = broken(name, value)
    with pytest.raises(BadValue, match=said):
        write_shard(tmp_path / "lake" / "s", made.header(), lambda w: w.add(steps, episodes))
    assert list((tmp_path / "lake").iterdir()) == []


def test_a_log_probability_nobody_knows_may_be_nan(tmp_path):
    steps, episodes = made.block([2])
    unknown = replace(steps, log_probs=np.array([-1, -2, np.nan, np.nan], np.float32))
    write_shard(tmp_path / "s", made.header(), lambda w: w.add(unknown, episodes))
    column = pq.read_table(tmp_path / "s" / "steps-00000.parquet")["behaviour_log_prob"]
    assert column.to_pylist() == [-1.0, -2.0, None, None]


def test_rows_that_do_not_fit_are_refused(tmp_path):
    steps, episodes = made.block([3, 2])

    def refused(change, said):
        with pytest.raises(BadValue, match=said):
            write_shard(tmp_path / "s", made.header(), lambda w: w.add(*change))
        assert not (tmp_path / "s").exists()

    refused((steps.part(0, 9), episodes), "rows and episodes do not fit")
    refused((replace(steps, actions=steps.actions[:, :1]), episodes), "actions has the wrong")
    refused((replace(steps, mask=None), episodes), "columns are missing")
    refused((replace(steps, views={}), episodes), "columns are missing")
    with pytest.raises(BadValue, match="without episodes"):
        write_shard(tmp_path / "s", made.header(), lambda w: None)


def test_a_shard_is_never_overwritten(tmp_path):
    made.shard(tmp_path / "s", [3])
    before = (tmp_path / "s" / "steps-00000.parquet").read_bytes()
    with pytest.raises(Conflict, match="never replaced"):
        made.shard(tmp_path / "s", [4])
    assert (tmp_path / "s" / "steps-00000.parquet").read_bytes() == before


def test_quality_counts_what_there_is(tmp_path):
    steps, episodes = made.block([2, 4, 4])
    mask = steps.mask.copy()
    row = int(np.flatnonzero(steps.alive)[0])
    mask[row, steps.actions[row, 0]] = 0  # forbids what was chosen
    dead = int(np.flatnonzero(~steps.alive)[0]) if (~steps.alive).any() else None
    if dead is not None:
        mask[dead] = 0  # the dead choose nothing
    # The last match is the first one again.
    twice = replace(episodes, match_seed=np.array([0, 0, 1, 1, 0, 0], np.uint64))
    header = write_shard(
        tmp_path / "s", made.header(), lambda w: w.add(replace(steps, mask=mask), twice)
    )
    report = header.quality
    assert report["steps"] == 20 and report["episodes"] == 6
    assert report["actions_forbidden"] == 1
    assert report["episodes_twice"] == 2
    assert report["alive_share"] == pytest.approx(steps.alive.mean(), abs=1e-6)
    assert report["length"] == {"min": 2, "median": 4, "mean": 3.333, "max": 4}
    assert report["shares"]["outcome"] == {"lost": 0.5, "won": 0.5}
    assert report["shares"]["side"] == {"0": 0.5, "1": 0.5}
    assert report["shares"]["policy"] == {"bot": 0.5, "net": 0.5}
    assert report["shares"]["champion"] == {"Ranger": 0.5, "base": 0.5}
    unknown = report["shares"]["intent"].get("unknown", 0)
    assert unknown == pytest.approx((steps.intents == -1).mean(), abs=1e-6)
    assert check_shard(tmp_path / "s")[1] == report


ENDLESS = """
import sys
from pathlib import Path
from levelcap.lake.write import write_shard
from tests.lake import made

def endless(writer):
    number = 0
    while True:
        writer.add(*made.block([40] * 20, seed=number))
        number += 1
        if number == 3:
            print("writing", flush=True)

write_shard(Path(sys.argv[1]), made.header(), endless)
"""


def test_a_killed_writer_leaves_no_readable_shard(tmp_path):
    lake = tmp_path / "lake"
    env = {**os.environ, "PYTHONPATH": os.getcwd()}
    writer = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(lake / "s")],
        stdout=subprocess.PIPE,
        env=env,
        text=True,
    )
    try:
        assert writer.stdout.readline() == "writing\n"
        until(lambda: list(lake.glob(".tmp-s-*/*")), 30, "it is in the middle of something")
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
    left = list(lake.iterdir())
    assert len(left) == 1 and left[0].name.startswith(".tmp-s-")
    for path in (lake / "s", left[0]):
        with pytest.raises(Corrupt, match="manifest"):
            open_shards([path])
    assert list(list_shards(lake)) == []
    assert sweep(lake) == [left[0].name]
    assert list(lake.iterdir()) == []
