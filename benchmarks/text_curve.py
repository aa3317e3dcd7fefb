"""Which level does the text hero reach in so many minutes? From random weights, exams inside.

    python benchmarks/text_curve.py [--quick] [--minutes 20] [--seeds 3] [--skills bin bin_add]
                                    [--at-once 2]

Runs `levelcap text train` once per skill, optimizer and seed, each in a process of its own. The
clock of a run goes from its first update to the level-up, exams included; the seconds before (start
of the process, loading) and the seconds inside exams are printed apart. "Level n" means that
levels 1 … n - 1 are passed. Core-seconds stand beside seconds: on a shared machine they are what
can be compared. `--at-once 2` runs two heroes side by side, each on one core: the machine is full,
no hero has more than half of it. `--resume` takes over heroes of the last call that ended. For SY
the snapshots of a run are asked 96 problems each, answered in full: the curve of right answers and
of partial credit. Writes pictures; the last line is one JSON object (medians over seeds, of the
first optimizer).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from levelcap.kit.files import read_json, write_json
from levelcap.play.show.plot import plot_curves

LEVELCAP = str(Path(sys.executable).with_name("levelcap"))
MARKS = (1, 5, 20)
LONGEST_ANSWER = 300
# name: skill, preset, the bars of the rulings (level at 1, 5, 20 minutes)
COURSES: dict[str, tuple[str, str | None, tuple[int, ...]]] = {
    "bin": ("bin", None, (2, 4, 6)),
    "bin_add": ("bin", "bin_add", (3, 6, 8)),
    "sy": ("sy", None, ()),
}


def run_one(options: argparse.Namespace, course: str, optimizer: str, seed: int) -> dict[str, Any]:
    """One hero; returns the command's JSON and the seconds around its clock."""
    name = f"{course}-{optimizer}-{seed}"
    kept = options.out / f"{name}.json"
    if options.resume and kept.exists():
        found = read_json(kept)
        tell(course, optimizer, seed, found)
        return found
    if (options.out / name).exists():
        shutil.rmtree(options.out / name)
    skill, preset, _ = COURSES[course]
    minutes = options.sy_minutes if course == "sy" else options.minutes
    command = [
        LEVELCAP,
        "text",
        "train",
        "--skill",
        skill,
        "--minutes",
        str(minutes),
        "--seed",
        str(seed),
        "--out",
        str(options.out / name),
        "--json",
        "--set",
        f"engine.optimizer={optimizer}",
        "--set",
        f"school={options.school}",
    ]
    command += ["--preset", preset] if preset else []
    command += ["--from", str(options.start)] if options.start else []
    for knob in options.set:
        command += ["--set", knob]
    print("$", *command, flush=True)
    cores = {} if options.at_once == 1 else {"LEVELCAP_CORES": "1"}
    began = time.monotonic()
    run = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **cores}
    )
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    found["outside_s"] = time.monotonic() - began - found["seconds"]
    if course == "sy":
        found["marks"] = marks(Path(found["snapshot"]).parent)
    write_json(kept, found)
    tell(course, optimizer, seed, found)
    return found


def tell(course: str, optimizer: str, seed: int, found: dict[str, Any]) -> None:
    """One hero's line."""
    ups = ", ".join(
        f"L{u['level']} {u['seconds']:.0f} s ({u['core_seconds']:.0f} core-s)"
        for u in found["level_ups"]
    )
    print(
        f"  {course} {optimizer} seed {seed}: level {found['level']} [{ups}] "
        f"{found['tokens_per_s']:.0f} tokens/s, {found['updates']} updates, exams "
        f"{found['exam_seconds']:.0f} s, {found['core_seconds']:.0f} core-s in "
        f"{found['seconds']:.0f} s, {found['outside_s']:.0f} s before and after",
        flush=True,
    )


def level_at(found: dict[str, Any], seconds: float, clock: str) -> int:
    """The level at this time of the clock `seconds` or `core_seconds`."""
    return max([1, *(u["level"] for u in found["level_ups"] if u[clock] <= seconds)])


def summary(course: str, results: list[dict[str, Any]], minutes: float) -> dict[str, Any]:
    """Median levels at the marks that were reached, by the clock and by core-minutes."""
    found: dict[str, Any] = {}
    for mark in MARKS:
        if mark <= minutes + 1e-9:
            for clock, suffix in (("seconds", "min"), ("core_seconds", "core_min")):
                levels = [level_at(r, 60 * mark, clock) for r in results]
                found[f"{course}_level_{mark}{suffix}"] = statistics.median(levels)
    return found


def curve(name: str, found: dict[str, Any]) -> tuple[str, list[float], list[float], None, None]:
    """Level over minutes as steps."""
    x, y = [0.0], [1.0]
    for up in found["level_ups"]:
        x += [up["seconds"] / 60, up["seconds"] / 60]
        y += [y[-1], float(up["level"])]
    return name, [*x, found["seconds"] / 60], [*y, y[-1]], None, None


def marks(snapshots: Path) -> list[dict[str, float]]:
    """Per snapshot: minutes, and of 96 SY problems of level 1 the share right and partly right."""
    from levelcap.guild.engine import get_engine
    from levelcap.nets.checkpoint import read_meta
    from levelcap.play.answers import load_text_hero

    guild, found = get_engine(), []
    problems = guild.generate_eval_batch("sy", level=1, count=96, seed=1)
    for folder in sorted(snapshots.glob("step-*")):
        answers = load_text_hero(folder).answers([p.prompt for p in problems], LONGEST_ANSWER)
        score = guild.score_eval(problems, answers)
        minutes = read_meta(folder).metrics["seconds"] / 60
        found.append({"minutes": minutes, "right": score.accuracy, "partial": score.partial})
    return found


def draw_marks(path: Path, results: list[dict[str, Any]]) -> None:
    """SY: share right and partial credit over minutes."""
    series = []
    for seed, found in enumerate(results):
        minutes = [row["minutes"] for row in found["marks"]]
        for kind in ("right", "partial"):
            values = [row[kind] for row in found["marks"]]
            series.append((f"{kind}, seed {seed}", minutes, values, None, None))
    plot_curves(
        path,
        series,
        title="SY level 1: 96 problems answered in full",
        x_label="minutes",
        y_label="share",
    )


def main() -> None:
    """Run all courses and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--sy-minutes", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--skills", nargs="+", default=["bin", "bin_add", "sy"], choices=COURSES)
    parser.add_argument("--optimizers", nargs="+", default=["muon", "adamw"])
    parser.add_argument("--at-once", type=int, default=1, help="heroes side by side, a core each")
    parser.add_argument("--resume", action="store_true", help="keep heroes that ended")
    parser.add_argument("--school", type=float, default=0.0, help="share of school problems")
    parser.add_argument("--start", type=Path, help="a schooled snapshot to start from")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--out", type=Path, default=Path("out/text_curve"))
    parser.add_argument("--quick", action="store_true", help="Muon, one seed, one minute, no SY")
    options = parser.parse_args()
    if options.quick:
        options.minutes, options.seeds, options.optimizers = 1.0, 1, ["muon"]
        options.skills = [s for s in options.skills if s != "sy"]
    options.out.mkdir(parents=True, exist_ok=True)
    document: dict[str, Any] = {"minutes": options.minutes, "seeds": options.seeds, "rows": {}}
    series = []
    wanted = [
        (course, optimizer, seed)
        for course in options.skills
        for optimizer in options.optimizers
        for seed in range(options.seeds)
    ]
    with ThreadPoolExecutor(options.at_once) as pool:
        heroes = list(pool.map(lambda one: run_one(options, *one), wanted))
    for (course, optimizer, seed), found in zip(wanted, heroes, strict=True):
        document["rows"].setdefault(f"{course}_{optimizer}", []).append(found)
        series.append(curve(f"{course} {optimizer} {seed}", found))
    for course in options.skills:
        results = document["rows"][f"{course}_{options.optimizers[0]}"]
        minutes = options.sy_minutes if course == "sy" else options.minutes
        document.update(summary(course, results, minutes))
        if course == "sy":
            document["sy_level_60min"] = statistics.median(r["level"] for r in results)
            document["sy_partial_60min"] = statistics.median(
                r["marks"][-1]["partial"] for r in results
            )
            draw_marks(options.out / "text_curve_sy.png", results)
    picture = options.out / "text_curve.png"
    plot_curves(
        picture,
        series,
        title="Text hero: level over time, from random weights",
        x_label="minutes, exams included",
        y_label="level",
    )
    print(f"\npicture: {picture}")
    for course in options.skills:
        for mark, bar in zip(MARKS, COURSES[course][2], strict=False):
            if (key := f"{course}_level_{mark}min") in document:
                print(f"{key:24} {document[key]:4g}   bar {bar}")
    print(json.dumps(document))


if __name__ == "__main__":
    main()
