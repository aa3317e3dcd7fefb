"""`levelcap nets`: every net with its true size and speed, and a card of one checkpoint."""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from levelcap.cli.options import AsJson
from levelcap.kit.errors import unknown_name
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.nets.checkpoint import load_world_net
from levelcap.nets.family import FAMILIES, WORLD_FAMILIES, describe, new_net
from levelcap.nets.meta import Meta
from levelcap.nets.net import Inputs, Net, ViewLayout, count_parameters
from levelcap.nets.options import OPTIONS
from levelcap.world.spec import WORLDS, arena_spec

STEPS = 60  # decisions timed: six looks of a Strategist among them
FLOAT_BYTES = 4
# What others used, for scale: parameters, and where the figure is published.
OTHERS = (
    ("GPT-2", 124_000_000, "Radford et al. 2019, the smallest of the four"),
    ("AlphaStar", 55_000_000, "Vinyals et al. 2019, the agent without its critic"),
    ("OpenAI Five", 159_000_000, "Berner et al. 2019, the net of the world-champion match"),
)
LAYERS = {"strategist": "strategy", "tactician": "decision", "executor": "execution"}


@dataclass(frozen=True)
class Speed:
    """Milliseconds of one decision of one player."""

    p50: float
    p99: float


def ls(*, world: str = "siege", json_: AsJson = False) -> None:
    """List every net of a world: parameters, size on disk, time of one decision.

    Parameters
    ----------
    world
        duel, lms, siege or crown.
    json_
        Print one JSON object as the last line.
    """
    if world not in WORLDS:
        raise unknown_name("world", world, WORLDS)
    console, spec, rows = Console(highlight=False), arena_spec(world), []
    for family in WORLD_FAMILIES:
        for size in FAMILIES[family].sizes:
            meta = describe(family, spec, size)
            net = new_net(meta)
            speed = step_speed(net, meta, world)
            rows.append(
                {
                    "family": family,
                    "size": size,
                    "parameters": count_parameters(net),
                    "megabytes": count_parameters(net) * FLOAT_BYTES / 1e6,
                    "step_ms_p50": speed.p50,
                    "step_ms_p99": speed.p99,
                }
            )
    table = Table("net", "size", "parameters", "MB on disk", "ms a decision, p50", "p99")
    for row in rows:
        table.add_row(
            str(row["family"]),
            str(row["size"]),
            f"{row['parameters']:,}",
            f"{row['megabytes']:.2f}",
            f"{row['step_ms_p50']:.2f}",
            f"{row['step_ms_p99']:.2f}",
        )
    console.print(table)
    for family in WORLD_FAMILIES:
        options = OPTIONS.get(family, {})
        console.print(f"{family}: " + "; ".join(f"{n}={'|'.join(v)}" for n, v in options.items()))
    if json_:
        console.print(json.dumps({"world": world, "nets": rows}), soft_wrap=True)


def card(checkpoint: Path, *, json_: AsJson = False) -> None:
    """The model card of a checkpoint: what it is, of what parts, how fast, beside known nets.

    Parameters
    ----------
    checkpoint
        A snapshot folder.
    json_
        Print one JSON object as the last line.
    """
    console = Console(highlight=False)
    net, meta, digest = load_world_net(checkpoint)
    total = count_parameters(net)
    parts = _parts(net)
    facts = {
        "net": f"{meta.architecture} {meta.size}",
        "world": f"{meta.world}, version {meta.world_version}, patch {meta.patch}",
        "trained": f"{meta.steps:,} decisions",
        "weights": digest[:16],
        "on disk": f"{(checkpoint / 'model.safetensors').stat().st_size / 1e6:.2f} MB",
        "reads": ", ".join(meta.views),
    }
    for name, fact in facts.items():
        console.print(f"{name:>8}  {fact}")
    table = Table("part", "role", "parameters", "share")
    for name, count in parts.items():
        table.add_row(name, LAYERS.get(name, ""), f"{count:,}", f"{count / total:.0%}")
    table.add_row("all", "", f"{total:,}", "")
    console.print(table)
    beside = Table("beside", "parameters", "times as large", "source")
    for name, count, source in OTHERS:
        beside.add_row(name, f"{count:,}", f"{count / total:,.0f}", source)
    console.print(beside)
    speed = step_speed(net, meta, meta.world)
    console.print(f"one decision of one player: p50 {speed.p50:.2f} ms, p99 {speed.p99:.2f} ms")
    if json_:
        document = {"parts": parts, "parameters": total, "step_ms_p50": speed.p50}
        console.print(json.dumps(document), soft_wrap=True)


def _parts(net: Net) -> dict[str, int]:
    """Parameters of each child of a net."""
    return {name: count_parameters(child) for name, child in net.named_children()}


@torch.inference_mode()
def step_speed(net: Net, meta: Meta, world: str) -> Speed:
    """Decide alone, one decision after the other, and take the time."""
    net.eval()
    # A second thread waits longer for its core than the whole decision takes.
    torch.set_num_threads(1)
    layout = ViewLayout.of(spec_of_world(world), meta.views)
    generator = torch.Generator().manual_seed(0)
    state, reset, taken = net.initial_state(1), torch.zeros(1, 1, dtype=torch.bool), []
    for step in range(2 * STEPS):
        views = Inputs(torch.randn(1, 1, layout.size, generator=generator), layout)
        began = time.perf_counter()
        state = net.unroll(views, state, reset).state
        # The first half warms caches up.
        if step >= STEPS:
            taken.append(1e3 * (time.perf_counter() - began))
    return Speed(statistics.median(taken), sorted(taken)[-1 - len(taken) // 100])
