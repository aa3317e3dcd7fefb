"""What does sparring add to a text hero, against the same number of plain updates?

    python benchmarks/text_spar.py SNAPSHOT --level 3 [--updates 100] [--problems 600] [--seeds 3]

From the same snapshot: plain updates of the level's mix; the same number with a share of sparring
rows (half made before, half made anew in the middle, because they go stale). Judged on the same
400 exam problems. Prints a table; the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from levelcap.guild.engine import get_engine
from levelcap.learn.engine.stops import Stops
from levelcap.learn.text.config import TextConfig
from levelcap.learn.text.exams import hold_exam
from levelcap.learn.text.run import Request, train_text
from levelcap.learn.text.spar import Sparring, spar, write_rows
from levelcap.play.answers import load_text_hero

EXAM = 400


def accuracy(options: argparse.Namespace, snapshot: Path) -> float:
    """On problems that are the same for all rows."""
    hero = load_text_hero(snapshot)
    return hold_exam(get_engine(), hero, "bin", options.level, EXAM, 99, options.preset).accuracy


def step(
    options: argparse.Namespace, start: Path, place: Path, seed: int, sparring: bool
) -> tuple[Path, Sparring | None]:
    """Half of the updates; the rows are made by the hero as it is now."""
    config = TextConfig(
        school=0.0, batch=options.batch, file_share=options.share, exam_rarely=10**6, exam_hope=1.0
    )
    config = replace(config, engine=replace(config.engine, warmup_updates=10))
    files: tuple[Path, ...] = ()
    found = None
    if sparring:
        hero = load_text_hero(start)
        found = spar(
            get_engine(),
            hero,
            "bin",
            options.level,
            options.problems,
            seed=seed,
            preset=options.preset,
        )
        place.mkdir(parents=True, exist_ok=True)
        write_rows(place / "sparring.jsonl", found.rows)
        files = (place / "sparring.jsonl",) if found.rows else ()
    request = Request(
        "bin",
        place / "run",
        options.preset,
        seed=seed,
        start=start,
        level=options.level,
        files=files,
    )
    done = train_text(request, config, Stops(updates=options.updates // 2))
    return done.outcome.snapshot, found


def main() -> None:
    """All seeds and both ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("--level", type=int, default=3)
    parser.add_argument("--preset", default=None)
    parser.add_argument("--updates", type=int, default=100)
    parser.add_argument("--problems", type=int, default=600)
    parser.add_argument("--share", type=float, default=0.25)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    before = accuracy(options, options.snapshot)
    print(f"before: {before:.3f} of {EXAM} exam problems at level {options.level}")
    print(f"{'seed':>4} {'plain':>7} {'sparring':>9}   wrong answers (first, second half)  weak")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as home:
        for seed in range(1, options.seeds + 1):
            row: dict[str, Any] = {"seed": seed, "wrong": [], "weak": []}
            for name in ("plain", "sparring"):
                start = options.snapshot
                for half in range(2):
                    place = Path(home) / f"{name}-{seed}-{half}"
                    start, found = step(options, start, place, 10 * seed + half, name != "plain")
                    if found is not None:
                        row["wrong"].append([found.wrong, found.asked])
                        row["weak"] = list(found.weak)
                row[name] = accuracy(options, start)
            rows.append(row)
            print(
                f"{seed:4} {row['plain']:7.3f} {row['sparring']:9.3f}   {row['wrong']}  "
                f"{', '.join(row['weak'])}",
                flush=True,
            )
    gain = [row["sparring"] - row["plain"] for row in rows]
    print(
        json.dumps(
            {
                "before": before,
                "plain": statistics.mean(r["plain"] for r in rows),
                "sparring": statistics.mean(r["sparring"] for r in rows),
                "gain": statistics.mean(gain),
                "gains": gain,
                "rows": rows,
            }
        )
    )


if __name__ == "__main__":
    main()
