"""What does school give a text hero, and what is left of it after BIN? With and without a share.

    python benchmarks/text_school.py [--minutes 8] [--bin-minutes 5] [--seeds 1] [--quick]

A hero of random weights goes to school (primitives and passives). Then three heroes start from it
side by side: BIN with no school problems and with a tenth of them, and from random weights BIN
alone, which tells what BIN itself teaches. After each of them all 11 passives are asked, 60
held-out problems each, the same for everyone. "above chance" means 10 points above what a guesser
gets. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from levelcap.guild.passives import PASSIVES, drift, exam
from levelcap.play.answers import load_text_hero

LEVELCAP = str(Path(sys.executable).with_name("levelcap"))
ASKED = 60
ABOVE = 0.10
# name: school's share of the lessons, from the schooled hero?
AFTER = {"BIN, no school": (0.0, True), "BIN, 10 % school": (0.1, True), "BIN alone": (0.0, False)}


def train(place: Path, skill: str, minutes: float, seed: int, *more: str, cores: int) -> Path:
    """One run; returns its last snapshot."""
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
        str(place),
        "--json",
        *more,
    ]
    print("$", *command, flush=True)
    env = {**os.environ, **({"LEVELCAP_CORES": "1"} if cores == 1 else {})}
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=env)
    found = json.loads(run.stdout.splitlines()[-1])
    if skill != "school":
        print(f"  {place.name}: level {found['level']}, {found['updates']} updates", flush=True)
    return Path(found["snapshot"])


def ask(snapshot: Path) -> dict[str, float]:
    """Passive -> share of 60 held-out problems answered exactly."""
    hero, found = load_text_hero(snapshot), {}
    for name in PASSIVES:
        problems = exam(name, ASKED, seed=77)
        right = hero.exact([p.prompt for p in problems], [p.answer for p in problems])
        found[name] = float(sum(right)) / len(problems)
    return found


def run_seed(options: argparse.Namespace, seed: int) -> dict[str, dict[str, float]]:
    """School, then the three, two at a time."""
    home = options.out / f"seed-{seed}"
    shutil.rmtree(home, ignore_errors=True)
    schooled = train(home / "school", "school", options.minutes, seed, cores=options.cores)
    found = {"school": ask(schooled)}

    def go_on(name: str) -> Path:
        share, follows = AFTER[name]
        more = ["--set", f"school={share}", *(["--from", str(schooled)] if follows else [])]
        place = home / name.replace(" ", "-").replace(",", "").replace("%", "percent")
        return train(place, "bin", options.bin_minutes, seed, *more, cores=1)

    with ThreadPoolExecutor(2) as pool:
        for name, snapshot in zip(AFTER, pool.map(go_on, AFTER), strict=True):
            found[name] = ask(snapshot)
    return found


def middle(rows: list[dict[str, dict[str, float]]], column: str, name: str) -> float:
    return statistics.median(row[column][name] for row in rows)


def show(rows: list[dict[str, dict[str, float]]]) -> None:
    columns = ("school", *AFTER)
    table = Table("passive", "chance", *columns, title=f"share of {ASKED}, median over seeds")
    for name, passive in PASSIVES.items():
        base = middle(rows, "school", name)
        cells = [f"{base:.2f}" + (" *" if base >= passive.chance + ABOVE else "")]
        for column in AFTER:
            now = middle(rows, column, name)
            word = f" {drift(base, now)}" if AFTER[column][1] else ""
            cells.append(f"{now:.2f}{word}")
        table.add_row(name, f"{passive.chance:.2f}", *cells)
    Console(width=110).print(table)
    print("* 10 points above chance after school")


def main() -> None:
    """Run all seeds and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=8.0, help="of school")
    parser.add_argument("--bin-minutes", type=float, default=5.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cores", type=int, default=2, help="of the school")
    parser.add_argument("--out", type=Path, default=Path("out/text_school"))
    parser.add_argument("--quick", action="store_true", help="one minute each")
    options = parser.parse_args()
    if options.quick:
        options.minutes = options.bin_minutes = 1.0
    rows = [run_seed(options, seed) for seed in range(options.seeds)]
    show(rows)
    base = {name: middle(rows, "school", name) for name in PASSIVES}
    words = {
        column: [drift(base[name], middle(rows, column, name)) for name in PASSIVES]
        for column, (_, follows) in AFTER.items()
        if follows
    }
    document: dict[str, Any] = {
        "school_minutes": options.minutes,
        "bin_minutes": options.bin_minutes,
        "seeds": options.seeds,
        "asked": ASKED,
        "above_chance": sum(base[n] >= p.chance + ABOVE for n, p in PASSIVES.items()),
        "passives": len(PASSIVES),
        "lost_without_school": words["BIN, no school"].count("lost"),
        "lost_with_school": words["BIN, 10 % school"].count("lost"),
        "rows": rows,
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
