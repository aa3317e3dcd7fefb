"""Seconds to a fixed strength: ours, Stable-Baselines3, a CleanRL-style loop, Sample Factory.

    python benchmarks/race.py [--quick] [--game duel|cartpole] [--seeds 3] [--limit-s 300]
                              [--picture PNG]

duel: 80 % against sealed cousins of rookie (200 games, confirmed by 200 others); the learner
plays rookie, the net is 2 x 128, no demonstrations; peers read the views that suit them better.
Ours aims relative to the nearest visible enemy (`aim=residual`); the peers have one row more each
whose adapter decodes their aim relative to the same target, and both ratios are printed: `ratio`
against peers as published, `ratio_relative_aim` against the best row of all.
cartpole: a mean return of 475 over 100 greedy episodes. Wall and CPU seconds of training; judging,
imports and compiling are not on the clock. Peers run unmodified in their own environments
(`make bench-peers`), every tuned row of theirs, best row counts; Stable-Baselines3 also as
documented, with 8 Gymnasium environments. A row that did not arrive counts its time-out and is
marked >=. ratio = best peer / ours without demonstrations. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.peers.arena_env import judge_duel, judge_poles
from benchmarks.peers.environment import environment
from levelcap.learn.engine.config import EngineConfig
from levelcap.learn.engine.stops import Stops
from levelcap.learn.engine.task import Hooks
from levelcap.learn.imitation.config import ImitationConfig
from levelcap.learn.imitation.run import Request as ImitationRequest
from levelcap.learn.imitation.run import imitate
from levelcap.learn.rl.config import RlConfig, for_world, from_scratch
from levelcap.learn.rl.run import Request, reinforce
from levelcap.nets.flat import FlatNet
from levelcap.nets.meta import Meta
from levelcap.play.record.games import record
from levelcap.play.sample import Sampler
from levelcap.play.show.plot import Series, plot_curves
from levelcap.world.doors.outside import spec_of
from levelcap.world.spec import arena_spec

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = {
    "sb3": (".venv-peers", "sb3"),
    "cleanrl_vec": (".venv-peers", "cleanrl_loop"),
    "sample_factory": (".venv-sample-factory", "sample_factory"),
}
WORLDS = {"duel": "duel", "cartpole": "gym:CartPole-v1"}
AIM = {"duel": "residual", "cartpole": "free"}
GOALS = {"duel": 0.80, "cartpole": 475.0}
CHECK_S = {"duel": 5.0, "cartpole": 1.0}  # as the peers are asked


POLES: dict[str, Any] = {
    "clip": 0.2,
    "epochs": 4,
    "lambda_": 0.9,
    "gamma": 0.98,
    "entropy_coef": 0.0,
    "centre_advantage": True,
    "engine": EngineConfig(
        lr=2e-3,
        beta2=0.999,
        eps=1e-5,
        clip_norm=0.5,
        final_lr_share=0.05,
        warmup_updates=0,
        ema=0.9,
    ),
}


class Judge:
    """(weights, meta) -> score, with the judges the peers have; remembers the curve."""

    def __init__(self, game: str, seed: int) -> None:
        self.game, self.seed, self.number = game, seed, 0
        self.curve: list[list[float]] = []

    def __call__(self, weights: dict[str, Any], meta: Meta) -> float:
        net = FlatNet(meta)
        net.load_state_dict(weights)
        net.eval()
        score = self._score(net)
        if self.game == "duel" and score >= GOALS["duel"]:
            score = (score + self._score(net)) / 2
        self.curve.append([round(meta.metrics["seconds"], 1), round(score, 4)])
        print(f"{self.curve[-1]} {meta.steps:,} steps", file=sys.stderr, flush=True)
        return score

    def _score(self, net: FlatNet) -> float:
        self.number += 1
        seed = 1_000 * (self.seed + 1) + self.number
        sampler = Sampler(arena_spec("duel") if self.game == "duel" else spec_of("gym:CartPole-v1"))
        rng = np.random.default_rng(seed)

        def act(rows: Any, mask: Any) -> Any:
            with torch.inference_mode():
                logits = net(torch.from_numpy(np.ascontiguousarray(rows, np.float32)))[0].numpy()
            keys = rng.integers(2**63, size=len(rows)).astype(np.uint64)
            return sampler(logits, mask, keys, greedy=self.game == "cartpole")[0]

        if self.game == "duel":
            return judge_duel(act, "all", seed=seed)
        return judge_poles(act, seed=seed)


def race_config(game: str, demonstrations: bool) -> RlConfig:
    """Our defaults; in the duel against rookie alone and, from nothing, against itself."""
    if game == "cartpole":
        return replace(for_world(WORLDS[game]), **POLES)  # tuned, as the peers' rows are
    config = for_world("duel") if demonstrations else from_scratch("duel")
    return replace(config, opponents=("rookie",), cousins=0)


def ours(
    game: str, seed: int, *, limit_s: float, demonstrations: bool, aim: str = "free"
) -> dict[str, Any]:
    """One run of ours until the goal; with demonstrations their recording and cloning count."""
    world = WORLDS[game]
    with tempfile.TemporaryDirectory() as folder:
        place, spent, cores, start = Path(folder), 0.0, 0.0, None
        if demonstrations:
            began, cpu = time.monotonic(), time.process_time()
            record(["veteran", "rookie"], world, 400, seed, place / "demos", keep=["veteran"])
            request = ImitationRequest(world, (place / "demos",), place / "sup", seed=seed)
            start = imitate(request, ImitationConfig(), Stops(minutes=4 / 60)).outcome.snapshot
            spent, cores = time.monotonic() - began, time.process_time() - cpu
        judge = Judge(game, seed)
        done = reinforce(
            Request(world, place / "run", start, seed=seed, options=(f"aim={aim}",)),
            race_config(game, demonstrations),
            Stops(minutes=limit_s / 60, goal=GOALS[game]),
            Hooks(evaluate=judge, evaluate_s=CHECK_S[game]),
        )
    reached = done.progress.score is not None and done.progress.score >= GOALS[game]
    return {
        "seconds": round(spent + done.seconds, 2) if reached else limit_s,
        "reached": reached,
        "cpu_seconds": round(cores + done.core_seconds, 2),
        "score": done.progress.score,
        "curve": judge.curve,
    }


def peer(script: str, row: str, game: str, seed: int, *, limit_s: float) -> dict[str, Any]:
    """One run of a peer's row in its own environment."""
    home, module = SCRIPTS[script]
    python = ROOT / home / "bin" / "python"
    if not python.exists():
        return {"missing": f"{home}: run make bench-peers"}
    command = [
        str(python),
        "-m",
        f"benchmarks.peers.{module}",
        "--game",
        game,
        "--mode",
        "race",
        "--row",
        row,
        "--seed",
        str(seed),
        "--limit-s",
        str(limit_s),
    ]
    run = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=2 * limit_s + 400,
    )
    lines = run.stdout.strip().splitlines()
    if not lines:
        return {"missing": run.stderr.strip().splitlines()[-1:]}
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def peer_rows(game: str) -> list[tuple[str, str]]:
    """(script, row) of everything the peers were tuned to for this game."""
    rows = []
    for script, (home, module) in SCRIPTS.items():
        python = ROOT / home / "bin" / "python"
        if not python.exists():
            print(f"{script}: no {home}; run make bench-peers")
            continue
        code = f"import json; from benchmarks.peers.{module} import ROWS; print(json.dumps(ROWS))"
        run = subprocess.run([python, "-c", code], cwd=ROOT, capture_output=True, text=True)
        known = json.loads(run.stdout.splitlines()[-1])
        rows += [(script, n) for n, row in known.items() if row.get("game", n).startswith(game)]
    return rows


def median_row(name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The median run of a row, printed."""
    bad = [run for run in runs if "seconds" not in run]
    if bad:
        print(f"{name:36}{bad[0]}", flush=True)
        return {"seconds": float("inf"), "problem": str(bad[0])}
    seconds = statistics.median(run["seconds"] for run in runs)
    cpu = statistics.median(run["cpu_seconds"] for run in runs)
    reached = sum(run["reached"] for run in runs)
    sign = ">=" if reached <= len(runs) // 2 else "  "
    print(f"{name:36}{sign}{seconds:8.1f} s{cpu:10.1f} CPU-s   {reached}/{len(runs)}", flush=True)
    return {"seconds": seconds, "cpu_seconds": cpu, "reached": reached, "runs": len(runs)}


def curves_of(name: str, runs: list[dict[str, Any]]) -> list[Series]:
    """Scores over seconds of every run that was judged at all."""
    found = []
    for seed, run in enumerate(runs):
        points = [(at, score) for at, score in run.get("curve", [])]
        if points:
            label = name if len(runs) == 1 else f"{name}, {seed}"
            found.append((label, [p[0] for p in points], [p[1] for p in points], None, None))
    return found


def main() -> None:
    """Race and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, 180 s a row")
    parser.add_argument("--game", choices=tuple(WORLDS), action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit-s", type=float, default=300.0)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--picture", type=Path, help="draw the scores over time here (one game)")
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.limit_s = 1, 180.0
    seeds, limit_s = range(options.seeds), options.limit_s
    document: dict[str, Any] = {}
    for game in options.game or list(WORLDS):
        print(f"\n{game}: seconds to {GOALS[game]:g}, median of {options.seeds}")
        found: dict[str, Any] = {}
        entries: list[tuple[str, Callable[[int], dict[str, Any]]]] = [
            ("ours", partial(ours, game, limit_s=limit_s, demonstrations=False, aim=AIM[game]))
        ]
        if game == "duel":
            free = partial(ours, game, limit_s=limit_s, demonstrations=False)
            entries.append(("ours, free aim", free))
            helped = partial(ours, game, limit_s=limit_s, demonstrations=True)
            entries.append(("ours with demonstrations", helped))
        if not options.no_peers:
            for script, row in peer_rows(game):
                entries.append(
                    (f"{script} {row}", partial(peer, script, row, game, limit_s=limit_s))
                )
        curves: list[Series] = []
        for name, run in entries:
            runs = [run(seed) for seed in seeds]
            found[name] = median_row(name, runs)
            curves += curves_of(name, runs)
        if options.picture:
            goal = {f"{GOALS[game]:g}": GOALS[game]}
            plot_curves(
                options.picture,
                curves,
                title=f"{game}: the race",
                x_label="seconds of training",
                y_label="score",
                lines=goal,
            )
        peers = {n: r for n, r in found.items() if not n.startswith("ours")}
        if peers:
            document[game] = {"ours_s": found["ours"]["seconds"], "rows": found}
            published = {n: r for n, r in peers.items() if "relative" not in n}
            for suffix, rivals in (("", published), ("_relative_aim", peers)):
                best = min(rivals, key=lambda n: rivals[n]["seconds"])
                theirs, mine = rivals[best], found["ours"]
                document[game] |= {
                    f"best_peer{suffix}": best,
                    f"best_peer{suffix}_s": theirs["seconds"],
                    f"ratio{suffix}": theirs["seconds"] / mine["seconds"],
                    f"ratio_cpu{suffix}": theirs.get("cpu_seconds", 0) / mine["cpu_seconds"],
                }
        else:
            document[game] = {"ours_s": found["ours"]["seconds"], "rows": found}
    head = document.get("duel", next(iter(document.values())))
    keys = ("ours_s", "best_peer_s", "ratio", "ratio_cpu", "ratio_relative_aim")
    print(json.dumps({**{k: head[k] for k in keys if k in head}, **document}))


if __name__ == "__main__":
    main()
