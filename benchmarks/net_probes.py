"""What parts of a hierarchy cost, and how far they remember, without any match being played.

    python benchmarks/net_probes.py [--quick] [--seconds 20]

Strategists: one look at a past of T = 60 … 1,024 seconds with the way back, in core-milliseconds,
and what autograd keeps for it. Kinds of attention alone. Executors: one step of one player, against
120 a second. A delayed cue: +-1 is shown once, noise follows, it is asked for 60, 240 or 1,024
decisions later; each memory learns this for the same core-seconds (equal width, AdamW). The last
line is one JSON object. `net_options.py` takes its rows from here.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from levelcap.nets.family import describe, new_net
from levelcap.nets.hierarchy import strategist as strategists
from levelcap.nets.hierarchy.attention import attend
from levelcap.nets.hierarchy.executor import Executor
from levelcap.nets.hierarchy.shape import GOAL, HISTORY, OPTIONS, SIZES, TARGET
from levelcap.nets.net import count_parameters
from levelcap.world.spec import arena_spec

SECONDS_BACK = (60, 120, 240, 1024)
DELAYS = (60, 240, 1024)
ROWS = 8
SPEC = arena_spec("siege")
CUE_ROWS, CUE_LR, CUE_EXAM = 32, 3e-3, 512


def make(name: str, back: int, **options: Any) -> nn.Module:
    """A Strategist of slim's width that can look so far back."""
    strategists.HISTORY = back  # the window's length is a constant of play
    torch.manual_seed(0)
    shape = replace(SIZES["slim"], strategist=name, **options)
    return strategists.make_strategist(SPEC.views["summary"].size, shape)


def look(net: nn.Module, summaries: torch.Tensor) -> torch.Tensor:
    """The plan [R, W] at the end of T summaries [T, R, 192]."""
    back, rows = summaries.shape[:2]
    state = net.initial_state(rows)
    if "ring" in state:  # a window: all but the last are in the ring
        ring = torch.cat((torch.zeros(1, *summaries.shape[1:]), summaries[:-1])).transpose(0, 1)
        state = {"ring": ring, "seen": torch.full((rows,), back - 1)}
        summaries = summaries[-1:]
    reset = torch.zeros(summaries.shape[:2], dtype=torch.bool)
    return net(summaries, state, reset, None)[0][-1]


def core_ms(work: Any, times: int) -> float:
    """Median core-milliseconds: what else the machine does counts little."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        work()
        taken.append(1e3 * (time.process_time() - began))
    return statistics.median(taken)


def kept_mb(work: Any) -> float:
    """What autograd keeps for the way back."""
    sizes: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        # A nested tensor has no storage of its own to ask.
        plain = not tensor.is_nested
        key = tensor.untyped_storage().data_ptr() if plain else id(tensor)
        sizes[key] = tensor.untyped_storage().nbytes() if plain else 4 * tensor.numel()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        work()
    return sum(sizes.values()) / 1e6


def strategist_costs(times: int) -> dict[str, dict[str, float]]:
    """Core-ms and MB of a look with the way back, 8 rows, by option and T."""
    found: dict[str, dict[str, float]] = {}
    for name in OPTIONS["strategist"]:
        found[name] = {}
        for back in SECONDS_BACK:
            net, summaries = make(name, back), torch.randn(back, ROWS, 192)
            forward = lambda: look(net, summaries)  # noqa: B023, E731
            both = lambda: forward().square().sum().backward()  # noqa: B023, E731
            both()
            found[name][f"ms_{back}"] = core_ms(both, times)
            found[name][f"mb_{back}"] = kept_mb(forward)
        # Last at the length of play, which is what whoever trains afterwards must find.
        found[name]["parameters"] = count_parameters(make(name, HISTORY))
    return found


def attention_costs(times: int) -> dict[str, dict[str, float]]:
    """Core-ms of attention alone with the way back: 64 windows of 60, 4 heads of 12, full and half
    filled, and of the whole Strategist."""
    found: dict[str, dict[str, float]] = {}
    for kind in OPTIONS["attention"]:
        found[kind] = {}
        for share, label in ((1.0, "full"), (0.5, "half")):
            torch.manual_seed(0)
            q, k, v = (torch.randn(64, 4, 60, 12, requires_grad=True) for _ in range(3))
            mask = torch.arange(60, 0, -1) <= (60 * share * torch.ones(64, 1)).clamp(min=1)
            forward = lambda: attend(q, k, v, mask, kind)  # noqa: B023, E731
            both = lambda: forward().sum().backward()  # noqa: B023, E731
            both()
            found[kind][f"ms_{label}"] = core_ms(both, times)
            found[kind][f"mb_{label}"] = kept_mb(forward)
        net, summaries = make("transformer", 60, attention=kind), torch.randn(60, 64, 192)
        whole = lambda: look(net, summaries).sum().backward()  # noqa: B023, E731
        whole()
        found[kind]["ms_strategist"] = core_ms(whole, times)
    return found


@torch.inference_mode()
def executor_steps(times: int) -> dict[str, dict[str, float]]:
    """Wall-ms of one step of one player, and steps a second, of each Executor."""
    found: dict[str, dict[str, float]] = {}
    body = SPEC.views["body"].size
    for name in OPTIONS["executor"]:
        shape = replace(SIZES["slim"], executor=name, state=64)
        heads = tuple(head.size for head in SPEC.heads)
        net = Executor(body, heads, SPEC.aim_heads, shape).eval()
        state, reset = net.initial_state(1), torch.zeros(1, 1, dtype=torch.bool)
        inputs = [torch.randn(1, 1, n) for n in (body, GOAL, 2, TARGET)]
        taken = []
        for _ in range(times + 20):
            began = time.perf_counter()
            _, _, state = net(*inputs, state, reset)
            taken.append(1e3 * (time.perf_counter() - began))
        p50 = statistics.median(taken[20:])
        carried = sum(t.numel() for t in state.values())
        found[name] = {"step_ms": p50, "hz": 1e3 / p50, "state_numbers": carried}
        found[name]["parameters"] = count_parameters(net)
    return found


def cue(name: str, delay: int, seconds: float) -> dict[str, float]:
    """Share of cues recalled after so many core-seconds of learning; chance is one half."""
    net, read = make(name, delay + 1), nn.Linear(SIZES["slim"].plan, 2)
    steps = torch.optim.AdamW([*net.parameters(), *read.parameters()], CUE_LR)
    chance = torch.Generator().manual_seed(1)

    def shown(rows: int) -> tuple[torch.Tensor, torch.Tensor]:
        summaries = 0.1 * torch.randn(delay + 1, rows, 192, generator=chance)
        side = torch.randint(2, (rows,), generator=chance)
        summaries[0, :, 0], summaries[-1, :, 1] = 2.0 * side - 1, 1.0
        return summaries, side

    began, updates = time.process_time(), 0
    while time.process_time() - began < seconds:
        summaries, side = shown(CUE_ROWS)
        loss = nn.functional.cross_entropy(read(look(net, summaries)), side)
        steps.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        steps.step()
        updates += 1
    with torch.no_grad():
        right = [
            (read(look(net, summaries)).argmax(-1) == side).float().mean().item()
            for summaries, side in (shown(CUE_ROWS) for _ in range(CUE_EXAM // CUE_ROWS))
        ]
    return {"accuracy": statistics.mean(right), "updates": updates}


def cue_table(seconds: float) -> dict[str, dict[str, float]]:
    """`cue` of the three kinds of memory at each delay."""
    found: dict[str, dict[str, float]] = {}
    for name in ("ssd", "lstm", "transformer"):
        found[name] = {}
        for delay in DELAYS:
            for key, value in cue(name, delay, seconds).items():
                found[name][f"{key}_{delay}"] = value
    strategists.HISTORY = HISTORY
    return found


def sizes() -> dict[str, dict[str, float]]:
    """Parameters of each size, and how many times smaller than GPT-2 it is."""
    found = {}
    for size in SIZES:
        count = count_parameters(new_net(describe("hierarchy", SPEC, size)))
        found[size] = {"parameters": count, "gpt2_times": 124e6 / count}
    return found


def show(title: str, table: dict[str, dict[str, float]]) -> None:
    """A row a name, a column a number."""
    columns = list(next(iter(table.values())))
    print(f"\n{title}\n{'':12}" + "".join(f"{c:>15}" for c in columns))
    for name, row in table.items():
        print(f"{name:12}" + "".join(f"{row[c]:15,.3f}" for c in columns), flush=True)


def main() -> None:
    """All of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="core-seconds a cue")
    parser.add_argument("--quick", action="store_true", help="3 times each, 1 core-second a cue")
    options = parser.parse_args()
    torch.set_num_threads(1)
    times, seconds = (3, 1.0) if options.quick else (15, options.seconds)
    found = {
        "sizes": sizes(),
        "strategists": strategist_costs(times),
        "attention": attention_costs(times),
        "executors": executor_steps(100 * times),
        "cue": cue_table(seconds),
    }
    for title, table in found.items():
        show(title, table)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
