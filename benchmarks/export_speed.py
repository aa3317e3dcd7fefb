"""A bundle against its original: the same strength without torch, and what a second of play costs.

    python benchmarks/export_speed.py CHECKPOINT [--games 1000] [--bundle FOLDER] [--quick]

The bundle's process is `levelcap-play` in an environment of its own with numpy and onnxruntime
alone (made once under out/); it answers over a pipe, while world and torch original run here. 50 %
of the games are its own; played as pairs with sides exchanged. Then, in one process and in turns:
processor time of one second of live play (ten decisions of one player: one look of a Strategist,
ten of Tactician and Executor), the tick on which all layers are due, and batches beside torch.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Any

import numpy as np

from levelcap.export.exporter import ModelExporter
from levelcap.export.policy import load_bundle
from levelcap.kit.stats import paired_interval
from levelcap.play.load import load_checkpoint
from levelcap.play.matchup import play_games
from levelcap.world import make
from levelcap.world.protocols import ALWAYS, Decision, Policy

ROOT = Path(__file__).resolve().parents[1]
PLACE = Path("out/export_speed")
SECOND = 10  # decisions
ROUNDS = 40


def bare_python() -> Path:
    """An environment with numpy and onnxruntime, and nothing else."""
    place = PLACE / "venv"
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "numpy", "onnxruntime"],
            check=True,
            stderr=subprocess.DEVNULL,
        )
    return python


class Piped(Policy):
    """The bundle behind a pipe; its memory stays on the other side, by match and seat."""

    knows_log_probs = False

    def __init__(self, folder: Path) -> None:
        self.inner = load_bundle(folder)
        self.views = self.inner.views
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [bare_python(), "-m", "levelcap.export.pipe", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    @property
    def content_hash(self) -> str:
        return self.inner.content_hash

    def bind(self, world: Any) -> None:
        self.inner.bind(world)
        self.players = world.spec.num_players

    def sit(self, matches: Any, seats: Any) -> None:
        self.who = matches * self.players + seats

    def act(self, views: Any, state: Any) -> Decision:
        names = (*self.views, "mask", "reset", "key")
        asked = {name: _wire(views[name]) for name in names} | {"who": self.who.tolist()}
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise SystemExit(answer["error"])
        return Decision(np.array(answer["actions"], np.int16))

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


def _wire(array: Any) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"b64": data, "dtype": str(array.dtype), "shape": list(array.shape)}


def games(original: Path, bundle: Path, world: str, count: int) -> dict[str, Any]:
    """The bundle's score against its original."""
    policy = Piped(bundle)
    try:
        result = play_games(policy, load_checkpoint(original), world, count, seed=77)
    finally:
        policy.close()
    low, high = paired_interval(result.scores)
    return {"games": count, "score": round(result.win_rate, 4), "low": low, "high": high}


def looks(world: str, views: tuple[str, ...], rows: int) -> list[dict[str, Any]]:
    """Views of players in matches of a bot, at different moments."""
    from levelcap.play.roster import find
    from levelcap.play.seats import Seats, views_of

    bot = find("veteran")
    players = make(world, 1).spec.num_players
    matches = -(-rows // players)
    needed = tuple(dict.fromkeys((*views_of([bot]), *views)))
    arena = make(world, matches, seed=5, views=needed, threads=1)
    table = Seats(arena, [bot], np.zeros((matches, players), np.int64))
    now, found = arena.reset(), []
    for _ in range(4 * SECOND):
        now = arena.step(table.act(now))[0]
        flat = {n: now[n].reshape(-1, *now[n].shape[2:])[:rows].copy() for n in (*views, *ALWAYS)}
        found.append(flat | {"reset": np.zeros(rows, np.bool_)})
    return found


def second_of_play(policy: Policy, seen: list[dict[str, Any]], seconds: int = 4) -> float:
    """Processor milliseconds of one second of live play."""
    state = policy.initial_state(len(seen[0]["key"]))
    before = time.process_time()
    for number in range(seconds * SECOND):
        state = policy.act(seen[number % len(seen)], state).state
    return 1e3 * (time.process_time() - before) / seconds


def full_ticks(policy: Policy, seen: list[dict[str, Any]], count: int = 400) -> list[float]:
    """Milliseconds of decisions on which every layer is due: each begins a match."""
    state, times = policy.initial_state(1), []
    for number in range(count):
        views = seen[number % len(seen)] | {"reset": np.ones(1, np.bool_)}
        began = time.perf_counter()
        policy.act(views, state)
        times.append(1e3 * (time.perf_counter() - began))
    return times


def speed(original: Path, bundle: Path, world: str) -> dict[str, Any]:
    """Torch and bundle in turns."""
    torch_policy, ort = load_checkpoint(original), load_bundle(bundle)
    for policy in (torch_policy, ort):
        policy.bind(make(world, 1, views=policy.views))
    one = looks(world, ort.views, 1)
    costs: dict[str, list[float]] = {"torch": [], "bundle": []}
    for policy in (torch_policy, ort):
        second_of_play(policy, one)
    for _ in range(ROUNDS):
        costs["torch"].append(second_of_play(torch_policy, one))
        costs["bundle"].append(second_of_play(ort, one))
    full = full_ticks(ort, one)
    many = looks(world, ort.views, 256)
    batch: dict[str, float] = {}
    for name, policy in (("torch", torch_policy), ("bundle", ort)):
        times = [second_of_play(policy, many, 1) / SECOND for _ in range(8)]
        batch[name] = round(float(np.median(times)), 3)
    medians = {name: round(float(np.median(times)), 3) for name, times in costs.items()}
    return {
        "second_of_play_ms": medians,
        "ratio": round(medians["bundle"] / medians["torch"], 3),
        "full_tick_p50_ms": round(float(np.quantile(full, 0.5)), 3),
        "full_tick_p99_ms": round(float(np.quantile(full, 0.99)), 3),
        "batch_256_ms": batch,
    }


def main() -> None:
    """Export if need be, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("checkpoint", type=Path, nargs="?")
    parser.add_argument("--bundle", type=Path)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="a fresh net, 40 games")
    asked = parser.parse_args()
    checkpoint = asked.checkpoint or _fresh()
    exporter = ModelExporter(checkpoint)
    world, bundle = exporter.meta.world, asked.bundle
    if bundle is None:
        bundle = PLACE / f"{exporter.digest[:16]}-onnx"
        if not bundle.is_dir():
            exporter.export("onnx", bundle)
    report = json.loads((bundle / "report.json").read_text())
    parity = report["parity"]
    meta = exporter.meta
    print(f"{meta.architecture} {meta.size} of {world}, {meta.steps:,} steps")
    print(f"equal actions {parity['action_agreement']:.4%} of {parity['observations']:,}")
    fast = speed(checkpoint, bundle, world)
    print(
        f"a second of live play, processor ms: {fast['second_of_play_ms']}, ratio {fast['ratio']}"
    )
    full = f"p50 {fast['full_tick_p50_ms']}, p99 {fast['full_tick_p99_ms']} ms"
    print(f"a tick with every layer due: {full}")
    print(f"256 players, processor ms a decision: {fast['batch_256_ms']}")
    played = games(checkpoint, bundle, world, 40 if asked.quick else asked.games)
    span = f"({played['low']:.3f} to {played['high']:.3f})"
    print(f"bundle against original, {played['games']} games: {played['score']:.3f} {span}")
    load = os.getloadavg()[0]
    print(json.dumps({"parity": parity, **fast, "games": played, "load": round(load, 1)}))


def _fresh() -> Path:
    from levelcap.nets.checkpoint import save_snapshot, weights_of
    from levelcap.nets.family import describe, new_net
    from levelcap.world.spec import arena_spec

    meta = describe("flat", arena_spec("duel"), "slim")
    place = PLACE / "fresh"
    if not place.is_dir():
        save_snapshot(place, weights_of(new_net(meta)), meta, "export_speed")
    return place


if __name__ == "__main__":
    sys.exit(main())
