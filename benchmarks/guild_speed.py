"""How fast the guild makes and judges problems.

    python benchmarks/guild_speed.py [--quick]

*Lessons* and *exams* are problems a second of one process, drawn at a low, a middle and a high
level of each skill, and over all of the school; *judged* counts answers a second, half of them
right, each recomputed from its prompt. The slowest single problem stands beside them: a generator
that hangs would show there. *hostile* is the longest time one hostile answer took, the best of
three tries each, with the right answer recomputed every time. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from levelcap.guild import passives
from levelcap.guild.engine import Guild, get_engine
from levelcap.guild.school import school_lesson
from levelcap.guild.skill import Problem

LEVELS = {"bin": (1, 5, 12, 30), "sy": (1, 10, 20)}


def timed(make: Callable[[int], Problem], count: int) -> tuple[list[Problem], float, float]:
    """Problems, problems a second, and the longest one in milliseconds."""
    problems, slowest = [], 0.0
    begin = time.perf_counter()
    for index in range(count):
        start = time.perf_counter()
        problems.append(make(index))
        slowest = max(slowest, time.perf_counter() - start)
    return problems, count / (time.perf_counter() - begin), 1e3 * slowest


def judged(engine: Guild, problems: list[Problem]) -> float:
    """Answers judged a second; every other one is wrong in its last character."""
    answers = [p.answer if i % 2 else p.answer[:-1] + "?" for i, p in enumerate(problems)]
    begin = time.perf_counter()
    score = engine.score_eval(problems, answers)
    seconds = time.perf_counter() - begin
    assert abs(score.accuracy - 0.5) < 0.51 / len(problems) + 1e-9
    return len(problems) / seconds


def hostile_ms(engine: Guild, problems: list[Problem]) -> float:
    """Processor time of the slowest hostile answer."""
    worst = 0.0
    for problem in problems:
        right = engine.solve(problem)
        long = [right * (1_000_000 // len(right)), "①" * 1_000_000, "\n" * 1_000_000]
        for answer in [*long, right + " ", f"The answer: {right}", math.nan, None]:
            tries = []
            for _ in range(3):
                start = time.process_time()
                assert not engine.grade(problem, answer).right
                tries.append(time.process_time() - start)
            worst = max(worst, min(tries))
    return 1e3 * worst


def exam_rate(engine: Guild, name: str, level: int, batches: int) -> float:
    """Exam problems a second, in batches of 96."""
    begin = time.perf_counter()
    for seed in range(batches):
        engine.generate_eval_batch(name, level=level, count=96, seed=seed)
    return 96 * batches / (time.perf_counter() - begin)


def main() -> None:
    """Prints the table and the JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the problems")
    count = 500 if parser.parse_args().quick else 5_000
    engine, result = get_engine(), {}
    table = Table("what", "lessons/s", "exams/s", "judged/s", "slowest ms")
    for name, levels in LEVELS.items():
        engine.generate_eval_batch(name, level=1, count=2)  # reads tables once, outside the clock
        for level in levels:
            some = count if name == "bin" else count // 5
            make = _lesson(engine, name, level)
            problems, rate, slowest = timed(make, some)
            exams, marks = exam_rate(engine, name, level, 2), judged(engine, problems)
            row = {"lessons_s": rate, "exams_s": exams, "judged_s": marks, "slowest_ms": slowest}
            result |= {f"{name}_l{level}_{key}": round(value, 2) for key, value in row.items()}
            table.add_row(f"{name} L{level}", *(f"{value:,.1f}" for value in row.values()))
    problems, rate, slowest = timed(lambda index: school_lesson(1, index), count)
    begin = time.perf_counter()
    exams = [p for name in passives.PASSIVES for p in passives.exam(name, passives.FULL, seed=1)]
    exam_s = len(exams) / (time.perf_counter() - begin)
    marks = judged(engine, problems)
    table.add_row("school", f"{rate:,.1f}", f"{exam_s:,.1f}", f"{marks:,.1f}", f"{slowest:,.1f}")
    result |= {"school_lessons_s": round(rate, 2), "school_judged_s": round(marks, 2)}
    hard = [p for name in LEVELS for p in engine.generate_eval_batch(name, LEVELS[name][-1], 8)]
    result["hostile_ms"] = round(hostile_ms(engine, hard), 4)
    Console().print(table)
    print(f"slowest hostile answer {result['hostile_ms']} ms")
    print(json.dumps(result))


def _lesson(engine: Guild, name: str, level: int) -> Callable[[int], Problem]:
    skill = engine.get(name)
    return lambda index: skill.lesson(level, seed=1, index=index)


if __name__ == "__main__":
    main()
