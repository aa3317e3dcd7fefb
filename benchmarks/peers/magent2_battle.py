"""Agent-steps a second of MAgent2's battle, printed as one JSON line. Runs in `.venv-peers`.

    .venv-peers/bin/python benchmarks/peers/magent2_battle.py [--seconds 1] [--asked]

Battle as documented: map_size 45, 2 x 81 agents, random actions. An agent-step is one action of one
living agent, its observation (13 x 13 x 5 float32) and reward included. One process a core plays
its own battle: the engine has one thread. Measured twice: `rate` drives the engine through its
batched calls, the fastest way there is; `rate_interface` is `battle_v4.parallel_env`, the
environment as documented, whose dictionaries take most of the time.

With --asked every line on standard input gives one measurement, so that a caller can take turns.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import os
import sys
import time
from multiprocessing.connection import Connection

import numpy as np
from magent2.environments import battle_v4

MAP_SIZE = 45
MAX_CYCLES = 1000
NUM_DRAWS = 8  # pre-drawn action arrays, so that drawing them is not measured


class Battle:
    """One battle, restarted when a side is gone or after 1,000 steps."""

    def __init__(self, seed: int) -> None:
        self.env = battle_v4.parallel_env(map_size=MAP_SIZE, max_cycles=MAX_CYCLES)
        self.env.reset(seed=seed)
        self.grid, self.handles = self.env.env, self.env.handles
        rng = np.random.default_rng(seed)
        num_actions = self.env.action_space(self.env.agents[0]).n
        self.draws = rng.integers(0, num_actions, (NUM_DRAWS, 200)).astype(np.int32)
        self.frames = self.obs_bytes = 0

    def step(self) -> int:
        """One action of everyone alive; the number of them."""
        grid, acted = self.grid, 0
        draw = self.draws[self.frames % NUM_DRAWS]
        for handle in self.handles:
            living = grid.get_num(handle)
            grid.set_action(handle, draw[:living])
            acted += living
        done = grid.step()
        self.frames += 1
        for handle in self.handles:
            grid.get_reward(handle)
            grid.get_alive(handle)
        grid.clear_dead()
        if done or self.frames >= MAX_CYCLES:
            grid.reset()
            self.env.generate_map()
            self.frames = 0
        for handle in self.handles:
            view, _ = grid.get_observation(handle)
            self.obs_bytes = view[0].nbytes if len(view) else self.obs_bytes
        return acted


class ParallelBattle:
    """The same through PettingZoo's interface."""

    def __init__(self, seed: int) -> None:
        self.env = battle_v4.parallel_env(map_size=MAP_SIZE, max_cycles=MAX_CYCLES)
        views, _ = self.env.reset(seed=seed)
        self.obs_bytes = next(iter(views.values())).nbytes
        num_actions = self.env.action_space(self.env.agents[0]).n
        rng = np.random.default_rng(seed)
        draws = rng.integers(0, num_actions, (NUM_DRAWS, len(self.env.agents))).tolist()
        self.draws = [dict(zip(self.env.agents, draw, strict=True)) for draw in draws]
        self.frames = 0

    def step(self) -> int:
        """One action of everyone alive; the number of them."""
        if not self.env.agents:
            self.env.reset()
        acted, draw = len(self.env.agents), self.draws[self.frames % NUM_DRAWS]
        self.env.step({agent: draw[agent] for agent in self.env.agents})
        self.frames += 1
        return acted


def serve(pipe: Connection, seed: int) -> None:
    """Play as asked (way, seconds); answers agent-steps, wall seconds, CPU seconds, bytes."""
    ways = (Battle(seed), ParallelBattle(seed))
    while (asked := pipe.recv()) is not None:
        battle, seconds = ways[asked[0]], asked[1]
        acted, wall, cpu = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - wall < seconds:
            acted += sum(battle.step() for _ in range(10))
        pipe.send((acted, time.perf_counter() - wall, time.process_time() - cpu, battle.obs_bytes))


def measure(pipes: list[Connection], seconds: float) -> dict[str, float]:
    """All processes at once, half of `seconds` each way."""
    result: dict[str, float] = {}
    for way, name in enumerate(("rate", "rate_interface")):
        for pipe in pipes:
            pipe.send((way, seconds / 2))
        answers = [pipe.recv() for pipe in pipes]
        steps, cpu = sum(a[0] for a in answers), sum(a[2] for a in answers)
        result[name] = sum(acted / wall for acted, wall, _, _ in answers)
        result[f"{name}_cpu"] = steps / cpu
        result["obs_bytes"] = answers[0][3]
    return result


def main() -> None:
    """Measure once, or once for every line on standard input."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--asked", action="store_true")
    options = parser.parse_args()
    pipes = []
    for seed in range(os.cpu_count() or 1):
        mine, theirs = mp.Pipe()
        mp.Process(target=serve, args=(theirs, seed), daemon=True).start()
        pipes.append(mine)
    measure(pipes, 0.4)  # a first one to warm up
    for _ in sys.stdin if options.asked else range(1):
        print(json.dumps(measure(pipes, options.seconds)), flush=True)
    for pipe in pipes:
        pipe.send(None)


if __name__ == "__main__":
    main()
