"""One gate for both kinds of hero: better beyond chance, or somebody's word for it."""

import pytest

from levelcap.kit.errors import BadValue, Conflict
from levelcap.trials.gate import check_decision, judge_elo, judge_exam
from levelcap.trials.verdict import Override

ELO = (1500.0, 1450.0, 1550.0)


def test_the_first_judged_passes():
    assert judge_elo("a", ELO).passed and judge_exam("a", "bin", 1, 0.1, 96).passed


@pytest.mark.parametrize(
    "difference, passed",
    [((40.0, 5.0, 75.0), True), ((40.0, -5.0, 85.0), False), ((0.0,) * 3, False), (None, False)],
)
def test_an_arena_hero_passes_when_the_interval_lies_above_zero(difference, passed):
    verdict = judge_elo("a", ELO, "b", difference)
    assert (verdict.passed, verdict.champion, verdict.version) == (passed, "b", 1)


@pytest.mark.parametrize(
    ("level", "accuracy", "wins"),
    [(4, 0.1, True), (2, 1.0, False), (3, 0.85, False), (3, 0.93, True), (3, 0.8, False)],
)
def test_a_text_champion_falls_to_a_level_or_to_more_than_chance(level, accuracy, wins):
    verdict = judge_exam("a", "bin", level, accuracy, 96, champion="b", reigning=(3, 0.8))
    assert verdict.passed is wins


def test_a_verdict_says_every_number():
    said = judge_elo("a", ELO, "b", (40.0, 5.0, 75.0)).as_json()
    assert said["figures"] == {"elo": [1500, 1450, 1550], "difference": [40, 5, 75]}
    assert said["reason"] == "+40 Elo (+5 to +75) over the champion"
    exam = judge_exam("a", "bin", 3, 0.9, 96, champion="b", reigning=(3, 0.8)).as_json()
    assert set(exam["figures"]) == {"level", "accuracy", "difference"}
    share, low, high = exam["figures"]["accuracy"]
    assert low < share == 0.9 < high


def test_only_a_verdict_that_holds_opens_the_gate():
    good = judge_elo("a", ELO, "b", (40.0, 5.0, 75.0))
    check_decision(good, "a", "b")
    for candidate, champion in (("x", "b"), ("a", "x"), ("a", None)):
        with pytest.raises(Conflict, match="Judge it again"):
            check_decision(good, candidate, champion)
    with pytest.raises(Conflict, match="does not let it pass"):
        check_decision(judge_elo("a", ELO, "b", (40.0, -5.0, 85.0)), "a", "b")
    check_decision(Override("I like it", "me"), "a", "b")


@pytest.mark.parametrize("reason, who", [("", "me"), ("x", " "), ("a\nb", "me"), ("x" * 201, "me")])
def test_an_override_has_a_reason_and_a_person(reason, who):
    with pytest.raises(BadValue):
        Override(reason, who)
