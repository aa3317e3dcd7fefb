"""Trained agent-steps a second of a hierarchy, and the ceiling of its net alone.

    python benchmarks/hierarchy_speed.py [--quick] [--world siege]

Ours: act, play and learn as `levelcap reinforce` does with the world's defaults (KL on, every step
used once). The ceiling: the same net acts for all lanes, decision by decision, pi_sup and the
learner unroll the same rows, loss, backward, optimizer, on constant data, in two threads that each
do both; no game and no bookkeeping. A second and a core-second are both printed: on a machine that
others use, too, the second is the firmer one.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from train_speed import Clock, optimizer_of

from levelcap.learn.engine.stops import Stops
from levelcap.learn.maths import heads
from levelcap.learn.rl.config import RlConfig, for_world
from levelcap.learn.rl.run import Request, reinforce
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.nets.meta import Meta
from levelcap.nets.net import Inputs, ViewLayout, choice_log_prob
from levelcap.play.sample import Sampler
from levelcap.world.spec import arena_spec

ARMS = {"lstm": 8_000, "ssd": 8_000, "transformer": 3_000}  # steps a second asked of each


def ours(world: str, meta: Meta, config: RlConfig, seconds: float) -> dict[str, float]:
    """`reinforce` itself, from an untrained snapshot."""
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start"
        save_snapshot(start, weights_of(new_net(meta, 0)), meta, "hierarchy_speed")
        request = Request(world, Path(folder) / "run", start, family="hierarchy")
        done = reinforce(request, config, Stops(minutes=seconds / 60))
    steps = done.progress.steps
    return {"per_s": steps / done.seconds, "per_cpu_s": steps / done.core_seconds}


def ceiling(world: str, meta: Meta, config: RlConfig, seconds: float) -> dict[str, float]:
    """The net alone, as often a step as in a run: acted with, unrolled by pi_sup, learned from."""
    spec = arena_spec(world)
    layout = ViewLayout.of(spec, meta.views)
    lanes, part = config.lanes, config.lanes // config.minibatches
    done, stop = [0, 0], threading.Event()

    def work(index: int) -> None:
        torch.manual_seed(index)
        net, acting, reference = (new_net(meta, seed).eval() for seed in (index, index, 9))
        optimizer, sampler = optimizer_of(net, config), Sampler(spec)
        seen = torch.randn(1, lanes, layout.size) * 0.3
        rows = torch.randn(config.unroll, part, layout.size) * 0.3
        keys = np.arange(lanes, dtype=np.uint64)
        mask = torch.ones(config.unroll, part, spec.mask_size, dtype=torch.uint8)
        act_mask = np.ones((lanes, spec.mask_size), np.uint8)
        never = torch.zeros(config.unroll, part, dtype=torch.bool)
        actions = torch.zeros(config.unroll, part, len(spec.heads), dtype=torch.long)
        advantage = torch.randn(config.unroll, part)
        chosen = torch.randint(0, net.num_choices, (config.unroll, part))
        state = acting.initial_state(lanes)
        while not stop.is_set():
            for _ in range(config.unroll):
                with torch.inference_mode():
                    chance = torch.from_numpy(sampler.chance(keys))[None]
                    out = acting.unroll(
                        Inputs(seen, layout, chance), state, never[:1, :1].expand(1, lanes)
                    )
                state = out.state
                sampler(out.logits[0].numpy(), act_mask, keys)
            for _ in range(config.minibatches):
                begin = net.initial_state(part)
                with torch.no_grad():
                    other = reference.unroll(Inputs(rows, layout), begin, never, chosen)
                    pi_sup = heads.split_log_softmax(other.logits, mask, meta.head_sizes)
                out = net.unroll(Inputs(rows, layout), begin, never, chosen)
                parts = heads.split_log_softmax(out.logits, mask, meta.head_sizes)
                used = heads.used_heads(actions, meta.aim_heads, meta.aim_users)
                taken = heads.joint_log_prob(parts, actions, used) + choice_log_prob(out)
                loss = -(taken * advantage).mean() + 0.25 * (out.values - advantage).square().mean()
                loss = loss + 0.05 * heads.kl_divergence(parts, pi_sup, used).mean()
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                done[index] += config.unroll * part

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(5.0)
    before, clock = sum(done), Clock()
    time.sleep(seconds)
    found = clock.rates(sum(done) - before)
    stop.set()
    for thread in threads:
        thread.join()
    return found


def main() -> None:
    """Every Strategist, ours and the ceiling one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", default="siege")
    parser.add_argument("--quick", action="store_true", help="the streaming default alone, 20 s")
    options = parser.parse_args()
    torch.set_num_threads(1)
    seconds = 20.0 if options.quick else 40.0
    config = for_world(options.world, "hierarchy")
    rows: dict[str, Any] = {}
    head = "".join(f"{name:>12}" for name in ("steps/s", "per CPU-s", "ceiling", "per CPU-s"))
    print(f"{'strategist':14}{head}{'share':>8}{'by CPU':>8}")
    for arm, asked in ARMS.items():
        if options.quick and arm != "lstm":
            continue
        meta = describe("hierarchy", arena_spec(options.world), "slim", options={"strategist": arm})
        mine = ours(options.world, meta, config, seconds)
        top = ceiling(options.world, meta, config, seconds)
        shares = [mine[name] / top[name] for name in ("per_s", "per_cpu_s")]
        rows[arm] = {"ours": mine, "ceiling": top, "share": shares[0], "share_cpu": shares[1]}
        figures = (mine["per_s"], mine["per_cpu_s"], top["per_s"], top["per_cpu_s"])
        print(f"{arm:14}" + "".join(f"{x:12,.0f}" for x in figures), end="")
        print(f"{shares[0]:8.2f}{shares[1]:8.2f}   (asked {asked:,})", flush=True)
    print(json.dumps({"world": options.world, "rows": rows}))


if __name__ == "__main__":
    main()
