"""Agent-steps a second of JaxMARL's SMAX 5 v 5, printed as one JSON line. Runs in `.venv-peers`.

    .venv-peers/bin/python benchmarks/peers/smax.py [--batch 128] [--asked]

Both sides act at random; jitted, vmapped over a batch of matches and scanned over steps, all of it
on the CPU, one thread a core with a batch of its own (one batch alone keeps one core busy). An
agent-step is one action of one of the ten units (8 world steps are simulated in it), observations
and restarts of finished matches included. Units that died count too.

With --asked every line on standard input gives one measurement, so that a caller can take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
# Compiling takes most of a short run; the result is kept inside the environment itself.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", os.path.join(sys.prefix, "jax-cache"))

import jax
import jax.numpy as jnp
from jaxmarl import make

NUM_STEPS = 10  # in one call of the compiled program
CORES = os.cpu_count() or 1


class Matches:
    """A batch of matches a core, and the compiled program that plays `NUM_STEPS` of each."""

    def __init__(self, batch: int) -> None:
        env = make("SMAX", num_allies=5, num_enemies=5)
        sizes = {a: env.action_space(a).n for a in env.agents}
        self.num_agents, self.batch = len(env.agents), batch

        def one(carry: Any, _: None) -> tuple[Any, Any]:
            key, _, state = carry
            key, draw, luck = jax.random.split(key, 3)
            draws = jax.random.split(draw, len(sizes))
            actions = {
                a: jax.random.randint(k, (batch,), 0, n)
                for k, (a, n) in zip(draws, sizes.items(), strict=True)
            }
            keys = jax.random.split(luck, batch)
            views, state, rewards, _, _ = jax.vmap(env.step)(keys, state, actions)
            # The views travel in the carry: unused results would be compiled away.
            return (key, views, state), sum(jnp.sum(r) for r in rewards.values())

        self._play = jax.jit(lambda carry: jax.lax.scan(one, carry, None, NUM_STEPS))
        keys = jax.random.split(jax.random.PRNGKey(0), batch)
        views, state = jax.jit(jax.vmap(env.reset))(keys)
        self.obs_bytes = views[env.agents[0]][0].nbytes
        self.carries = [(jax.random.PRNGKey(core), views, state) for core in range(CORES)]
        self.pool = ThreadPoolExecutor(CORES)
        self.play(0)

    def play(self, core: int) -> None:
        """Play `NUM_STEPS` of every match of one core."""
        self.carries[core], _ = jax.block_until_ready(self._play(self.carries[core]))

    def _keep_playing(self, core: int, seconds: float) -> float:
        began, calls = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            self.play(core)
            calls += 1
        return calls / (time.perf_counter() - began)

    def measure(self, seconds: float) -> dict[str, float]:
        """Play for `seconds` on every core."""
        wall, cpu = time.perf_counter(), time.process_time()
        calls = sum(self.pool.map(self._keep_playing, range(CORES), [seconds] * CORES))
        used = (time.process_time() - cpu) / (time.perf_counter() - wall)  # cores kept busy
        rate = calls * self.batch * self.num_agents * NUM_STEPS
        sizes = {"obs_bytes": self.obs_bytes, "batch": self.batch}
        return {"rate": rate, "rate_cpu": rate / used, **sizes}


def main() -> None:
    """Measure once, or once for every line on standard input."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--asked", action="store_true")
    options = parser.parse_args()
    matches = Matches(options.batch)
    for _ in sys.stdin if options.asked else range(1):
        print(json.dumps(matches.measure(options.seconds)), flush=True)


if __name__ == "__main__":
    main()
