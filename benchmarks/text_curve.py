"""Which level does the text hero reach in so many minutes? From random weights, exams inside.

    python benchmarks/text_curve.py [--quick] [--minutes 20] [--seeds 3] [--skills bin bin_add]

Runs `levelcap text train` once per skill, optimizer and seed, each in a process of its own. The
clock of a run goes from its first update to the level-up, exams included; the seconds before (start
of the process, loading) and the seconds inside exams are printed apart. "Level n" means that
levels 1 … n - 1 are passed. Core-seconds stand beside seconds: on a shared machine they are what
can be compared. Writes a picture; the last line is one JSON object (medians over seeds, Muon).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from levelcap.play.plot import plot_curves

LEVELCAP = str(Path(sys.executable).with_name("levelcap"))
MARKS = (1, 5, 20)
# name: skill, preset, the bars of the rulings (level at 1, 5, 20 minutes)
COURSES: dict[str, tuple[str, str | None, tuple[int, ...]]] = {
    "bin": ("bin", None, (2, 4, 6)),
    "bin_add": ("bin", "bin_add", (3, 6, 8)),
    "sy": ("sy", None, ()),
}


def run_one(
    options: argparse.Namespace, course: str, optimizer: str, seed: int, home: Path
) -> dict[str, Any]:
    """One hero; returns the command's JSON and the seconds around its clock."""
    skill, preset, _ = COURSES[course]
    minutes = options.sy_minutes if course == "sy" else options.minutes
    command = [
        LEVELCAP, "text", "train", "--skill", skill, "--minutes", str(minutes), "--seed", str(seed),
        "--out", str(home / f"{course}-{optimizer}-{seed}"), "--json",
        "--set", f"engine.optimizer={optimizer}", "--set", f"school={options.school}",
    ]  # fmt: skip
    command += ["--preset", preset] if preset else []
    command += ["--from", str(options.start)] if options.start else []
    for knob in options.set:
        command += ["--set", knob]
    print("$", *command, flush=True)
    began = time.monotonic()
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    found["outside_s"] = time.monotonic() - began - found["seconds"]
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
    return found


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


def partial_score(snapshot: str, level: int) -> float:
    """Share of lines right at their place, over 96 problems answered in full."""
    from levelcap.guild.engine import get_engine
    from levelcap.play.answers import load_text_hero

    hero, guild = load_text_hero(Path(snapshot)), get_engine()
    problems = guild.generate_eval_batch("sy", level=level, count=96, seed=1)
    answers = hero.answers([p.prompt for p in problems], 300)
    return float(guild.score_eval(problems, answers).partial)


def main() -> None:
    """Run all courses and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--sy-minutes", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--skills", nargs="+", default=["bin", "bin_add", "sy"], choices=COURSES)
    parser.add_argument("--optimizers", nargs="+", default=["muon", "adamw"])
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
    with tempfile.TemporaryDirectory(dir=options.out) as home:
        for course in options.skills:
            for optimizer in options.optimizers:
                results = []
                for seed in range(options.seeds):
                    found = run_one(options, course, optimizer, seed, Path(home))
                    results.append(found)
                    series.append(curve(f"{course} {optimizer} {seed}", found))
                minutes = options.sy_minutes if course == "sy" else options.minutes
                document["rows"][f"{course}_{optimizer}"] = results
                if optimizer != options.optimizers[0]:
                    continue
                document.update(summary(course, results, minutes))
                if course == "sy":
                    document["sy_level_60min"] = statistics.median(r["level"] for r in results)
                    document["sy_partial_60min"] = statistics.median(
                        partial_score(r["snapshot"], r["level"]) for r in results
                    )
    picture = options.out / "text_curve.png"
    plot_curves(
        picture, series, title="Text hero: level over time, from random weights",
        x_label="minutes, exams included", y_label="level",
    )  # fmt: skip
    print(f"\npicture: {picture}")
    for course in options.skills:
        for mark, bar in zip(MARKS, COURSES[course][2], strict=False):
            if (key := f"{course}_level_{mark}min") in document:
                print(f"{key:24} {document[key]:4g}   bar {bar}")
    print(json.dumps(document))


if __name__ == "__main__":
    main()
