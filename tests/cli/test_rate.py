"""`levelcap rate` as it prints: the sealed panel first, then bots, Elo and differences."""

import json

import pytest
from cyclopts import App

from levelcap.cli.rate import rate
from levelcap.kit.errors import BadFile, BadValue, LevelcapError, UnknownName
from levelcap.kit.files import read_json
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.world.spec import arena_spec


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")


def run(capsys, *words):
    """What the command prints, its words parsed as on the command line."""
    app = App(result_action="return_value")
    app.default(rate)
    app(list(words), exit_on_error=False)
    return capsys.readouterr().out


def test_the_sealed_table_comes_first_and_json_last(capsys, tmp_path):
    path = tmp_path / "verdict.json"
    words = ("veteran", "rookie", "--games", "20", "--seed", "5", "--json", "--out", str(path))
    out = run(capsys, *words)
    places = [
        out.index(text)
        for text in ("Sealed panel", "Bots that training", "Sealed minus", "Elo, rookie = 1000")
    ]
    assert places == sorted(places)
    for text in ("20 cousins of master", "veteran (judged)", "rookie (judged)", "1000 (anchor)"):
        assert text in out
    found = json.loads(out.splitlines()[-1])
    assert read_json(path) == found
    assert [row["policy"] for row in found["policies"]] == ["veteran", "rookie"]
    assert found["policies"][0]["sealed"]["master"]["games"] == 40
    assert found["policies"][0]["trained"]["master"]["games"] == 20
    (gap,) = found["differences"]
    assert (gap["of"], gap["to"]) == ("rookie (judged)", "veteran (judged)")
    assert gap["high"] < 0 and not gap["rising"]
    assert "rookie (judged) minus veteran (judged): -" in out
    # 3 bots, the other policy.
    assert found["ratings"]["players"]["rookie (judged)"]["games"] == 4 * 20
    assert run(capsys, *words) == out


def test_a_checkpoint_is_rated(capsys, tmp_path):
    meta = describe("flat", arena_spec("duel"), "dummy")
    folder = tmp_path / "snap-with-a-rather-long-name-1"
    save_snapshot(folder, weights_of(new_net(meta, seed=3)), meta, "test")
    out = run(capsys, str(folder), "--games", "4", "--json")
    found = json.loads(out.splitlines()[-1])
    (row,) = found["policies"]
    assert row["policy"] == str(folder)
    assert row["name"].endswith("long-name-1") and len(row["name"]) == 28
    assert row["sealed"]["master"]["win_rate"] < 0.5  # it knows nothing
    assert "minus" not in out.split("Elo, rookie")[1].split("{")[0]


def test_lms_has_one_among_nine(capsys):
    out = run(capsys, "master", "--world", "lms", "--games", "4", "--one-among", "--json")
    assert "one among nine rookies" in out
    (row,) = json.loads(out.splitlines()[-1])["policies"]
    assert row["one_among"]["master"]["games"] == 4
    assert row["seers"] == {}


def test_outside_games_print_mean_returns(capsys):
    out = run(capsys, "uniform", "--world", "gym:CartPole-v1", "--games", "40", "--json")
    found = json.loads(out.splitlines()[-1])
    (row,) = found["policies"]
    assert row["ci_low"] < row["mean"] < row["ci_high"]
    assert row["episodes"] == 40
    assert "Mean return" in out


def test_quick_plays_a_tenth(capsys):
    found = json.loads(run(capsys, "rookie", "--quick", "--json").splitlines()[-1])
    (row,) = found["policies"]
    assert row["trained"]["rookie"]["games"] == 100
    assert row["sealed"]["rookie"]["games"] == 120  # 6 for each cousin: even


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        ((), BadValue, "nobody to rate"),
        (("rookie", "rookie"), BadValue, "named twice"),
        (("rooki",), UnknownName, "Did you mean 'rookie'"),
        (("rookie", "--world", "duell"), UnknownName, "Did you mean 'duel'"),
        (("rookie", "--games", "7"), BadValue, "even number"),
        (("rookie", "--games", "0"), BadValue, "even number"),
        (("rookie", "--seed", "-1"), BadValue, "seed must be in"),
        (("rookie", "--world", "lms", "--seers"), BadValue, "seers play duel only"),
        (("rookie", "--one-among"), BadValue, "lms"),
        (("rookie", "--out", "no/such/folder/v.json"), BadFile, "no such folder"),
        (("rookie", "--world", "gym:CartPole-v1"), LevelcapError, "scripted bot"),
    ],
)
def test_bad_input_is_refused_before_any_game(capsys, words, error, said):
    with pytest.raises(error, match=said):
        run(capsys, *words)
    assert capsys.readouterr().out == ""
