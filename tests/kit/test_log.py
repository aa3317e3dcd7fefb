import json
import logging

import pytest

from levelcap.kit import log
from levelcap.kit.errors import BadValue
from levelcap.kit.files import read_jsonl


@pytest.fixture(autouse=True)
def quiet_afterwards():
    yield
    log.configure(console=False)


def test_the_file_holds_one_json_object_per_message(tmp_path):
    log.configure("info", tmp_path / "logs" / "a.log", console=False)
    logger = log.get_logger("arena")
    logger.debug("too quiet")
    logger.info("round done", round=3)
    try:
        raise KeyError("lost")
    except KeyError:
        logger.exception("round failed")
    rows = [json.loads(line) for line in (tmp_path / "logs" / "a.log").read_text().splitlines()]
    assert [(r["event"], r["level"], r["logger"]) for r in rows] == [
        ("round done", "info", "levelcap.arena"),
        ("round failed", "error", "levelcap.arena"),
    ]
    assert rows[0]["round"] == 3
    assert "KeyError: 'lost'" in rows[1]["exception"]


def test_the_console_is_readable_and_plain_when_it_is_no_terminal(capsys):
    log.configure("warning")
    log.get_logger("arena").warning("slow round", seconds=9)
    said = capsys.readouterr().err
    assert "slow round" in said and "seconds=9" in said and "\x1b" not in said


def test_configuring_twice_does_not_double_messages(tmp_path):
    for _ in range(2):
        log.configure("info", tmp_path / "a.log", console=False)
    log.get_logger("x").info("once")
    assert len((tmp_path / "a.log").read_text().splitlines()) == 1


def test_messages_of_the_standard_library_go_the_same_way(tmp_path):
    log.configure("info", tmp_path / "a.log", console=False)
    logging.getLogger("levelcap.jobs").info("plain %s", "message")
    assert json.loads((tmp_path / "a.log").read_text())["event"] == "plain message"


def test_metrics_come_back_in_order(tmp_path):
    with log.MetricsWriter(tmp_path / "run" / "metrics.jsonl") as metrics:
        metrics.write(0, {"loss": 2.5})
        metrics.write(1, {"loss": 1, "won": True})
    read = read_jsonl(tmp_path / "run" / "metrics.jsonl")
    assert [(r["step"], r["loss"]) for r in read.records] == [(0, 2.5), (1, 1)]
    assert read.records[1]["won"] == 1
    assert read.torn_bytes == 0


def test_a_value_that_is_not_finite_becomes_null_and_is_counted(tmp_path):
    metrics = log.MetricsWriter(tmp_path / "m.jsonl")
    metrics.write(4, {"loss": float("nan"), "elo": float("-inf"), "ok": 1.0})
    row = read_jsonl(tmp_path / "m.jsonl").records[0]
    assert (row["loss"], row["elo"], row["ok"]) == (None, None, 1.0)
    assert row["non_finite"] == ["loss", "elo"]


@pytest.mark.parametrize("values", [{"step": 1.0}, {"loss": "high"}, {"loss": None}, {"loss": [1]}])
def test_taken_names_and_non_numbers_are_refused(tmp_path, values):
    with pytest.raises(BadValue):
        log.MetricsWriter(tmp_path / "m.jsonl").write(0, values)
    assert not (tmp_path / "m.jsonl").exists()


def test_a_torn_last_row_does_not_hide_the_others(tmp_path):
    metrics = log.MetricsWriter(tmp_path / "m.jsonl")
    metrics.write(0, {"loss": 1.0})
    with (tmp_path / "m.jsonl").open("ab") as file:
        file.write(b'{"step": 1, "lo')
    read = read_jsonl(tmp_path / "m.jsonl")
    assert (len(read.records), read.torn_bytes) == (1, 15)
    metrics.write(2, {"loss": 0.5})
    assert [r["step"] for r in read_jsonl(tmp_path / "m.jsonl").records] == [0, 2]
