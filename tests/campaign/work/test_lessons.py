"""Lesson files in the inbox: through the data gate into a dataset and a quest, or to quarantine."""

import json

import pytest

from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.wheel import inbox
from levelcap.campaign.work import lessons
from levelcap.guild.engine import get_engine
from levelcap.kit.db import reading
from levelcap.kit.errors import BadFile, BadValue, Conflict
from levelcap.kit.files import append_jsonl, read_jsonl
from levelcap.kit.paths import folder
from levelcap.vault.assets import find
from tests.guild.test_gate import rows_of, write


def drop(name, rows, where="."):
    place = folder("inbox") / where
    place.mkdir(exist_ok=True)
    return write(place / name, rows)


def reports(pattern):
    found = (folder("inbox") / "quarantine").glob(pattern)
    return [json.loads(path.read_text()) for path in found]


def test_lessons_become_a_dataset_and_a_quest_of_the_text_hero(realm):
    rows = [row | {"skill": "bin", "level": 5} for row in rows_of(200)]
    drop("mine.jsonl", [*rows, rows[0], b"nonsense"], "high")
    [quest] = inbox.scan(realm.store, now=4e9)
    assert (quest.kind, quest.priority, quest.status) == ("study", "high", "queued")
    [asset] = quest.recipe["lessons"]
    with reading(realm.engine) as connection:
        assert find(connection, asset).kind == "dataset"
        campaign = campaigns.get(connection, quest.campaign)
    # The arena's hero is chosen: the quest waits for the text hero's turn.
    assert (campaign.hero_id, campaign.status) == ("dio-tiny", "paused")
    kept = read_jsonl(lessons.locate(realm.engine, asset) / lessons.FILE).records
    assert len(kept) == 200 and kept[0]["prompt"] == rows[0]["prompt"]
    [report] = reports("*.rejects.json")
    assert (report["rows"], report["invalid"], report["rejects"][0]["line"]) == (202, 1, 202)
    assert realm.store.get(quest.job).payload["lessons"] == [asset]
    drop("again.jsonl", [*rows, rows[0], b"nonsense"])
    assert [q.id for q in inbox.scan(realm.store, now=4e9)] == [quest.id]


def test_a_file_with_an_exam_problem_is_refused_as_a_whole(realm):
    leak = get_engine().generate_eval_batch("bin", 6, 96, seed=1)
    held = next(p for p in leak if get_engine().get("bin").examined(p.prompt))
    drop("leak.jsonl", [*rows_of(150), {"prompt": held.prompt, "answer": held.answer}])
    assert inbox.scan(realm.store, now=4e9) == []
    [reason] = [r for r in reports("*.reason.json") if r["file"] == "leak.jsonl"]
    assert "exam problems" in reason["reason"] and "line 151" in reason["reason"]
    [report] = reports("*.rejects.json")
    assert (report["leaks"], report["rejects"][-1]["line"]) == (1, 151)
    with reading(realm.engine) as connection:
        assert quests.count(connection) == {}


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"[" * 5000, b"{}\n" * 50])
def test_hostile_files_go_to_quarantine(realm, data):
    (folder("inbox") / "bad.jsonl").write_bytes(data)
    assert inbox.scan(realm.store, now=4e9) == []
    assert [r["file"] for r in reports("*.reason.json")] == ["bad.jsonl"]
    with pytest.raises((BadFile, BadValue)):
        inbox.upload(realm.store, "bad.jsonl", data)
    assert not list(folder("inbox").glob(".upload*"))


def test_a_file_over_the_cap_is_refused(realm, monkeypatch):
    monkeypatch.setattr(lessons, "MAX_BYTES", 100)
    drop("long.jsonl", rows_of(20))
    assert inbox.scan(realm.store, now=4e9) == []
    assert "at most 100 bytes" in reports("*.reason.json")[0]["reason"]


def test_an_upload_is_the_same(realm, tmp_path):
    append_jsonl(tmp_path / "x.jsonl", rows_of(30))
    quest = inbox.upload(realm.store, "x.jsonl", (tmp_path / "x.jsonl").read_bytes())
    assert quest.kind == "study" and len(quest.recipe["lessons"]) == 1
    place = lessons.locate(realm.engine, quest.recipe["lessons"][0])
    (place / "manifest.json").unlink()
    with pytest.raises(Conflict, match="gone"):
        lessons.locate(realm.engine, quest.recipe["lessons"][0])
