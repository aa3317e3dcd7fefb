"""How long does a decision take? By layer and end to end, one player and ten in one batch.

    python benchmarks/latency.py [--beside] [--size slim] [--decisions 3000] [--quick]

End to end is `Policy.act` on observations of real matches: packing views, three layers at their own
rates, sampling, the state as arrays. Layers are timed inside the same decisions. The Strategist's
is the time of a look, once in ten decisions. Ten players decide in one batch, sixty times a second
for as long as `--paced` says. `--beside` starts a real `levelcap reinforce` at nice 10 first. The
last line is one JSON object; its figures are those of `--size`; the other sizes are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from levelcap.nets.family import describe, new_net
from levelcap.play.load import NetPolicy
from levelcap.play.probe import recorded
from levelcap.world.spec import arena_spec

LAYERS = ("strategist", "tactician", "executor")
WARM = 200  # decisions before anything counts
HZ = 60
BARS = {"e2e_p99_ms": 10.0, "executor_ms": 1.0, "ten_p99_ms": 1e3 / HZ}


@contextmanager
def training(wanted: bool) -> Iterator[None]:
    """A training run beside, from its first update on; ended afterwards."""
    if not wanted:
        yield
        return
    with tempfile.TemporaryDirectory() as home:
        out = Path(home) / "run"
        command = ["nice", "-n", "10", sys.executable, "-m", "levelcap", "reinforce"]
        command += ["--world", "duel", "--minutes", "30", "--out", str(out), "--games", "2"]
        environment = {**os.environ, "LEVELCAP_HOME": str(Path(home) / "realm")}
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            while not (out / "metrics.jsonl").exists():
                if process.poll() is not None:
                    raise SystemExit("the training run beside ended before its first update")
                time.sleep(0.5)
            yield
        finally:
            process.kill()
            process.wait()


def timed_layers(net: Any) -> dict[str, list[float]]:
    """Lists that fill with the milliseconds of each call of a layer."""
    found: dict[str, list[float]] = {name: [] for name in LAYERS}
    for name in LAYERS:
        layer, began = net.get_submodule(name), [0.0]

        def before(*_: Any, began: list[float] = began) -> None:
            began[0] = time.perf_counter()

        def after(*_: Any, began: list[float] = began, name: str = name) -> None:
            found[name].append(1e3 * (time.perf_counter() - began[0]))

        layer.register_forward_pre_hook(before)
        layer.register_forward_hook(after)
    return found


def decide(size: str, players: int, decisions: int, hz: float = 0.0) -> dict[str, np.ndarray]:
    """Milliseconds of every decision, and of every call of a layer; hz: paced, 0: at once."""
    meta = describe("hierarchy", arena_spec("siege"), size)
    net = new_net(meta).eval()
    policy, (world, rows) = NetPolicy(net, meta, ""), recorded(meta)
    policy.bind(world)
    layers, state = timed_layers(net), policy.initial_state(players)
    taken, due = [], time.perf_counter()
    for number in range(WARM + decisions):
        first = number * players % (len(rows["mask"]) - players)
        views = {name: row[first : first + players] for name, row in rows.items()}
        views["reset"] = np.zeros(players, np.bool_)
        if number == WARM:
            for times in layers.values():
                times.clear()
        if hz:
            due += 1 / hz
            time.sleep(max(0.0, due - time.perf_counter()))
        began = time.perf_counter()
        state = policy.act(views, state).state
        taken.append(1e3 * (time.perf_counter() - began))
    found = {name: np.array(times) for name, times in layers.items()}
    return found | {"e2e": np.array(taken[WARM:])}


def report(size: str, decisions: int, paced_s: float) -> dict[str, float]:
    """Print a size's table; its figures."""
    one = decide(size, 1, decisions)
    ten = decide(size, 10, max(50, int(paced_s * HZ)), HZ)
    print(f"\n{size:12}{'one p50':>10}{'p99':>10}{'ten p50':>10}{'p99':>10}   ms")
    for name in (*LAYERS, "e2e"):
        numbers = [np.percentile(found[name], q) for found in (one, ten) for q in (50, 99)]
        print(f"{name:12}" + "".join(f"{n:10.3f}" for n in numbers), flush=True)
    ten_p99 = float(np.percentile(ten["e2e"], 99))
    return {
        **{f"{name}_ms": float(np.median(one[name])) for name in LAYERS},
        **{f"{name}_p99_ms": float(np.percentile(one[name], 99)) for name in LAYERS},
        "e2e_p50_ms": float(np.median(one["e2e"])),
        "e2e_p99_ms": float(np.percentile(one["e2e"], 99)),
        "ten_p50_ms": float(np.median(ten["e2e"])),
        "ten_p99_ms": ten_p99,
        "hz_10_players": 1e3 / ten_p99,
    }


def main() -> None:
    """All sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="slim", choices=("slim", "seed", "full"))
    parser.add_argument("--others", default="seed full", help="sizes printed beside")
    parser.add_argument("--decisions", type=int, default=3000)
    parser.add_argument("--paced", type=float, default=20.0, help="seconds at 60 Hz")
    parser.add_argument("--beside", action="store_true", help="with a training run at nice 10")
    parser.add_argument("--quick", action="store_true", help="300 decisions, 3 s")
    options = parser.parse_args()
    if options.quick:
        options.decisions, options.paced = 300, 3.0
    with training(options.beside):
        found = {
            size: report(size, options.decisions, options.paced)
            for size in dict.fromkeys((options.size, *options.others.split()))
        }
    chosen = found[options.size]
    for name, bar in BARS.items():
        said = "kept" if chosen[name] < bar else "missed"
        print(f"{name} {chosen[name]:.3f}, bar {bar:.1f}: {said}")
    print("hz_10_players: one over the p99 of ten players in a batch")
    document = {"size": options.size, "beside": options.beside, "decisions": options.decisions}
    print(json.dumps({**document, **chosen, "load": os.getloadavg()[0], "sizes": found}))


if __name__ == "__main__":
    main()
