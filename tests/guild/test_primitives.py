"""Primitives, passives and school."""

import re
import time
from collections import Counter

import pytest

from levelcap.guild import passives
from levelcap.guild.alphabet import load_alphabet
from levelcap.guild.bin.skill import BinarySkill
from levelcap.guild.engine import get_engine
from levelcap.guild.passives import FULL, LITE, PASSIVES, drift
from levelcap.guild.primitives import (
    DRILLS,
    PREREQUISITES,
    PRIMITIVES,
    READERS,
    TRACKS,
    judge_drill,
    solve_drill,
)
from levelcap.guild.rng import Rng
from levelcap.guild.school import school_lesson
from levelcap.kit.errors import BadValue, UnknownName

NAMES = {
    "arithmetic": "add_single_digit_no_carry, add_single_digit_with_carry, add_two_digit, "
    "sub_single_digit, sub_two_digit, mul_single_digit, div_exact, compare_integers, parity, "
    "digit_sum, modulo",
    "binary": "add_no_carry, add_with_carry, sub_no_borrow, sub_with_borrow, and, or, xor, "
    "compare, to_decimal, from_decimal",
    "logic": "truth_table_basic, implication_eval, modus_ponens, modus_tollens, syllogism_all, "
    "syllogism_some, de_morgan",
    "string": "reverse_string, count_char, substring_check, sort_letters, palindrome_check, "
    "string_length",
    "code": "trace_assignment, trace_if_else, trace_loop_fixed, eval_bool_expr, "
    "function_call_trace",
}
EXAMPLES = {
    "Add: 7 + 8": "15",
    "Subtract: 42 - 17": "25",
    "Multiply: 7 * 8": "56",
    "Divide: 56 / 8": "7",
    "Compare: 34 ? 43": "<",
    "Parity: 37": "odd",
    "Digit sum: 382": "13",
    "Modulo: 17 % 5": "2",
    "Bits: ①① + ⓪①": "①⓪⓪",
    "Bits: ①⓪⓪ - ⓪①①": "⓪⓪①",
    "Bits: ①⓪① & ①①⓪": "①⓪⓪",
    "Bits: ①⓪① | ①①⓪": "①①①",
    "Bits: ①⓪① ^ ①①⓪": "⓪①①",
    "Bits: ①⓪① ? ①①⓪": "<",
    "To decimal: ①⓪①": "5",
    "To bits: 6": "①①⓪",
    "Truth: T nand T": "F",
    "Implies: T -> F": "F",
    "Given: if A then B; A. B?": "true",
    "Given: if A then B; B. A?": "unknown",
    "Given: if A then B; not B. A?": "false",
    "Given: if A then B; not A. B?": "unknown",
    "Infer: All A are B; all B are C. all A are C?": "true",
    "Infer: All A are B; all B are C. all C are A?": "unknown",
    "Infer: Some A are B; all B are C. some A are C?": "true",
    "Infer: All A are B; some B are C. some A are C?": "unknown",
    "De Morgan: not (A and B)": "not A or not B",
    "Reverse word: abc": "cba",
    "Count: a in banana": "3",
    "Contains: nan in banana": "yes",
    "Sort: banana": "aaabnn",
    "Palindrome: abca": "no",
    "Length: banana": "6",
    "Assign: x = 3; y = x * 4; y?": "12",
    "Branch: x = 3; if x > 5: y = 1 else: y = 2; y?": "2",
    "Loop: s = 2; repeat 3: s = s + 5; s?": "17",
    "Bool: (3 > 2) and not (1 == 1)": "False",
    "Call: f(x) = 2 * x + 1; f(4)?": "9",
    "Choose: 2 from 4": "6",
    "Arrange: 4": "24",
    "Plural: baby": "babies",
    "Plural: box": "boxes",
    "Plural: toy": "toys",
    "Opposite: cold": "hot",
    "Remember: a=3 b=7. b?": "7",
    "Next: 2 5 8 11": "14",
    "Next letter: a c e g": "i",
    "Join: ba na na": "banana",
    "First letters: cat apple tree": "cat",
}


def test_the_39_primitives_bear_their_names_in_five_tracks():
    assert {track: ", ".join(d.name for d in row) for track, row in TRACKS.items()} == NAMES
    assert len(PRIMITIVES) == 39


def test_prerequisites_exist_and_lead_upwards():
    for drill in PRIMITIVES.values():
        assert 1 <= drill.difficulty <= 5
        for name in PREREQUISITES.get(drill.name, ()):
            assert PRIMITIVES[name].difficulty <= drill.difficulty
            assert name != drill.name and drill.name not in PREREQUISITES.get(name, ())


@pytest.mark.parametrize(("prompt", "answer"), EXAMPLES.items())
def test_every_head_has_the_answer_worked_out_by_hand(prompt, answer):
    assert solve_drill(prompt) == answer


def test_every_head_has_an_example():
    assert {prompt.split(": ")[0] for prompt in EXAMPLES} == set(READERS)


@pytest.mark.parametrize("name", DRILLS)
def test_a_drill_is_what_it_says(name):
    drill, dice, alphabet = DRILLS[name], Rng(5), load_alphabet()
    answers, bodies = Counter(), set()
    for _ in range(400):
        problem = drill.problem(dice, exam=False)
        assert (problem.skill, problem.operation) == ("school", name)
        assert judge_drill(problem, problem.answer).right
        assert not judge_drill(problem, problem.answer + " ").right
        alphabet.refuse_outside(f"{problem.prompt}\n{problem.answer}", name)
        assert len(problem.prompt) + len(problem.answer) < 80
        answers[problem.answer] += 1
        bodies.add(problem.prompt)
    assert len(bodies) <= drill.pool
    assert answers.most_common(1)[0][1] / 400 <= drill.chance + 0.08


def test_small_pools_are_counted_exactly():
    for drill in DRILLS.values():
        if drill.pool <= 260:
            dice = Rng(3)
            assert len({drill.draw(dice) for _ in range(6_000)}) == drill.pool, drill.name


def test_carries_and_borrows_are_there_when_the_name_says_so():
    def operands(name, dice):
        body = DRILLS[name].draw(dice).translate(str.maketrans("⓪①", "01"))
        a, _, b = body.split(" ")
        return int(a, 2), int(b, 2)

    dice = Rng(9)
    for _ in range(500):
        a, b = operands("add_no_carry", dice)
        assert a & b == 0
        a, b = operands("add_with_carry", dice)
        assert a & b
        a, b = operands("sub_no_borrow", dice)
        assert a >= b and not ~a & b
        a, b = operands("sub_with_borrow", dice)
        assert a >= b and ~a & b
        low, high = DRILLS["add_single_digit_with_carry"].draw(dice).split(" + ")
        assert int(low) + int(high) > 9


def test_lessons_and_exams_of_a_large_drill_never_meet():
    for name in ("add_two_digit", "reverse_string", "compare", "trace_if_else", "count_char"):
        drill = DRILLS[name]
        lessons = {drill.problem(Rng(1, i), exam=False).key for i in range(1_500)}
        exams = {drill.problem(Rng(2, i), exam=True).key for i in range(300)}
        assert len(exams) > 30 and not lessons & exams


@pytest.mark.parametrize(
    "prompt",
    ["", "Add: ", "Add: 1 + x", "Add 1 + 2", "Divide: 5 / 0", "Sing: la", "Add: " + "9" * 9999],
)
def test_what_is_no_drill_is_refused(prompt):
    with pytest.raises(BadValue, match="not a drill"):
        solve_drill(prompt)


def test_eleven_passives_cover_all_primitives():
    assert list(PASSIVES) == [
        *("arithmetic", "binary_arithmetic", "code_trace", "combinatorics", "counting"),
        *("language_basics", "logic", "memory", "sequence", "string_craft", "word_puzzles"),
    ]
    covered = set().union(*(p.primitives for p in PASSIVES.values()))
    assert covered == set(PRIMITIVES)
    assert (LITE, FULL) == (5, 30)


@pytest.mark.parametrize("name", PASSIVES)
def test_an_exam_of_a_passive_is_seeded_and_graded_by_the_engine(name):
    problems = passives.exam(name, FULL, seed=3)
    assert problems == passives.exam(name, FULL, seed=3) != passives.exam(name, FULL, seed=4)
    assert {p.operation for p in problems} == {name}
    assert get_engine().score_eval(problems, [p.answer for p in problems]).accuracy == 1
    assert get_engine().score_eval(problems, ["?"] * FULL).accuracy == 0
    assert {p for q in problems for p in q.primitives} == PASSIVES[name].primitives
    assert 0 <= PASSIVES[name].chance < 0.6


def test_passives_and_their_arguments_are_checked():
    with pytest.raises(UnknownName, match="arithmetic"):
        passives.exam("aritmetic", 5)
    with pytest.raises(BadValue, match="at least 1"):
        passives.exam("logic", 0)


def test_drift_is_told_from_ten_points_on():
    assert [drift(0.5, x) for x in (0.4, 0.41, 0.5, 0.59, 0.6)] == [
        *("lost", "held", "held", "held", "gained")
    ]


def test_school_lessons_are_functions_of_seed_and_index_over_everything():
    lessons = [school_lesson(1, i) for i in range(3_000)]
    assert lessons[:50] == [school_lesson(1, i) for i in range(50)]
    assert {p.operation for p in lessons} == set(PASSIVES)
    assert {n for p in lessons for n in p.primitives} == set(PRIMITIVES)
    assert school_lesson(1, 5, kind="modulo").operation == "modulo"
    assert school_lesson(1, 5, kind="memory").prompt.startswith("Remember: ")
    with pytest.raises(UnknownName, match="primitive or passive"):
        school_lesson(1, 5, kind="memry")


def test_every_primitive_a_binary_problem_names_exists():
    skill = BinarySkill()
    for index in range(1_500):
        problem = skill.lesson(index % 30 + 1, seed=3, index=index)
        assert set(problem.primitives) <= set(PRIMITIVES)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("add(⓪①, ①⓪)", {"add_no_carry"}),
        ("add(⓪①, ①①)", {"add_with_carry"}),
        ("subtract(①①, ⓪①)", {"sub_no_borrow"}),
        ("subtract(①⓪, ⓪①)", {"sub_with_borrow"}),
        ("multiply(①①, ①⓪)", {"add_no_carry"}),
        ("multiply(①①, ①①)", {"add_with_carry"}),
        ("divide(①①, ①⓪)", {"compare", "sub_no_borrow"}),
        ("and(add(⓪①, ⓪①), ①①)", {"add_with_carry", "and"}),
        ("increment(①⓪)", {"add_no_carry"}),
        ("tobinary(3, 2)", {"from_decimal"}),
    ],
)
def test_primitives_follow_from_the_operands(call, expected):
    from levelcap.guild.bin.primitives import call_primitives
    from levelcap.guild.bin.wording import evaluate, read_call

    assert set(call_primitives(evaluate(read_call(call)), "easy")) == expected


def test_drawing_never_hangs():
    begin = time.process_time()
    for index in range(10_000):
        school_lesson(7, index)
    for drill in DRILLS.values():
        for index in range(60):
            drill.problem(Rng(8, index), exam=True)
    assert time.process_time() - begin < 20


@pytest.mark.slow
def test_a_million_problems_are_drawn_in_bounded_time():
    begin = time.perf_counter()
    for index in range(740_000):
        school_lesson(9, index)
    for name, count in (("bin", 240_000), ("sy", 20_000)):
        skill = get_engine().get(name)
        for index in range(count):
            skill.lesson(index % skill.levels + 1, seed=9, index=index)
    assert time.perf_counter() - begin < 290


def test_prompts_have_no_space_at_their_ends():
    assert all(re.fullmatch(r"\S.*\S", school_lesson(2, i).prompt) for i in range(500))
