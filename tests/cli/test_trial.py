"""`levelcap trial`: a table, one sentence of decision, a verdict file that can be read again."""

import json

from levelcap.kit.files import read_json
from levelcap.kit.seeds import chain
from levelcap.play.roster import find
from levelcap.trials.verdict import verdict_from_json
from tests.cli.calling import levelcap


def test_an_empty_throne_takes_its_first_hero(capsys, tmp_path):
    out = tmp_path / "verdict.json"
    code, said, _ = levelcap(capsys, "trial", "rookie", "--seed", "3", "--out", str(out), "--json")
    assert code == 0 and "may be champion: provisional" in said and "an empty throne" in said
    found = json.loads(said.splitlines()[-1])
    verdict = verdict_from_json(read_json(out))
    assert verdict.provisional and found["reason"] == verdict.reason
    assert (found["world"], found["seed"]) == ("duel", 3)


def test_a_whole_trial_is_printed_and_the_two_players_draw_its_panel(capsys, monkeypatch):
    monkeypatch.setattr("levelcap.trials.suite.SCREEN_GAMES", 12)
    monkeypatch.setattr("levelcap.trials.robust.GAMES", {2: 4})
    call = ("trial", "veteran", "--against", "wanderer", "--matches", "2", "--minutes", "0.01")
    code, said, _ = levelcap(capsys, *call, "--core-seconds", "60", "--json")
    words = " ".join(said.replace("│", " ").split())
    assert code == 0 and "friendly_fire: vacuous, shots, blasts" in words and "late 2:" in words
    found = json.loads(said.splitlines()[-1])
    assert found["parts"]["cost"]["core_seconds"] == 60 and str(found["seed"]) in words
    pair = (int(find(name).content_hash[:12], 16) for name in ("veteran", "wanderer"))
    assert found["seed"] == chain(*pair)


def test_wrong_input_is_refused_before_anything_is_played(capsys, tmp_path):
    for arguments, words in (
        (("rookie", "--world", "duell"), "Did you mean 'duel'"),
        (("rookie", "--matches", "3"), "matches come in pairs"),
        (("rookie", "--out", str(tmp_path / "no" / "v.json")), "no such folder"),
        (("rookie", "--replays", str(tmp_path / "no")), "no such folder"),
        (("rooky",), "Did you mean 'rookie'"),
        (("rookie", "--core-seconds", "-1"), "core-seconds"),
    ):
        code, _, error = levelcap(capsys, "trial", *arguments)
        assert code == 2 and words in error, error
