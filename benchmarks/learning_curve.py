"""How strong does a hero get in so many minutes? The user's own command, seed by seed.

    python benchmarks/learning_curve.py --ruleset duel --minutes 5 --seeds 3 [--quick]
    python benchmarks/learning_curve.py --teacher rookie --minutes 30 --seeds 1
    python benchmarks/learning_curve.py --family hierarchy --minutes 15

Runs `levelcap first-hero` once per seed in a process of its own: from the command to the last
checkpoint, recording and imitation inside, on a warm kernel cache (the cold start is measured
beside it). Judged afterwards: EMA weights, sampled actions, 1,000 games each, sealed cousins first.
Writes a picture of all seeds; the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from levelcap.play.show.plot import plot_curves

LEVELCAP = str(Path(sys.executable).with_name("levelcap"))


def run_seed(options: argparse.Namespace, seed: int, home: Path) -> dict[str, Any]:
    """One hero; its output goes to the terminal as it comes."""
    command = [
        LEVELCAP,
        "first-hero",
        "--ruleset",
        options.ruleset,
        "--minutes",
        str(options.minutes),
        "--seed",
        str(seed),
        "--games",
        str(options.games),
        "--size",
        options.size,
        "--family",
        options.family,
        "--out",
        str(home / f"seed-{seed}"),
        "--json",
    ]
    if options.teacher:
        command += ["--teacher", options.teacher]
    for knob in options.set:
        command += ["--set", knob]
    print("$", *command, flush=True)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    last = ""
    for line in process.stdout:
        if not line.startswith("{"):
            print(line, end="", flush=True)
        last = line
    if process.wait() != 0:
        raise SystemExit(f"seed {seed} failed")
    found: dict[str, Any] = json.loads(last)
    return found


def cold_start_s(ruleset: str) -> float:
    """Extra seconds of the first command on a machine that has compiled nothing yet."""
    command = [LEVELCAP, "play", "rookie", "veteran", "--world", ruleset, "--games", "2"]
    times = []
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(2):
            began = time.monotonic()
            environment = {**os.environ, "LEVELCAP_KERNEL_CACHE": cache}
            subprocess.run(command, check=True, capture_output=True, env=environment)
            times.append(time.monotonic() - began)
    return times[0] - times[1]


def row(result: dict[str, Any]) -> dict[str, float]:
    """The numbers of one seed that are compared."""
    verdict = result["verdicts"]["pi_rl"]
    found = {f"win_rate_{bot}": entry["win_rate"] for bot, entry in verdict["trained"].items()}
    sealed = {f"sealed_{base}": entry["win_rate"] for base, entry in verdict["sealed"].items()}
    alone = {f"one_among_{b}": entry["win_rate"] for b, entry in verdict["one_among"].items()}
    panel = statistics.mean(sealed.values())
    school = result["verdicts"]["pi_sup"]
    return {
        **found,
        **sealed,
        **alone,
        "win_rate_panel": panel,
        "elo": verdict["elo"]["elo"],
        "elo_low": verdict["elo"]["low"],
        "elo_high": verdict["elo"]["high"],
        "elo_sup": school["elo"]["elo"],
        **{f"sup_{bot}": entry["win_rate"] for bot, entry in school["trained"].items()},
        "rl_gain": result["rl_gain_elo"][0],
        "rl_gain_low": result["rl_gain_elo"][1],
        "rl_gain_high": result["rl_gain_elo"][2],
        "seconds": result["seconds"],
        "core_seconds": result["core_seconds"],
        "steps_per_s": result["steps_per_s"],
        "core_seconds_per_elo": result["core_seconds_per_elo"],
    }


def table(rows: dict[int, dict[str, float]]) -> None:
    """All seeds side by side, then the median and the worst."""
    names = list(next(iter(rows.values())))
    print(
        f"\n{'':24}"
        + "".join(f"{f'seed {seed}':>12}" for seed in rows)
        + f"{'median':>12}{'worst':>12}"
    )
    for name in names:
        values = [found[name] for found in rows.values()]
        shown = "".join(f"{value:12.3f}" for value in values)
        print(f"{name:24}{shown}{statistics.median(values):12.3f}{min(values):12.3f}")


def main() -> None:
    """Run all seeds and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ruleset", default="duel")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--size", default="slim")
    parser.add_argument("--family", default="flat", help="flat or hierarchy")
    parser.add_argument("--teacher", default="")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--out", type=Path, default=Path("out/learning_curve"))
    parser.add_argument("--quick", action="store_true", help="one seed, one minute, 100 games")
    options = parser.parse_args()
    if options.quick:
        options.minutes, options.seeds, options.games = 1.0, 1, 100
    options.out.mkdir(parents=True, exist_ok=True)
    cold_s = cold_start_s(options.ruleset)
    rows, series, references = {}, [], {}
    with tempfile.TemporaryDirectory(dir=options.out) as home:
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            result = run_seed(options, seed, Path(home))
            rows[seed] = row(result)
            points = result["curve"]
            columns = {key: [point[key] for point in points] for key in points[0]}
            minutes = [second / 60 for second in columns["seconds"]]
            series.append(
                (f"seed {seed}", minutes, columns["elo"], columns["low"], columns["high"])
            )
            players = result["verdicts"]["pi_rl"]["ratings"]["players"]
            references = {b: players[b]["elo"] for b in ("rookie", "veteran", "master")}
    label = f"{options.ruleset}-{options.teacher or 'master'}-{options.minutes:g}min"
    label += "" if options.family == "flat" else f"-{options.family}"
    picture = options.out / f"{label}.png"
    plot_curves(
        picture,
        series,
        title=f"{options.ruleset}: Elo over time",
        lines=references,
        x_label="minutes from the command",
        y_label="Elo (rookie = 1000)",
    )
    table(rows)
    print(f"cold start adds {cold_s:.0f} s once; picture: {picture}")
    median = {n: statistics.median(r[n] for r in rows.values()) for n in next(iter(rows.values()))}
    worst = {n: min(r[n] for r in rows.values()) for n in median}
    document = {
        "ruleset": options.ruleset,
        "minutes": options.minutes,
        "seeds": len(rows),
        "teacher": options.teacher or "master",
        "family": options.family,
        "win_rate_veteran": median["win_rate_veteran"],
        "win_rate_master": median["win_rate_master"],
        "win_rate_panel": median["win_rate_panel"],
        "elo": median["elo"],
        "elo_ci": [median["elo_low"], median["elo_high"]],
        "cold_start_s": round(cold_s, 1),
        "median": median,
        "worst": worst,
        "rows": rows,
    }
    (options.out / f"{label}.json").write_text(json.dumps(document, indent=1))
    print(json.dumps(document))


if __name__ == "__main__":
    main()
