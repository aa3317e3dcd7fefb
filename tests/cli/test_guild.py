"""`levelcap guild …` and `levelcap hero …`, without services."""

import json

import pytest

from levelcap.campaign.realm import realm
from levelcap.campaign.story.runs import run_folder
from levelcap.campaign.wheel.control import switch
from levelcap.cli.main import main
from levelcap.guild.engine import get_engine
from tests.campaign.kinds.test_studies import begun, exam_row, take


def run(capsys, *tokens):
    with pytest.raises(SystemExit) as ended:
        main(list(tokens))
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err


def test_problems_are_printed_with_their_answers(capsys):
    code, text, _ = run(capsys, "guild", "problem", "bin_add", "--level", "2", "--count", "2")
    made = get_engine().get("bin").lesson(2, seed=0, index=1, preset="bin_add")
    assert code == 0 and f"{made.prompt}\n{made.answer}" in text
    code, text, _ = run(capsys, "guild", "problem", "sy", "--no-answer")
    assert code == 0 and get_engine().get("sy").lesson(1, seed=0, index=0).prompt in text
    code, _, error = run(capsys, "guild", "problem", "binn")
    assert code == 2 and "Did you mean" in error


def test_heroes_are_listed_and_switched(capsys, home):
    code, text, _ = run(capsys, "hero", "switch", "dio-tiny")
    assert code == 0 and "dio-tiny trains now" in text
    code, text, _ = run(capsys, "hero", "ls")
    assert code == 0 and {"kestrel", "dio-tiny", "flo"} <= set(text.split())
    code, _, error = run(capsys, "hero", "switch", "flo")
    assert code == 1 and "weights" in error
    code, text, _ = run(capsys, "status")
    assert code == 0 and "bin level 1" in text


def test_show_tells_the_standing_and_queueing_needs_a_checkpoint(capsys, home):
    with realm() as opened:
        switch(opened.store, "dio-tiny")
        study = begun(opened)
        run_folder(study.id).mkdir()
        take(opened, study, [exam_row(25), exam_row(50, accuracy=0.7)])
    code, text, _ = run(capsys, "guild", "show")
    assert code == 0 and "bin: Binary arithmetic, level 1 of 30" in text and "90%, 70%" in text
    assert "skill_regression" in text and "primitive_weakness" not in text
    code, text, _ = run(capsys, "guild", "show", "--json")
    assert json.loads(text)["skills"][0]["window"] == [0.9, 0.7]
    for verb in ("eval", "spar"):
        code, _, error = run(capsys, "guild", verb)
        assert code == 2 and "latest" in error
