"""Trained agent-steps a second: ours, the ceiling of the net alone, and the peers.

    python benchmarks/train_speed.py [--quick] [--no-peers]

duel, flat net, KL on, the same two cores. Ours: act, play, learn as `levelcap reinforce`
does, every step generated once and used once. The ceiling: the same net acts (forward, sampling)
and learns (forward, loss with KL by the plain functions, backward, optimizer) on constant data in
two threads, no game and no bookkeeping. Peers run in their own environments (`make bench-peers`)
over the native batched adapter; their row is the best of those listed in benchmarks/peers. Wall
and CPU seconds of the whole process count; compiling and imports do not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.peers.environment import environment
from levelcap.learn.engine.optim import make_optimizer
from levelcap.learn.engine.stops import Stops
from levelcap.learn.maths import heads
from levelcap.learn.rl.config import RlConfig, for_world
from levelcap.learn.rl.run import Request, reinforce
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.nets.flat import FlatNet
from levelcap.nets.meta import Meta
from levelcap.play.sample import Sampler
from levelcap.world.spec import arena_spec

ROOT = Path(__file__).resolve().parents[1]
VIEWS = {"features": ("features",), "all views": ()}
PEERS = {
    "sb3": (".venv-peers", "sb3"),
    "cleanrl_vec": (".venv-peers", "cleanrl_loop"),
    "sample_factory": (".venv-sample-factory", "sample_factory"),
}


def optimizer_of(net: FlatNet, config: RlConfig) -> Any:
    engine = config.engine
    return make_optimizer(
        net,
        engine.optimizer,
        lr=engine.lr,
        hidden_lr=engine.hidden_lr,
        weight_decay=0.0,
        betas=(engine.beta1, engine.beta2),
        eps=engine.eps,
    )


def ours(meta: Meta, config: RlConfig, seconds: float) -> dict[str, float]:
    """`reinforce` itself, from an untrained snapshot of this shape, so that the KL is on."""
    config = replace(config, value_warmup=0)
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start"
        save_snapshot(start, weights_of(new_net(meta, 0)), meta, "train_speed")
        request = Request("duel", Path(folder) / "run", start)
        done = reinforce(request, config, Stops(minutes=seconds / 60))
    return {
        "per_s": done.progress.steps / done.seconds,
        "per_cpu_s": done.progress.steps / done.core_seconds,
        "wall_s": done.seconds,
        "cpu_s": done.core_seconds,
    }


def ceiling(meta: Meta, config: RlConfig, seconds: float) -> dict[str, float]:
    """Act and learn of the net alone; each core does both in turn, as fast as it can."""
    spec = arena_spec("duel")
    lanes = 1024
    rows = config.unroll * config.lanes // config.minibatches
    done = [0, 0]
    stop = threading.Event()
    torch.manual_seed(0)

    def work(index: int) -> None:
        net, reference = new_net(meta, index), new_net(meta, 9)
        optimizer = optimizer_of(net, config)
        sampler = Sampler(spec)
        inputs = torch.randn(rows, meta.input_size)
        mask = torch.ones(rows, spec.mask_size, dtype=torch.uint8)
        acting, keys = inputs[:lanes], np.arange(lanes, dtype=np.uint64)
        act_mask = mask[:lanes].numpy()
        actions = torch.zeros(rows, len(spec.heads), dtype=torch.long)
        advantage, targets = torch.randn(rows), torch.randn(rows)
        while not stop.is_set():
            for _ in range(rows // lanes):
                with torch.inference_mode():
                    logits, _ = net(acting)
                sampler(logits.numpy(), act_mask, keys)
            with torch.no_grad():
                other = heads.split_log_softmax(reference(inputs)[0], mask, meta.head_sizes)
            logits, values = net(inputs)
            parts = heads.split_log_softmax(logits, mask, meta.head_sizes)
            used = heads.used_heads(actions, meta.aim_heads, meta.aim_users)
            loss = (
                -(heads.joint_log_prob(parts, actions, used) * advantage).mean()
                + 0.25 * ((values - targets) ** 2).mean()
                + 0.01 * heads.kl_divergence(parts, other, used).mean()
                - 0.001 * heads.entropy(parts, used).mean()
            )
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            done[index] += rows

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(1.0)
    before, clock = sum(done), Clock()
    time.sleep(seconds)
    found = clock.rates(sum(done) - before)
    stop.set()
    for thread in threads:
        thread.join()
    return found


class Clock:
    """Wall and CPU seconds since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), time.process_time()

    def wall(self) -> float:
        return time.monotonic() - self._wall

    def rates(self, steps: int) -> dict[str, float]:
        wall, cpu = self.wall(), time.process_time() - self._cpu
        return {"per_s": steps / wall, "per_cpu_s": steps / cpu, "wall_s": wall, "cpu_s": cpu}


def best_of(runs: int, measure: Callable[[], dict[str, float]]) -> dict[str, float]:
    return max((measure() for _ in range(runs)), key=lambda found: found["per_s"])


def peer(name: str, seconds: float) -> dict[str, Any]:
    """The fastest of a peer's rows, or why there is none."""
    home, script = PEERS[name]
    python = ROOT / home / "bin" / "python"
    if not python.exists():
        return {"missing": f"{home}; run make bench-peers"}
    code = f"import json; from benchmarks.peers.{script} import ROWS; print(json.dumps([*ROWS]))"
    listing = subprocess.run([python, "-c", code], cwd=ROOT, capture_output=True, text=True)
    rows = [row for row in json.loads(listing.stdout.splitlines()[-1]) if row.startswith("duel")]
    best: dict[str, Any] = {"per_s": 0.0}
    for row in rows:
        command = [
            python,
            "-m",
            f"benchmarks.peers.{script}",
            "--game",
            "duel",
            "--mode",
            "speed",
            "--row",
            row,
            "--seconds",
            str(seconds),
        ]
        limit_s = seconds + 240
        run = subprocess.run(
            command,
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=limit_s,
        )
        if run.returncode != 0 or not run.stdout.strip():
            print(f"{name} {row}: failed: {run.stderr.strip().splitlines()[-1:]}", flush=True)
            continue
        found = json.loads(run.stdout.splitlines()[-1])
        print(f"{name} {row}: {found['agent_steps_per_s']:,.0f} a second", flush=True)
        if found["agent_steps_per_s"] > best["per_s"]:
            best = {
                "per_s": found["agent_steps_per_s"],
                "per_cpu_s": found["agent_steps_per_cpu_s"],
                "row": row,
            }
    return best


def main() -> None:
    """Measure everything and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short runs, one repeat")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    seconds, repeats = (4.0, 1) if options.quick else (10.0, 3)
    torch.set_num_threads(1)
    ours(describe("flat", arena_spec("duel"), "dummy"), for_world("duel"), 0.1)  # loads the kernels
    document: dict[str, Any] = {}
    config = for_world("duel")
    print(f"{'':28}{'steps/s':>12}{'per CPU-s':>12}{'ceiling':>12}{'per CPU-s':>12}{'share':>8}")
    for size in ("slim", "full"):
        for label, views in VIEWS.items():
            meta = describe("flat", arena_spec("duel"), size, views=views)
            mine = best_of(repeats, lambda meta=meta: ours(meta, config, seconds))
            top = best_of(repeats, lambda meta=meta: ceiling(meta, config, seconds))
            share = mine["per_s"] / top["per_s"]
            key = f"{size}_{label.replace(' ', '_')}"
            document[key] = {"ours": mine, "ceiling": top, "share_of_ceiling": share}
            print(
                f"{size + ', ' + label:28}{mine['per_s']:12,.0f}{mine['per_cpu_s']:12,.0f}"
                f"{top['per_s']:12,.0f}{top['per_cpu_s']:12,.0f}{share:8.2f}",
                flush=True,
            )
    head = document["slim_features"]
    document = {
        "ours": head["ours"],
        "ceiling": head["ceiling"],
        "share_of_ceiling": head["share_of_ceiling"],
        **document,
    }
    if not options.no_peers:
        for name in PEERS:
            document[name] = peer(name, 10.0 if options.quick else 20.0)
            print(f"{name:28}{document[name]}")
        best = max(document[name]["per_s"] for name in PEERS)
        # The default hero reads all views.
        document["ratio"] = document["slim_all_views"]["ours"]["per_s"] / best if best else None
    print(json.dumps(document))


if __name__ == "__main__":
    main()
