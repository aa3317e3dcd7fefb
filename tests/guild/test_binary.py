"""BIN: problems agree with arithmetic written a second time, and every written line is true."""

import re
import time

import pytest

from levelcap.guild.alphabet import load_alphabet
from levelcap.guild.bin.operations import OPERATIONS
from levelcap.guild.bin.skill import BinarySkill
from levelcap.guild.holdout import held_out
from levelcap.guild.skill import prompt_key
from levelcap.kit.errors import BadValue
from tests.guild.arithmetic import (
    CALL,
    check_equation,
    check_steps,
    circled,
    plain,
    result_of,
    value,
)

SKILL = BinarySkill()
HEAD = re.compile(r"Compute(?: \[([a-z-]+)\])?: (.*)")
FORM = {None: "easy", "natural": "natural", "verify": "medium", "show-work": "hard"}
MEDIUM = "Compute [verify]: "


def check_call(form, call, answer):
    """A computed answer: the last call's result, every line between, every decimal check."""
    lines = answer.split("\n")
    checks = [line for line in lines if line.startswith("Verification: ")]
    lines = lines[: len(lines) - len(checks)]
    result = result_of(call)
    if form == "natural" and not result.isascii():
        result = circled(value(result), 1)
    if form == "natural":
        assert lines == [f"{call} = {result}"]
        return
    assert lines[-1] == f"{call} = {result}"
    assert len(checks) == (0 if form == "easy" else call.count("("))
    for line in checks:
        check_equation(line.removeprefix("Verification: "))
    block = []
    for line in lines[:-1]:
        if CALL.fullmatch(line.split(" = ")[0]):
            name, shown = line.split(" = ")
            assert result_of(name) == shown
            check_steps(block, line)
            block = []
        else:
            block.append(line)
    if form in ("hard", "expert"):
        check_steps(block, f"{flat(call)} = {result}")
    else:
        assert block == [] and len(lines) == 1


def flat(call):
    """The outermost call with its inner one evaluated."""
    name, inside = call.split("(", 1)
    while match := CALL.search(inside[:-1]):
        inside = inside.replace(match[0], result_of(match[0]), 1)
    return f"{name}({inside}"


def check_task(task, prompt, answer):
    body = prompt.split(": ", 1)[1]
    if task == "error_detection":
        call, claimed = body.split(" = ")
        true = result_of(call)
        assert answer == ("right" if true == claimed else f"wrong, {true}")
    elif task == "fill_blank":
        found = answer.removeprefix("? = ")
        call, result = body.split(" = ")
        assert value(result_of(call.replace("?", found))) == value(result)
    elif task == "true_false":
        a, sign, b = body.split(" ")
        fact = {"<": value(a) < value(b), "=": value(a) == value(b), ">": value(a) > value(b)}
        assert answer == str(fact[sign]).lower()
    elif task == "properties":
        parity = ("even", "odd")[value(body) % 2]
        assert answer == f"{parity}, ones {body.count('①')}, zeros {body.count('⓪')}"
    elif task == "overflow":
        call, width = body.split(" in ")
        assert answer == ("yes" if value(result_of(call)) >= 2 ** int(width) else "no")
    else:
        assert task == "reverse" and answer == "".join(reversed(body))


def check_problem(problem):
    prompt, answer = plain(problem.prompt, problem.answer)
    assert SKILL.solve(problem.prompt) == problem.answer
    if problem.form == "aux":
        check_task(problem.operation, prompt, answer)
        return
    mark, call = HEAD.fullmatch(prompt).groups()
    assert FORM.get(mark, "expert") == problem.form
    assert call.startswith(problem.operation + "(")
    check_call(problem.form, call, answer)


def some_problems(count, seed=11):
    for index in range(count):
        level = index % SKILL.levels + 1
        yield SKILL.lesson(level, seed=seed, index=index)


def test_problems_agree_with_arithmetic_written_a_second_time():
    for problem in some_problems(5_000):
        check_problem(problem)


@pytest.mark.slow
def test_100_000_problems_agree_with_arithmetic_written_a_second_time():
    for problem in some_problems(100_000, seed=12):
        check_problem(problem)


def test_exams_agree_with_arithmetic_too():
    for level in range(1, SKILL.levels + 1):
        for problem in SKILL.exam(level, 12, seed=5):
            check_problem(problem)


def test_the_four_forms_of_one_addition_read_as_specified():
    call = "add(①①, ⓪①)"
    easy = f"{call} = ①⓪⓪"
    assert SKILL.solve(f"Compute: {call}") == easy
    assert SKILL.solve(f"{MEDIUM}{call}") == f"{easy}\nVerification: 3 + 1 = 4"
    work = "0: ①+① c⓪ = ⓪ c①\n1: ①+⓪ c① = ⓪ c①"
    assert SKILL.solve(f"Compute [show-work]: {call}") == (
        f"{work}\n{easy}\nVerification: 3 + 1 = 4"
    )
    assert SKILL.solve(f"Compute [trace]: {call}") == (
        f"①① = +3\n⓪① = +1\n{work}\n{easy}\nVerification: 3 + 1 = 4"
    )


def test_nested_calls_are_verified_inside_out():
    answer = SKILL.solve(f"{MEDIUM}subtract(add(①①, ⓪①), ⓪①)")
    assert answer == (
        "subtract(add(①①, ⓪①), ⓪①) = ⓪①①\nVerification: 3 + 1 = 4\nVerification: 4 - 1 = 3"
    )


def test_an_overflow_is_called_one():
    answer = SKILL.solve("Compute [trace]: add_signed(⓪①①, ⓪①①, 3)")
    assert "\noverflow\n" in answer
    assert answer.endswith("add_signed(⓪①①, ⓪①①, 3) = ①①⓪\nVerification: 3 + 3 = 6 overflow -2")


def test_the_natural_form_drops_leading_zeros():
    assert SKILL.solve("Compute [natural]: add(①, ①①)") == "add(①, ①①) = ①⓪⓪"
    assert SKILL.solve("Compute [natural]: subtract(①, ①)") == "subtract(①, ①) = ⓪"
    with pytest.raises(BadValue, match="not a problem of bin"):
        SKILL.solve("Compute [natural]: add(⓪①, ①①)")


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "Compute: ",
        "Compute: add(①①)",
        "Compute: add(①①,⓪①)",
        "Compute: add(①①, ⓪①) ",
        "Compute: add(①①, 3)",
        "Compute: subtract(⓪①, ①①)",
        "Compute: divide(①①, ⓪⓪)",
        "Compute: decrement(⓪)",
        "Compute: add_signed(①①①①, ⓪①①, 3)",
        "Compute: add_signed(①①, ⓪①, 99)",
        "Compute: shift(①)",
        "Compute: " + "increment(" * 500 + "①" + ")" * 500,
        "Compute: increment(" + "①" * 1_000_000 + ")",
        "Key: ◆=⓪ ★=①\nCompute: add(◆, ★)",
        "Key: ◆=⓪ ◆=① ♠=add\nCompute: ♠(◆, ◆)",
        "Key: ◆=⓪ ★=① ♠=add\nCompute: ♠(①, ★)",
        "Key: ★=① ♠=add\nCompute: ♠(★, ★)",
        "Fill: add(①①, ?) = ⓪⓪①",
        "Overflow: add(①①, ⓪①) in 0",
    ],
)
def test_what_is_no_prompt_is_refused(prompt):
    with pytest.raises(BadValue):
        SKILL.solve(prompt)


def test_widths_follow_the_level():
    for level in range(1, 31):
        width = 32 if level == 30 else level + 1
        assert SKILL.file.levels[level - 1].width == width
        for index in range(20):
            problem = SKILL.lesson(level, seed=3, index=index, preset="bin_add")
            a, b = re.findall(r"[⓪①]+", problem.prompt)
            assert len(a) == len(b) == width
            assert len(problem.answer.split(" = ")[1]) == width + 1


def test_operations_unlock_in_the_stated_order_and_all_of_them():
    assert SKILL.operations(1) == ("add",)
    at = {name: row.level for row in SKILL.file.levels for name in row.unlock}
    assert set(at) == set(OPERATIONS)
    assert {at[n] for n in OPERATIONS if OPERATIONS[n].signed} == {12}
    assert at["multiply"] == at["divide"] == 11


def test_a_level_draws_its_whole_mix():
    problems = [SKILL.lesson(12, seed=2, index=i) for i in range(3_000)]
    assert {p.operation for p in problems} >= set(OPERATIONS)
    assert {p.form for p in problems} == set(SKILL.forms)
    keyed = sum(p.prompt.startswith("Key: ") for p in problems) / len(problems)
    assert 0.72 < keyed < 0.78
    easy = sum(p.form == "easy" for p in problems) / len(problems)
    assert abs(easy - SKILL.mix(12)["easy"] / 100) < 0.03
    assert not any(SKILL.lesson(7, seed=2, index=i).prompt.startswith("Key") for i in range(300))


def test_chains_are_as_deep_as_form_and_level_say():
    seen = {}
    for level in (5, 10, 20, 30):
        for form, low, high in (("easy", 1, 1), ("medium", 1, 2), ("hard", 2, 3), ("expert", 3, 5)):
            cap = SKILL.file.levels[level - 1].chain
            problems = [p for p in SKILL.exam(level, 100, seed=1) if p.form == form]
            depths = {p.prompt.count("(") for p in problems}
            assert depths <= set(range(min(low, cap), min(high, cap) + 1)), (level, form)
            seen[level, form] = depths
    assert seen[30, "expert"] == {3, 4, 5}


def test_a_preset_is_addition_in_the_easy_form():
    for index in range(200):
        problem = SKILL.lesson(9, seed=4, index=index, preset="bin_add")
        assert re.fullmatch(r"Compute: add\([⓪①]{10}, [⓪①]{10}\)", problem.prompt)


def test_small_pools_are_counted_and_marked():
    assert (SKILL.pool(1).size, SKILL.pool(1).memorisable) == (64, True)
    found = {SKILL.lesson(2, seed=1, index=i).prompt for i in range(12_000)}
    assert SKILL.pool(2).size == (64 + 36) * 4
    assert len(found) > 370 and SKILL.pool(2).memorisable
    assert not SKILL.pool(3).memorisable
    assert SKILL.pool(4, "bin_add").memorisable and not SKILL.pool(5, "bin_add").memorisable


def test_held_out_operands_are_a_tenth_and_keep_their_order_out_of_it():
    share = sum(held_out(a, b) for a in range(300) for b in range(a, 300)) / (300 * 301 / 2)
    assert 0.095 < share < 0.105
    assert all(held_out(a, b) == held_out(b, a) for a in range(40) for b in range(40))
    # Frozen for ever: these would change with the hash.
    assert [a for a in range(64) if held_out(a)] == [1, 26, 45, 47, 48, 53, 60]


def calls_in(problem):
    prompt, _ = plain(problem.prompt, "")
    while match := CALL.search(prompt):
        args = match[2].split(", ")
        name = match[1]
        if name == "tobinary":
            yield (int(args[0]),)
        elif "?" not in args:
            yield tuple(value(a) for a in (args[:-1] if args[-1].isascii() else args))
        result = "⓪" if "?" in args else result_of(match[0])
        prompt = prompt.replace(match[0], result, 1)


@pytest.mark.parametrize("preset", [None, "bin_add"])
def test_lessons_never_hold_a_held_out_pair_and_exams_always_do(preset):
    for level in range(3 if preset is None else 5, 31):
        for index in range(60):
            problem = SKILL.lesson(level, seed=9, index=index, preset=preset)
            if problem.form != "natural":
                assert not any(held_out(*call) for call in calls_in(problem)), problem
        for problem in SKILL.exam(level, 24, seed=9, preset=preset):
            calls = list(calls_in(problem))
            if calls and problem.form != "natural":
                assert held_out(*calls[0]), problem


def test_no_exam_is_ever_a_lesson():
    for level in (3, 5, 6, 8, 12):
        exams = {p.key for seed in range(3) for p in SKILL.exam(level, 96, seed=seed)}
        near = [at for at in range(max(3, level - 4), level + 1)]
        lessons = {
            SKILL.lesson(at, seed=1, index=i).key for at in near for i in range(3_000 // len(near))
        }
        assert not exams & lessons


def test_a_prompt_tells_whether_only_exams_may_hold_it():
    for level in range(1, 31):
        for index in range(40):
            assert not SKILL.examined(SKILL.lesson(level, seed=2, index=index).prompt)
            lesson = SKILL.lesson(level, seed=2, index=index, preset="bin_add")
            assert not SKILL.examined(lesson.prompt)
        for problem in SKILL.exam(level, 24, seed=2):
            assert SKILL.examined(problem.prompt) == (level >= 3), problem
    assert not SKILL.examined("What is the capital of France?")


def test_an_exam_has_every_form_and_repeats_nothing_it_need_not():
    for level in range(3, 31):
        problems = SKILL.exam(level, 96, seed=level)
        count = {form: sum(p.form == form for p in problems) for form in SKILL.mix(level)}
        assert sum(count.values()) == 96 and min(count.values()) >= 8, (level, count)
        assert len({p.key for p in problems}) >= 90
    assert SKILL.exam(4, 96, seed=1) == SKILL.exam(4, 96, seed=1)
    assert SKILL.exam(4, 96, seed=1) != SKILL.exam(4, 96, seed=2)


def test_a_lesson_is_a_function_of_its_arguments():
    first = SKILL.lesson(8, seed=5, index=77)
    assert BinarySkill().lesson(8, seed=5, index=77) == first
    assert SKILL.lesson(8, seed=5, index=78) != first
    assert SKILL.lesson(8, seed=6, index=77) != first
    assert first.key == prompt_key(first.prompt)


def test_every_text_stays_in_the_alphabet_and_short_where_levels_begin():
    alphabet = load_alphabet()
    for problem in some_problems(600, seed=8):
        alphabet.refuse_outside(f"{problem.prompt}\n{problem.answer}", "a lesson")
    for level, longest in ((1, 75), (2, 85)):
        for index in range(200):
            problem = SKILL.lesson(level, seed=8, index=index)
            if problem.form in ("easy", "medium"):
                assert len(problem.prompt) + len(problem.answer) <= longest


def test_a_level_or_preset_that_is_not_there_is_refused():
    for level in (0, 31, -1):
        with pytest.raises(BadValue, match="no such level of bin"):
            SKILL.lesson(level, seed=0, index=0)
    with pytest.raises(ValueError, match="bin_add"):
        SKILL.lesson(1, seed=0, index=0, preset="bin_ad")
    with pytest.raises(BadValue, match="an exam needs problems"):
        SKILL.exam(1, 0)


def test_every_problem_names_primitives_it_uses():
    for problem in some_problems(2_000, seed=21):
        assert problem.primitives
    carry = SKILL.lesson(1, seed=0, index=0, preset="bin_add")
    a, b = (value(x) for x in re.findall(r"[⓪①]+", carry.prompt))
    assert carry.primitives == (("add_with_carry",) if a & b else ("add_no_carry",))


def test_drawing_takes_a_bounded_time():
    begin = time.process_time()
    for level in range(1, 31):
        for index in range(20):
            SKILL.lesson(level, seed=31, index=index)
    assert time.process_time() - begin < 20
