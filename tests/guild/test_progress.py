"""The level-up rule."""

import pytest

from levelcap.guild.engine import get_engine
from levelcap.guild.judge import Score
from levelcap.guild.progress import begin, from_json, record
from levelcap.kit.errors import BadValue
from levelcap.kit.files import dump_json, parse_json

SKILL = get_engine().get("bin")


def score(accuracy, count=96, by_form=None, by_operation=None, partial=1.0):
    forms = by_form or {"easy": (round(accuracy * count), count)}
    return Score(accuracy, count, forms, by_operation or {"add": (count, count)}, {}, partial)


def walk(progress, accuracies, update=0):
    """Evaluations 25 updates apart; returns the progress and what happened each time."""
    happened = []
    for accuracy in accuracies:
        update += 25
        progress, outcome = record(progress, score(accuracy, progress.wanted[1]), update, SKILL)
        happened.append(outcome)
    return progress, happened


def test_three_good_evaluations_and_a_confirmation_raise_the_level():
    progress, happened = walk(begin(SKILL), [0.9, 0.7, 0.8, 0.75])
    assert happened == ["evaluated", "evaluated", "ready", "level_up"]
    assert (progress.level, progress.passed, progress.window) == (2, 1, ())
    assert progress.wanted == ("evaluation", 96)


def test_the_window_slides_and_a_mean_below_the_bar_is_not_enough():
    progress, happened = walk(begin(SKILL), [0.1, 0.79, 0.8, 0.8, 0.82])
    assert happened == ["evaluated"] * 4 + ["ready"]
    assert progress.wanted == ("confirmation", 200)


def test_a_failed_confirmation_takes_the_window_back():
    progress, happened = walk(begin(SKILL), [1, 1, 1, 0.745, 1, 1, 1, 1])
    assert happened[3] == "not_confirmed"
    assert happened[4:] == ["evaluated", "evaluated", "ready", "level_up"]
    assert progress.passed == 1


def test_partial_credit_never_counts():
    progress, outcome = begin(SKILL), None
    for update in (25, 50, 75):
        progress, outcome = record(progress, score(0.5, partial=1.0), update, SKILL)
    assert outcome == "evaluated" and progress.passed == 0


def test_a_level_is_mastered_only_when_every_form_is():
    def passed_with(hard):
        progress = begin(SKILL)
        for update in (25, 50, 75, 100):
            count = progress.wanted[1]
            forms = {"easy": (count - 10, count - 10), "hard": (hard, 10)}
            progress, _ = record(progress, score(0.9, count, forms), update, SKILL)
        return progress

    assert passed_with(6).mastered == (1,)
    assert passed_with(5).mastered == () and passed_with(5).passed == 1


def test_exams_too_soon_or_too_small_are_refused():
    progress, _ = record(begin(SKILL), score(0.5), 100, SKILL)
    assert not progress.due(124) and progress.due(125)
    with pytest.raises(BadValue, match="too soon"):
        record(progress, score(0.5), 124, SKILL)
    with pytest.raises(BadValue, match="has 96 problems; got 95"):
        record(progress, score(0.5, 95), 125, SKILL)
    ready, _ = walk(begin(SKILL), [1, 1, 1])
    assert ready.due(75)
    with pytest.raises(BadValue, match="has 200 problems"):
        record(ready, score(1.0), 100, SKILL)


def test_experience_is_ten_times_multiplier_times_accuracy_cut_to_a_whole():
    progress, _ = walk(begin(SKILL), [0.55])
    assert progress.xp == 5
    progress, _ = walk(begin(SKILL), [1, 1, 1, 1, 1])
    assert progress.xp == 40 + 12


def test_the_last_level_is_passed_once():
    progress, happened = walk(begin(SKILL), [1.0] * (30 * 4 + 3))
    assert (progress.passed, progress.level, len(progress.mastered)) == (30, 30, 30)
    assert happened[-1] == "evaluated"


def test_progress_survives_json_and_another_version_starts_anew():
    progress, _ = walk(begin(SKILL, "bin_add"), [1, 1, 1, 1, 0.5])
    stored = parse_json(dump_json(progress.to_json()))
    assert from_json(stored, SKILL) == progress
    assert from_json(stored | {"version": 99}, SKILL) == begin(SKILL, "bin_add")
    with pytest.raises(BadValue, match="not a progress"):
        from_json({"version": SKILL.version}, SKILL)
