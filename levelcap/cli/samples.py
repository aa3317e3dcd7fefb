"""`levelcap text samples`: what a text hero answers, one by one, beside what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console

from levelcap.cli.options import AsJson, Int
from levelcap.cli.printer import say, say_json, table
from levelcap.cli.runs import find_run
from levelcap.guild.engine import get_engine
from levelcap.kit.errors import BadFile, UnknownName, refuse
from levelcap.kit.files import read_json, read_jsonl, write_json
from levelcap.learn.engine.folder import CONFIG, EVENTS
from levelcap.play.answers import SamplingParams, load_text_hero
from levelcap.vault.ask import find_folder

COLUMNS = ("score", "form", "operation", "prompt", "answer", "expected")
FILE = "samples.json"  # in the run's folder: its report shows them


def samples(
    what: str,
    /,
    *,
    skill: str | None = None,
    level: Int | None = None,
    preset: str | None = None,
    count: Annotated[Int, Parameter(validator=Number(gte=1, lte=1000))] = 20,
    seed: Int = 0,
    temperature: float = 0.0,
    json_: AsJson = False,
) -> None:
    """Show answers of a text hero with prompt, expected answer and the judge's score.

    Those of a run's checkpoint are kept in the run's folder, where `levelcap report --run` shows
    them.

    Parameters
    ----------
    what
        A checkpoint (an id, champion, latest, dio-tiny, a folder), or a run: its newest one.
    skill
        A skill of the guild (default: what the run teaches, bin after school).
    level
        Of the problems (default: the level the run has reached).
    preset
        A part of the skill, e.g. bin_add.
    count
        How many problems.
    seed
        Of the problems, and of the answers if they are sampled.
    temperature
        0: the likeliest answer; above: sampled.
    json_
        Print one JSON object as the last line.
    """
    place = _snapshot(what)
    run = place.parent.parent if place.parent.name == "snapshots" else None
    asked = {} if run is None or not (run / CONFIG).is_file() else read_json(run / CONFIG)
    guild = get_engine()
    if skill is None:
        skill = asked.get("skill", "bin")
        skill = skill if skill in guild.skills else "bin"
        preset = preset or asked.get("preset")
    level = level or (1 if run is None else _level(run, asked))
    problems = guild.generate_eval_batch(skill, level, count, seed, preset)
    hero = load_text_hero(place)
    longest = max(len(problem.answer) for problem in problems) + 16
    taste = SamplingParams(temperature, seed=seed)
    answers = hero.answers([problem.prompt for problem in problems], longest, taste)
    found: list[dict[str, Any]] = []
    for problem, answer in zip(problems, answers, strict=True):
        grade = guild.grade(problem, answer)
        told: dict[str, Any] = {"prompt": problem.prompt, "answer": answer}
        told |= {"expected": guild.solve(problem), "right": grade.right, "score": grade.partial}
        told |= {name: getattr(problem, name) for name in ("form", "operation", "primitives")}
        found.append(told)
    title = f"{skill} level {level}, {count} problems of seed {seed}, answered by {place.name}"
    cells = [[str(one[name]).replace("\n", " ⏎ ") for name in COLUMNS] for one in found]
    Console(highlight=False).print(table(COLUMNS, cells, title, ("score",)))
    say(f"{sum(one['right'] for one in found)} of {len(found)} right")
    kept = {"title": title, "samples": found}
    if asked and run is not None:
        write_json(run / FILE, kept)
    if json_:
        say_json(kept)


def _snapshot(what: str) -> Path:
    """The folder of a checkpoint, or of the newest one of a run."""
    try:
        place = find_folder(what, reads=True)
    except UnknownName as error:
        try:
            place = find_run(what)
        except UnknownName:
            raise error from None  # it lists the checkpoints
    if not (place / CONFIG).is_file():
        return place
    kept = sorted((place / "snapshots").glob("step-*"))
    if not kept:
        remedy = "Wait for its first snapshot, or name a checkpoint"
        raise BadFile(refuse("this run has no snapshot yet", place.name, remedy))
    return kept[-1]


def _level(run: Path, asked: dict[str, Any]) -> int:
    told = read_jsonl(run / EVENTS).records if (run / EVENTS).exists() else []
    levels = [row["level"] for row in told if isinstance(row.get("level"), int)]
    return int(levels[-1] if levels else asked.get("level", 1))
