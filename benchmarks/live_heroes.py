"""Ten hierarchies in one live match, each asked at every tick: is any tick late?

    python benchmarks/live_heroes.py [CHECKPOINT] [--minutes 5] [--hz 60] [--beside]

A siege as the Oracle plays it (minds, recorder and messages included), paced at `--hz` ticks a
second; when it ends the next one begins. A tick is late when its messages are ready only after the
next one was due. `--beside` starts a real `levelcap reinforce` at nice 10 first. Without a
checkpoint the net is untrained: what it decides differs, what it costs does not.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
from latency import training

from levelcap.nets.family import describe, new_net
from levelcap.play.live.match import Entrant, Live
from levelcap.play.load import NetPolicy, load_checkpoint
from levelcap.play.seats import ask_every_tick
from levelcap.services.oracle.app import keep_collections_short
from levelcap.world.spec import arena_spec, world_name


def hero(checkpoint: Path | None, world: str, hz: int) -> NetPolicy:
    """The player of all ten seats."""
    if checkpoint is not None:
        policy = load_checkpoint(checkpoint)
    else:
        meta = describe("hierarchy", arena_spec(world), "slim", options={"strategist": "lstm"})
        net = new_net(meta, 0)
        net.eval()
        policy = NetPolicy(net, meta, "untrained")
    ask_every_tick(policy, hz)
    return policy


def play(policy: NetPolicy, world: str, hz: int, seconds: float) -> np.ndarray:
    """Milliseconds from when each tick was due to when its messages were ready."""
    taken: list[float] = []
    seed, match = 0, None
    began = due = time.perf_counter()
    while due - began < seconds:
        if match is None or match.over:
            match = Live(world, [Entrant("hero", "net", policy)], [0] * 10, seed=seed)
            match.decide(4)  # compiles
            seed, due = seed + 1, time.perf_counter()
        match.decide(4)  # fifteen states a second, as spectators get them
        taken.append(1e3 * (time.perf_counter() - due))
        due += 1 / hz
        time.sleep(max(0.0, due - time.perf_counter()))
    return np.array(taken)


def main() -> None:
    """Print how late ticks were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path, nargs="?")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--hz", type=int, default=60, choices=(30, 60))
    parser.add_argument("--beside", action="store_true", help="with a training run at nice 10")
    options = parser.parse_args()
    world = world_name("siege", options.hz)
    policy = hero(options.checkpoint, world, options.hz)
    play(policy, world, options.hz, 2.0)  # warm
    keep_collections_short()  # as the Oracle does
    with training(options.beside):
        taken = play(policy, world, options.hz, 60 * options.minutes)
    late = int((taken > 1e3 / options.hz).sum())
    p50, p99, p999 = np.percentile(taken, (50, 99, 99.9))
    print(
        f"{len(taken):,} ticks at {options.hz} Hz: p50 {p50:.2f}, p99 {p99:.2f}, p99.9 {p999:.2f},"
    )
    print(f"longest {taken.max():.1f} ms of {1e3 / options.hz:.1f}; late: {late}")
    figures = {"ticks": len(taken), "late": late, "p50_ms": p50, "p99_ms": p99, "p999_ms": p999}
    print(json.dumps({**figures, "max_ms": taken.max(), "load": os.getloadavg()[0]}))


if __name__ == "__main__":
    main()
