"""Recordings of others: each format as its description says it, imported, and told."""

import gzip
import json

import numpy as np
import pytest

from levelcap.kit.errors import BadFile, BadValue, Conflict
from levelcap.kit.ids import sha256_file
from levelcap.kit.publish import read_manifest, verify
from levelcap.lake.check import check_shard
from levelcap.lake.importers.protocol import Options
from levelcap.lake.importers.table import recognise
from levelcap.lake.intake import import_folder
from levelcap.lake.read import open_shards
from tests.cli.calling import levelcap
from tests.lake import formats

STATES = [[0.1 * k] * 19 for k in range(6)]
OLD = [[0.2, -0.4, 1.0, 0.0]] * 5 + [[0.0, 0.0, 0.0, 10.5 / 15]]


def lines_of(place):
    return [json.loads(line) for line in (place / "rejects.jsonl").read_text().splitlines()]


def episodes(done):
    check_shard(done.shard)
    return list(open_shards([done.shard]).episodes())


def accounted(report):
    return report.records == report.used + report.refused


def test_ticks_become_features_heads_and_extras(tmp_path):
    lines = formats.some_ticks(8, ocr={"kills": [1, 2]}, terminal_outcome="theirs")
    formats.ticks(tmp_path, lines, "match_7", "ann")
    done = import_folder(tmp_path)
    (one,) = episodes(done)
    assert (done.report.format, done.report.steps, done.report.rejects) == ("ticks", 8, [])
    me = lines[0]["observation"]["self_state"]
    assert one.obs.shape == (8, 19) and one.behavior_logp is None
    np.testing.assert_allclose(one.obs[0, :2], np.array(me["position"]) / 20, rtol=1e-5)
    np.testing.assert_allclose(one.obs[0, 4:6], (me["hp"] / 100, me["ammo"] / 30), rtol=1e-5)
    enemy = lines[0]["observation"]["visible_entities"][0]
    offset = (np.array(enemy["position"]) - me["position"]) / 10
    np.testing.assert_allclose(one.obs[0, 10:13], (*offset, enemy["hp"] / 100), rtol=1e-5)
    np.testing.assert_allclose(one.obs[0, 17], np.hypot(*offset), rtol=1e-5)
    moves = [round(5 + 5 * line["action"]["move_x"]) for line in lines]
    assert one.actions["move_x"].tolist() == moves
    assert one.actions["ability"].tolist() == [line["action"]["ability_id"] or 0 for line in lines]
    assert one.rewards.tolist() == [0.0] * 7 + [1.0] and one.dones.tolist() == [False] * 7 + [True]
    assert one.extras["terminal_outcome"] == 1 and one.extras["policy"] == "ann"
    assert one.extras["ocr"].tolist() == [{"kills": [1, 2]}] * 8
    assert one.extras["recorded.terminal_outcome"].tolist() == ["theirs"] * 8
    assert len(one.slice(2, 5).extras["ocr"]) == 3


def test_a_refused_line_cuts_the_trajectory_and_lies_in_quarantine_with_its_number(tmp_path):
    lines = formats.some_ticks(10)
    lines[3] = "{torn"
    lines[6]["action"]["move_x"] = 1.5
    lines[8]["tick_id"] = 2
    path = formats.ticks(tmp_path, lines)
    done = import_folder(tmp_path)
    assert [len(one) for one in episodes(done)] == [3, 2, 1, 1]
    found = lines_of(done.quarantine)
    assert [(one["line"], one["reason"].split(":")[0].split(" (")[0]) for one in found] == [
        (4, "no JSON"),
        (7, "action.move_x"),
        (9, "tick_id"),
    ]
    assert found[0]["text"] == "{torn" and found[0]["file"] == "data/processed/ep1_ann.jsonl.gz"
    assert (done.report.records, done.report.used, done.report.refused) == (10, 7, 3)
    assert (done.raw / "files" / "data" / "processed" / path.name).read_bytes() == path.read_bytes()
    report = json.loads((done.raw.parents[1] / "processed" / done.name / "report.json").read_text())
    assert report["refused"] == 3 and report["shard"] == done.name


def test_a_file_that_breaks_off_gives_what_came_before(tmp_path):
    path = formats.ticks(tmp_path, formats.some_ticks(200))
    path.write_bytes(path.read_bytes()[:-2000])
    done = import_folder(tmp_path)
    (one,) = episodes(done)
    assert 20 < len(one) < 200 and one.extras["truncated"] and one.rewards[-1] == 0
    assert "breaks off" in done.report.rejects[-1].reason
    assert done.report.rejects[-1].line >= len(one) + 1 and accounted(done.report)


def test_a_stream_is_projected_to_its_19_numbers_and_ends_as_the_manifest_says(tmp_path):
    events = [formats.event(1234.5, ocr=3), formats.event(1235.0, "LOBBY", (), None, ok=False)]
    formats.feedback(tmp_path, [*events, formats.END])
    formats.feedback(tmp_path, [formats.event(1.0), formats.event(2.0)], "run-2")
    elsewhere = "/elsewhere/run-{}/feedback_stream.jsonl"
    ends = [(elsewhere.format(1), "loss_timeout"), (elsewhere.format(2), "win"), ("x.jsonl", "win")]
    formats.manifest(tmp_path, [*ends, (elsewhere.format(1), "sideways")])
    done = import_folder(tmp_path)
    first, second = episodes(done)
    # In the order of the description, counted by hand.
    assert first.obs[0].round(4).tolist() == pytest.approx(
        [0.2345, 1, 0, 1, 1, 1, 0, 0, 0, 0, 3, 17, 4, 9, 1, 1, 2, 0, 1], abs=1e-6
    )
    assert first.obs[1, [0, 1, 2, 4, 5]].tolist() == pytest.approx([0.235, 0, 1, 0, 0], abs=1e-6)
    assert first.rewards.tolist() == pytest.approx([0.05, -0.05 - 1])
    assert second.rewards.tolist() == pytest.approx([0.05, 0.05 + 1])
    assert [one.extras["terminal_outcome"] for one in (first, second)] == [-1, 1]
    assert first.actions["move_y"].tolist() == [10, 5] and first.actions["fire"].tolist() == [1, 0]
    assert first.extras["ocr"].tolist() == [3, None]
    assert first.extras["session_end"]["run_stop_reason"] == "timeout"
    assert [(r.line, r.reason.split(":")[0]) for r in done.report.rejects] == [
        (3, "runtime_feedback"),
        (4, "run_finish"),
    ]
    assert accounted(done.report)


def test_a_net_never_mixes_the_two_meanings_of_19_numbers(tmp_path):
    formats.ticks(tmp_path / "a", formats.some_ticks())
    formats.feedback(tmp_path / "b", [formats.event(1.0)])
    both = [import_folder(tmp_path / name).shard for name in "ab"]
    with pytest.raises(Conflict, match="another world"):
        open_shards(both)
    with pytest.raises(Conflict, match="another world"):
        open_shards(both[1:], world="duel")
    assert [open_shards([s]).header.source for s in both] == ["imported ticks", "imported feedback"]


def test_old_actions_of_a_filtered_session_are_heads_and_what_that_loses_is_told(tmp_path):
    formats.filtered(tmp_path, STATES, OLD, note="second try")
    done = import_folder(tmp_path)
    (one,) = episodes(done)
    np.testing.assert_allclose(one.obs, np.array(STATES, np.float32))
    assert [one.actions[head][0] for head in ("aim_x", "aim_y", "fire")] == [6, 3, 1]
    assert one.actions["ability"].tolist() == [0] * 5 + [1]
    assert one.rewards.tolist() == [0.0] * 5 + [1.0]
    assert one.extras["metadata"]["damage_out"] == 90.5 and one.extras["note"] == "second try"
    assert one.extras["screenshots"][1]["image"] == "screenshots/seq0001_frame02.jpg"
    assert done.report.derived["actions of the old form as heads"] == 6
    assert len(list((done.raw / "files").rglob("*.jpg"))) == 2 and accounted(done.report)


def test_a_session_without_metadata_derives_what_it_can_and_says_so(tmp_path):
    formats.filtered(tmp_path, STATES, OLD, "DEATH", metadata=False)
    done = import_folder(tmp_path, options=Options(screen=True))
    (one,) = episodes(done)
    assert one.rewards[-1] == -1 and one.actions["aim_x"][0] == 2
    assert done.report.derived["sessions without metadata.json"] == 1


def test_a_changed_file_and_a_refused_consent_keep_a_session_out(tmp_path):
    path = formats.filtered(tmp_path / "a", STATES, OLD)
    path.write_text(path.read_text().replace("0.2", "0.3"))
    done = import_folder(tmp_path / "a")
    assert done.shard is None and "another sha256" in done.report.rejects[0].reason
    formats.watch(tmp_path / "b", formats.inputs(), consent={"recording": False})
    done = import_folder(tmp_path / "b")
    assert done.shard is None and "consent" in done.report.rejects[0].reason
    place = formats.watch(tmp_path / "c", formats.inputs())
    with (place / "frames.mp4").open("ab") as film:
        film.write(b"more")
    done = import_folder(tmp_path / "c")
    assert done.shard is None and "frames.mp4" in done.report.rejects[0].reason


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_watch_session_is_ten_decisions_a_second_of_a_hand(tmp_path, kind):
    rows = formats.inputs(4.0) + formats.inputs(2.0, start=10**18 + 60 * 10**9)
    rows[7]["mouse_x"] = 1.7
    rows[9]["is_duplicate"] = True
    place = formats.watch(tmp_path, rows, kind)
    done = import_folder(tmp_path)
    first, second = episodes(done)
    assert (len(first), len(second)) == (40, 20)
    assert first.actions["move_y"].tolist() == [10] * 40  # W is held
    assert first.actions["fire"].sum() == 8 and first.actions["ability"].sum() == 4
    assert first.extras["film"]["sha256"] == sha256_file(place / "frames.mp4")
    assert first.extras["session"]["env"] == {"os": "linux"}
    (reject,) = done.report.rejects
    assert reject.line == 8 + (kind == "csv") and reject.reason.startswith("mouse_x")
    assert done.report.lost["inputs marked as duplicates"] == 1 and accounted(done.report)
    assert not list(done.raw.rglob("frames.mp4"))
    assert any("frames.mp4" in word for word in read_manifest(done.shard).parents)


def test_the_missing_log_probability_is_missing_and_refused_where_it_is_needed(tmp_path):
    formats.ticks(tmp_path, formats.some_ticks())
    shard = import_folder(tmp_path).shard
    with pytest.raises(Conflict, match="no behaviour log-probabilities"):
        open_shards([shard], need_log_probs=True)
    batches = open_shards([shard]).batches(4, seed=0)
    assert next(batches).log_probs is None
    batches.close()


def test_the_same_files_are_imported_once_and_links_are_not_followed(tmp_path):
    path = formats.ticks(tmp_path / "a", formats.some_ticks())
    done = import_folder(tmp_path / "a")
    with pytest.raises(Conflict, match="imported already"):
        import_folder(tmp_path / "a")
    for place in (done.shard, done.raw):
        verify(place)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "ep1_bob.jsonl.gz").symlink_to(path)
    with pytest.raises(BadFile, match="nothing here is a recording"):
        import_folder(tmp_path / "b")


def test_an_import_that_was_killed_before_its_report_goes_on(tmp_path, monkeypatch):
    formats.ticks(tmp_path, [*formats.some_ticks(6), "x"])
    with monkeypatch.context() as patched:
        patched.setattr("levelcap.lake.intake.write_json", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            import_folder(tmp_path)
    done = import_folder(tmp_path)
    assert (done.report.steps, done.report.refused) == (6, 1)
    assert len(episodes(done)) == 1 and len(lines_of(done.quarantine)) == 1


def test_what_lies_in_a_folder_is_recognised_or_refused_with_what_was_looked_for(tmp_path):
    formats.ticks(tmp_path / "two", formats.some_ticks())
    formats.feedback(tmp_path / "two", [formats.event(1.0)])
    with pytest.raises(BadValue, match=r"several formats.*ticks \(1\), feedback \(1\)"):
        recognise(tmp_path / "two")
    assert recognise(tmp_path / "two", "feedback")[0].name == "feedback"
    (tmp_path / "none").mkdir()
    with pytest.raises(BadFile, match=r"jsonl\.gz.*feedback_stream.*sequence_.*events\.parquet"):
        recognise(tmp_path / "none")
    with pytest.raises(BadFile, match="no folder"):
        recognise(tmp_path / "away")


def test_long_lines_and_endless_rejects_stay_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("levelcap.lake.importers.report.MAX_REJECTS", 5)
    long = " " * 10 + '"' + "y" * (1 << 20) + '"'
    path = formats.ticks(tmp_path, [long, *["{"] * 20, *formats.some_ticks(3)])
    done = import_folder(tmp_path)
    assert [r.line for r in done.report.rejects] == [1, 2, 3, 4, 5, 6]
    assert done.report.rejects[0].reason.startswith("longer than")
    assert "rest of the file was not read" in done.report.rejects[-1].reason
    assert gzip.decompress(path.read_bytes()).count(b"\n") == 24 and done.shard is None


def test_by_command_with_report_lineage_and_an_address(tmp_path, capsys):
    formats.ticks(tmp_path / "in", [*formats.some_ticks(5, ocr=1), "{"])
    code, said, error = levelcap(capsys, "lake", "import", f"file://{tmp_path}/in", "--json")
    assert code == 0, error
    told = json.loads(said.splitlines()[-1])
    assert "Recognised as ticks" in said and "line 6: no JSON" in said
    assert f"--views features --shards {told['name']}" in said
    assert (told["records"], told["used"], told["refused"], told["extras"]) == (6, 5, 1, {"ocr": 5})
    code, said, _ = levelcap(capsys, "lake", "lineage", told["name"], "--json")
    tree = json.loads(said.splitlines()[-1])
    (parent,) = tree["parents"]
    assert code == 0 and parent["kind"] == "file"
    assert parent["sha256"] == sha256_file(tmp_path / "in/data/processed/ep1_ann.jsonl.gz")
    assert f"in raw/{told['name']}/files/data/processed/ep1_ann.jsonl.gz" in parent["label"]
    (tmp_path / "in/data/processed/ep1_ann.jsonl.gz").write_bytes(b"no gzip")
    code, said, error = levelcap(capsys, "lake", "import", str(tmp_path / "in"))
    assert code == 2 and "not one step" in error and "line 1: the file breaks off" in said
    code, _, error = levelcap(capsys, "lake", "import", "s3://bucket/recordings")
    assert code == 2 and "pip install s3fs" in error
