"""`levelcap text train`, `eval` and `chat`: the text hero without a realm."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from levelcap.cli.options import AsJson, Files, From, Int, Overrides
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.cli.progress import Report
from levelcap.guild.engine import get_engine
from levelcap.guild.passives import PASSIVES, exam
from levelcap.kit.errors import BadValue, refuse
from levelcap.kit.ids import run_name
from levelcap.kit.paths import folder
from levelcap.learn.engine.overrides import apply
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.text.config import TextConfig
from levelcap.learn.text.exams import hold_exam, judge
from levelcap.learn.text.lessons import SCHOOL
from levelcap.learn.text.run import Request, Taught, train_text
from levelcap.play.answers import SamplingParams, load_text_hero
from levelcap.vault.ask import find_folder

FULL_PASSIVE = 30


def train(
    *,
    skill: str = "bin",
    preset: str | None = None,
    minutes: float | None = None,
    updates: Int | None = None,
    out: Path | None = None,
    from_: From = None,
    level: Int = 1,
    lessons: Files = None,
    size: str = "tiny",
    seed: Int = 0,
    set_: Overrides = None,
    json_: AsJson = False,
) -> None:
    """Teach a text hero a skill, level by level.

    Parameters
    ----------
    skill
        A skill of the guild, or school: primitives and passives.
    preset
        A part of the skill, e.g. bin_add.
    minutes
        Training time, exams included; 1 if neither minutes nor updates are given.
    updates
        Or: number of updates.
    out
        The run's folder; the same command again continues it.
    from_
        The checkpoint to start from: an id, champion, latest or a folder (default: random weights).
    level
        The level to start at.
    lessons
        Lesson files (JSONL with prompt and answer) to train on besides.
    size
        dummy or tiny; only without --from.
    seed
        Of the weights, the lessons and the exams.
    set_
        Any knob, e.g. --set batch=48 --set engine.optimizer=adamw --set school=0.
    json_
        Print one JSON object as the last line.
    """
    console = Console(highlight=False)
    if minutes is None and updates is None:
        minutes = 1.0
    place = out or folder("runs") / run_name("text")
    start = None if from_ is None else find_folder(from_, reads=True)
    request = Request(skill, place, preset, size, seed, start, level, tuple(lessons or ()))
    config = apply(TextConfig(), set_ or [])
    with Report(console, "text", minutes) as report:
        stops = Stops(updates=updates, minutes=minutes)
        done = train_text(request, config, stops, Hooks(on_report=report))
    if skill != SCHOOL:
        print_table(_level_table(done))
    say(f"snapshot: {done.outcome.snapshot}")
    if json_:
        say_json(_numbers(done))


def _level_table(done: Taught) -> Table:
    title = f"Level {done.level} after {done.outcome.seconds:.0f} s, exams included"
    columns = ("level", "update", "seconds", "core-seconds", "of them exams (s)", "mastered")
    rows = []
    for row in done.level_ups:
        times = [f"{row[name]:.1f}" for name in ("seconds", "core_seconds", "exam_seconds")]
        rows.append((row["level"], row["update"], *times, "yes" if row["mastered"] else "no"))
    return table(columns, rows, title, right=columns)


def _numbers(done: Taught) -> dict[str, Any]:
    outcome = done.outcome
    return {
        "snapshot": str(outcome.snapshot),
        "reason": outcome.reason,
        "level": done.level,
        "updates": outcome.progress.update,
        "tokens": outcome.progress.steps,
        "seconds": round(outcome.seconds, 2),
        "core_seconds": round(outcome.core_seconds, 2),
        "exam_seconds": round(outcome.metrics.get("exam_seconds", 0.0), 2),
        "tokens_per_s": round(outcome.progress.steps / max(outcome.seconds, 1e-9), 1),
        "level_ups": done.level_ups,
    }


def evaluate(
    snapshot: str,
    *,
    skill: str = "bin",
    level: Int = 1,
    preset: str | None = None,
    count: Int = 200,
    seed: Int = 0,
    json_: AsJson = False,
) -> None:
    """Examine a hero on problems it was never taught.

    Parameters
    ----------
    snapshot
        An id, champion, best, latest, a text hero's id (dio-tiny) or a folder.
    skill
        A skill of the guild, or school: all passives.
    level
        The level of the problems.
    preset
        A part of the skill, e.g. bin_add.
    count
        Problems; school: 30 of each passive.
    seed
        Of the problems.
    json_
        Print one JSON object as the last line.
    """
    hero, guild = load_text_hero(find_folder(snapshot, reads=True)), get_engine()
    if skill == SCHOOL:
        rows = {n: _passive(guild, hero, n, seed) for n in PASSIVES}
        title = f"Passives, {FULL_PASSIVE} problems each"
        document: dict[str, Any] = {"passives": rows}
    else:
        score = hold_exam(guild, hero, skill, level, count, seed, preset)
        rows = {**score.by_form, **score.by_operation, "all": _share(score.accuracy, score.count)}
        title = f"{skill} level {level}{f' ({preset})' if preset else ''}, {count} fresh problems"
        document = {"skill": skill, "level": level, "preset": preset, **asdict(score)}
    shown = [(name, right, of, f"{right / max(of, 1):.3f}") for name, (right, of) in rows.items()]
    print_table(table(("", "right", "of", "share"), shown, title, right=True))
    if json_:
        say_json(document)


def _share(accuracy: float, count: int) -> tuple[int, int]:
    return round(accuracy * count), count


def _passive(guild: Any, hero: Any, name: str, seed: int) -> tuple[int, int]:
    score = judge(guild, hero, exam(name, FULL_PASSIVE, seed))
    return _share(score.accuracy, score.count)


def chat(
    snapshot: str,
    prompt: str | None = None,
    *,
    longest: Int = 256,
    temperature: float = 0.0,
    top_k: Int = 0,
    seed: Int = 0,
) -> None:
    """Ask a hero; without a prompt, every line of the input is one.

    Parameters
    ----------
    snapshot
        An id, champion, best, latest, a text hero's id (dio-tiny) or a folder.
    prompt
        What to ask.
    longest
        Most characters of an answer.
    temperature
        0: the likeliest answer; above: sampled.
    top_k
        Sample among so many; 0: all.
    seed
        Of the sampling.
    """
    console = Console(highlight=False, markup=False, soft_wrap=True)
    if longest < 1:
        raise BadValue(refuse("an answer has at least one character", longest, "Raise --longest"))
    hero, taste = (
        load_text_hero(find_folder(snapshot, reads=True)),
        SamplingParams(temperature, top_k, seed),
    )
    lines = [prompt] if prompt is not None else (line.rstrip("\n") for line in sys.stdin)
    for line in lines:
        if line:
            console.print(hero.answers([line], longest, taste)[0])
