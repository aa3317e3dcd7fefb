"""The judge accepts the right answer and nothing else, quickly."""

import math
import time

import pytest

from levelcap.guild.engine import get_engine
from levelcap.guild.grade import grade_text
from levelcap.guild.rng import Rng
from levelcap.guild.skill import Problem
from levelcap.kit.errors import BadValue

ENGINE = get_engine()
SPARE = "⓪①01Oo○●◎ \n,=()abcxyzVerification:"
LOOK_ALIKES = str.maketrans({"⓪": "○", "①": "❶", "0": "О", "1": "l", "a": "а", "e": "е", "=": "＝"})


def hostile(right):
    """Answers that hold the right one, look like it, or are no text at all."""
    yield from (
        *("", " ", "\n", right + " ", " " + right, right + "\n", right + "\n" + right, right + "."),
        *(f"The answer is {right}", f"{right}\nI hope this helps!", f"```\n{right}\n```"),
        *(f"<think>{right}</think>", f'{{"answer": "{right}"}}', right.replace("\n", " \n") + " "),
        *(
            "\ufeff" + right,
            right + "\u200b",
            right + "\x00",
            right[::-1] + "\n",
            right.upper() + "!",
        ),
        right.translate(LOOK_ALIKES) + "\u200d",
        *("x" * 1_000_000, right * (1_000_000 // len(right)), "\n" * 1_000_000),
        *("①" * 1_000_000, right + " " * 1_000_000, "(" * 1_000_000, "\ud800" * 1_000_000),
        *("NaN", "nan", "Infinity", "null", "[]", "{}"),
        *(math.nan, math.inf, None, 0, True, b"bytes", [right], {"answer": right}),
    )


@pytest.mark.parametrize(
    ("skill", "level"), [("bin", 1), ("bin", 6), ("bin", 12), ("bin", 30), ("sy", 1), ("sy", 20)]
)
def test_hostile_answers_are_wrong_within_a_millisecond(skill, level):
    problems = ENGINE.generate_eval_batch(skill, level=level, count=12, seed=3)
    for problem in problems:
        solved = ENGINE.solve(problem)
        for answer in hostile(solved):
            if isinstance(answer, str) and answer == solved:
                continue
            best = min(_cpu_seconds(problem, answer) for _ in range(7))
            # The time of the judge itself: the machine may be busy.
            assert best < 1e-3, (len(str(answer)), len(solved), best)
            given = ENGINE.grade(problem, answer)
            assert not given.right and 0 <= given.partial < 1


def _cpu_seconds(problem, answer):
    begin = time.process_time()
    ENGINE.grade(problem, answer)
    return time.process_time() - begin


def mutate(text, dice):
    """A text that differs in one to three places."""
    for _ in range(dice.between(1, 3)):
        at = dice.below(len(text) + 1)
        kind = dice.below(4)
        if kind == 0:
            text = text[:at] + dice.pick(SPARE) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + 1 :]
        elif kind == 2:
            text = text[:at] + dice.pick(SPARE) + text[at + 1 :]
        else:
            text = text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
    return text


def accepted_mutants(count, seed):
    dice = Rng(seed)
    accepted = []
    problems = [
        p
        for name, skill in ENGINE.skills.items()
        for level in range(1, skill.levels + 1)
        for p in ENGINE.generate_eval_batch(name, level, 10, seed)
    ]
    answers = []
    for index in range(count):
        problem = problems[index % len(problems)]
        mutant = mutate(problem.answer, dice)
        answers.append((problem, mutant))
    for problem, mutant in answers:
        if mutant != problem.answer and ENGINE.grade(problem, mutant).right:
            accepted.append((problem, mutant))
    return accepted


def test_mutated_answers_are_never_accepted():
    assert accepted_mutants(5_000, seed=1) == []


@pytest.mark.slow
def test_100_000_mutated_answers_are_never_accepted():
    assert accepted_mutants(100_000, seed=2) == []


def test_right_answers_score_one_in_every_group():
    problems = ENGINE.generate_eval_batch("bin", level=7, count=96, seed=1)
    score = ENGINE.score_eval(problems, [p.answer for p in problems])
    assert (score.accuracy, score.partial, score.count) == (1, 1, 96)
    assert sum(count for _, count in score.by_form.values()) == 96
    assert all(right == count for right, count in score.by_operation.values())
    assert all(right == count for right, count in score.by_primitive.values())


def test_groups_count_right_and_wrong_apart_and_partial_credit_does_not_count():
    problems = ENGINE.generate_eval_batch("bin", level=2, count=96, seed=1)
    answers = [p.answer if p.form == "easy" else p.answer + "\nmore" for p in problems]
    score = ENGINE.score_eval(problems, answers)
    easy = sum(p.form == "easy" for p in problems)
    assert score.accuracy == easy / 96
    assert score.by_form["easy"] == (easy, easy)
    assert score.by_form["expert"] == (0, 8)
    assert easy / 96 < score.partial < 1


def test_partial_credit_is_the_share_of_lines_at_their_place():
    assert grade_text("a\nb\nc", "a\nx\nc").partial == pytest.approx(2 / 3)
    assert grade_text("a\nb", "b\na").partial == 0
    assert grade_text("a\nb", "a\nb\nc\nd").partial == 0.5


def test_the_stored_answer_is_not_trusted():
    fake = Problem("bin", 1, "easy", "add", "Compute: add(①, ①)", "add(①, ①) = ⓪⓪", (), "k")
    assert ENGINE.score_eval([fake], ["add(①, ①) = ⓪⓪"]).accuracy == 0
    assert ENGINE.score_eval([fake], ["add(①, ①) = ①⓪"]).accuracy == 1


def test_answers_that_do_not_match_the_problems_are_refused():
    problems = ENGINE.generate_eval_batch("bin", level=1, count=2)
    for answers in ([], ["x"], ["x"] * 3):
        with pytest.raises(BadValue, match="do not match"):
            ENGINE.score_eval(problems, answers)
    with pytest.raises(BadValue, match="do not match"):
        ENGINE.score_eval([], [])


def test_an_unknown_skill_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match="Did you mean 'bin'"):
        ENGINE.get("bim")
