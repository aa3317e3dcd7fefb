"""Curves: rolled up at three zooms, never more than a thousand points, true to the file."""

import time

import pytest

from levelcap.campaign.story import curves, runs
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import UnknownName
from levelcap.kit.files import append_jsonl
from levelcap.vault.assets import now


def begin(realm, run="reinforce-a"):
    with transaction(realm.engine) as connection:
        runs.begin(connection, runs.NewRun(run, "reinforce", 0, "", world="duel"), None, 0)
    place = runs.run_folder(run)
    place.mkdir(parents=True)
    return place / "metrics.jsonl"


def rows(first, count):
    return [
        {"step": i, "time": 0.0, "loss": i / 2, "words": 1} for i in range(first, first + count)
    ]


def read(realm, zoom="all", metric="loss"):
    with reading(realm.engine) as connection:
        return curves.read(connection, "reinforce-a", metric, zoom)


def test_a_short_run_is_kept_point_by_point(realm):
    append_jsonl(begin(realm), rows(0, 25))
    assert curves.roll_up(realm.engine) == 25
    found = read(realm)
    assert found["step"] == list(range(25)) and found["mean"] == [i / 2 for i in range(25)]
    assert read(realm, "recent")["mean"] == [2.25, 7.25, 11.0]
    assert read(realm, "recent")["rows"] == [10, 10, 5]
    with reading(realm.engine) as connection:
        assert curves.metrics_of(connection, "reinforce-a") == ["loss"]


def test_a_long_run_has_at_most_a_thousand_points_and_keeps_every_extreme(realm):
    path = begin(realm)
    append_jsonl(path, rows(0, 7000))
    append_jsonl(path, [{"step": 7000, "time": 0.0, "loss": 1e6}])
    append_jsonl(path, rows(7001, 3000))
    assert curves.roll_up(realm.engine) == 10_001
    whole, recent, live = (read(realm, zoom) for zoom in curves.ZOOMS)
    assert len(whole["step"]) <= 1000 and whole["width"] == 16
    assert sum(whole["rows"]) == 10_001 and max(whole["high"]) == 1e6 and min(whole["low"]) == 0
    assert len(recent["step"]) == len(live["step"]) == 1000
    assert live["step"][0] == 9001 and live["step"][-1] == 10_000


def test_pieces_give_the_same_curve_as_the_whole(realm):
    path = begin(realm)
    for first in range(0, 3000, 250):
        append_jsonl(path, rows(first, 250))
        assert curves.roll_up(realm.engine) == 250
    pieces = {zoom: read(realm, zoom) for zoom in curves.ZOOMS}
    with transaction(realm.engine) as connection:
        for table in ("curves", "curve_marks"):
            connection.execute(f"DELETE FROM {table}")
    curves.roll_up(realm.engine)
    for zoom, found in pieces.items():
        whole = read(realm, zoom)
        assert whole["step"] == found["step"] and whole["rows"] == found["rows"]
        assert whole["mean"] == pytest.approx(found["mean"], rel=1e-3)


def test_a_torn_line_waits_and_numbers_that_are_none_leave_a_gap(realm):
    path = begin(realm)
    append_jsonl(path, [{"step": 1, "loss": 1.0}, {"step": 2, "loss": None}])
    with path.open("ab") as file:
        file.write(b'{"step": 3, "lo')
    assert curves.roll_up(realm.engine) == 2
    assert read(realm)["step"] == [1]
    append_jsonl(path, [{"step": 3, "loss": 2.0}])
    assert curves.roll_up(realm.engine) == 1
    assert read(realm)["step"] == [1, 3]


def test_an_ended_run_is_read_to_its_end_and_then_left_alone(realm):
    append_jsonl(begin(realm), rows(0, 5))
    with transaction(realm.engine) as connection:
        connection.execute("UPDATE runs SET ended = :t", {"t": now()})
    time.sleep(0.002)  # times are kept in milliseconds: the next one is after it
    assert curves.roll_up(realm.engine) == 5
    append_jsonl(runs.run_folder("reinforce-a") / "metrics.jsonl", rows(5, 5))
    assert curves.roll_up(realm.engine) == 0
    with transaction(realm.engine) as connection:
        connection.execute("UPDATE runs SET ended = NULL")
    assert curves.roll_up(realm.engine) == 5


def test_wrong_names_are_told(realm):
    begin(realm)
    with pytest.raises(UnknownName, match="did you mean|Did you mean"):
        read(realm, metric="los")
    with pytest.raises(UnknownName, match="zoom"):
        read(realm, "far")
