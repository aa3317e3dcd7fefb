"""How fast does the text hero train, and reach a level, beside transformers.Trainer and trl?

    python benchmarks/text_speed.py [--quick] [--seconds 60] [--goal 5] [--peer-python PYTHON]

One run, one after the other, both cores each (ours learns from halves of a batch side by side,
theirs by torch's threads; `--cores 1`: one each): the same model of 0.6 M parameters from random
weights, the same lessons, 32 problems an update, loss on answers only. First tokens/s on lessons of
level 3 (tokens read, pads not counted; optimizer included), then seconds to the goal level with
each one's own exams (ours in one forward pass, theirs by `generate`), with a time-out; a row that
did not arrive has its time-out and is marked >=. Core-seconds stand beside seconds. Peers run in an
environment of their own (`make bench-peers`). Ours steps by Muon, theirs by AdamW at a rate not
tuned for them. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.peers.environment import environment
from levelcap.guild.engine import get_engine
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.text.config import TextConfig
from levelcap.learn.text.run import Request, train_text
from levelcap.play.answers import TextHero, load_text_hero

ROOT = Path(__file__).resolve().parents[1]
PEER_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
CONFIG = TextConfig(school=0.0)


def ours(options: argparse.Namespace, home: Path, mode: str) -> dict[str, Any]:
    """Our trainer, ended by time or, in a race, by its level."""
    racing = mode == "race"
    config = CONFIG if racing else replace(CONFIG, exam_rarely=10**6, exam_hope=1.0)
    out = home / mode
    request = Request("bin", out, options.preset, level=1 if racing else options.level)

    def watch(metrics: dict[str, float]) -> None:
        if racing and metrics["level"] >= options.goal:
            (out / "stop").touch()

    seconds = options.limit if racing else options.seconds
    done = train_text(request, config, Stops(minutes=seconds / 60), Hooks(on_report=watch))
    return {
        "peer": "ours",
        "updates": done.outcome.progress.update,
        "tokens": done.outcome.progress.steps,
        "seconds": done.outcome.seconds,
        "core_seconds": done.outcome.core_seconds,
        "level": done.level,
        "level_ups": [
            {k: u[k] for k in ("level", "seconds", "core_seconds")} for u in done.level_ups
        ],
        "exam_seconds": done.outcome.metrics["exam_seconds"],
        "snapshot": str(done.outcome.snapshot),
    }


def theirs(options: argparse.Namespace, peer: str, mode: str) -> dict[str, Any] | None:
    """A peer in its own environment; None: not installed."""
    if not options.peer_python.exists():
        return None
    seconds = options.limit if mode == "race" else options.seconds
    command = [
        str(options.peer_python),
        "-m",
        "benchmarks.peers.text_trainers",
        peer,
        "--mode",
        mode,
        "--seconds",
        str(seconds),
        "--level",
        str(options.level),
        "--goal",
        str(options.goal),
        "--threads",
        str(options.cores),
    ]
    command += ["--preset", options.preset] if options.preset else []
    run = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=seconds + 600,
    )
    if run.returncode:
        print(f"{peer} failed: {run.stderr.strip().splitlines()[-1]}")
        return None
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def answers_per_s(snapshot: str, level: int) -> dict[str, float]:
    """Exams of ours both ways: without generating, and by cached generation."""
    hero: TextHero = load_text_hero(Path(snapshot))
    problems = get_engine().generate_eval_batch("bin", level=level, count=96, seed=0)
    prompts, wanted = [p.prompt for p in problems], [p.answer for p in problems]
    found = {}
    for name, work in (
        ("exact", lambda: hero.exact(prompts, wanted)),
        ("generated", lambda: hero.answers(prompts, 200)),
    ):
        work()
        began = time.process_time()
        work()
        found[name] = len(prompts) / (time.process_time() - began)
    return found


def arrival(row: dict[str, Any] | None, goal: int, clock: str) -> float | None:
    """When the goal level was reached; None: not."""
    if row is None:
        return None
    return next((u[clock] for u in row["level_ups"] if u["level"] >= goal), None)


def show(name: str, row: dict[str, Any] | None, options: argparse.Namespace, mode: str) -> None:
    """One line of the table."""
    if row is None:
        print(f"{name:6} {mode:6} missing: make bench-peers")
        return
    rate, core = row["tokens"] / row["seconds"], row["tokens"] / row["core_seconds"]
    text = f"{name:6} {mode:6} {rate:9.0f} tokens/s {core:9.0f} tokens/core-s "
    text += f"{row['updates']:6} updates  exams {row['exam_seconds']:.0f} s  level {row['level']}"
    if mode == "race":
        reached = arrival(row, options.goal, "seconds")
        cores = arrival(row, options.goal, "core_seconds")
        text += f"  L{options.goal} " + (
            f">= {row['seconds']:.0f} s, >= {row['core_seconds']:.0f} core-s"
            if reached is None
            else f"{reached:.0f} s, {cores:.0f} core-s"
        )
    print(text, flush=True)


def main() -> None:
    """Run all rows and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of a speed row")
    parser.add_argument("--limit", type=float, default=1200.0, help="seconds of a race row")
    parser.add_argument("--level", type=int, default=3)
    parser.add_argument("--goal", type=int, default=5)
    parser.add_argument("--preset", default=None)
    parser.add_argument("--peer-python", type=Path, default=PEER_PYTHON)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--no-race", action="store_true")
    parser.add_argument("--quick", action="store_true", help="20 s a row, no race")
    options = parser.parse_args()
    if options.quick:
        options.seconds, options.no_race = 20.0, True
    os.environ["LEVELCAP_CORES"] = str(options.cores)
    document: dict[str, Any] = {
        "seconds": options.seconds,
        "goal": options.goal,
        "cores": options.cores,
        "rows": {},
    }
    with tempfile.TemporaryDirectory() as home:
        for mode in ("speed",) if options.no_race else ("speed", "race"):
            for name in ("ours", "hf", "trl") if mode == "speed" else ("ours", "hf"):
                mine = name == "ours"
                row = ours(options, Path(home), mode) if mine else theirs(options, name, mode)
                show(name, row, options, mode)
                document["rows"][f"{name}_{mode}"] = row
                if row is not None and mode == "speed":
                    document[f"{name}_tok_s"] = round(row["tokens"] / row["seconds"], 1)
                    document[f"{name}_tok_core_s"] = round(row["tokens"] / row["core_seconds"], 1)
                if row is not None and mode == "race":
                    for clock, suffix in (("seconds", "s"), ("core_seconds", "core_s")):
                        reached = arrival(row, options.goal, clock)
                        document[f"{name}_{suffix}_to_l{options.goal}"] = reached or row[clock]
                        document[f"{name}_arrived"] = reached is not None
        rates = answers_per_s(document["rows"]["ours_speed"]["snapshot"], options.level)
    print(
        f"ours: {rates['exact']:.0f} answers/core-s by exact match without generating, "
        f"{rates['generated']:.0f} by generation"
    )
    document["answers_core_s"] = rates
    peers = [document[key] for key in ("hf_tok_s", "trl_tok_s") if key in document]
    document["ratio"] = document["ours_tok_s"] / max(peers) if peers else None
    print(json.dumps(document))


if __name__ == "__main__":
    main()
