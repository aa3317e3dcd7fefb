"""`levelcap nets`: every net with its true size and speed, a card of one checkpoint, its layers."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from levelcap.cli.options import AsJson
from levelcap.cli.printer import print_table, say, say_json, table
from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.nets.checkpoint import load_snapshot, load_world_net, save_snapshot, weights_of
from levelcap.nets.family import FAMILIES, WORLD_FAMILIES, describe, new_net
from levelcap.nets.hierarchy.layer import PARTS, ROLES, layer_meta
from levelcap.nets.hierarchy.lstm import Lstm
from levelcap.nets.hierarchy.shape import shape_of
from levelcap.nets.hierarchy.ssd import SsdStack
from levelcap.nets.meta import Meta
from levelcap.nets.net import Inputs, Net, ViewLayout, count_parameters
from levelcap.nets.options import OPTIONS
from levelcap.vault.ask import find_folder
from levelcap.world.spec import WORLDS, arena_spec

STEPS = 60  # decisions timed: six looks of a Strategist among them
FLOAT_BYTES = 4
# What others used, for scale: parameters, and where the figure is published.
OTHERS = (
    ("GPT-2", 124_000_000, "Radford et al. 2019, the smallest of the four"),
    ("AlphaStar", 139_000_000, "Vinyals et al. 2019, the policy; 55 M of them at inference"),
    ("OpenAI Five", 159_000_000, "Berner et al. 2019, the net of the world-champion match"),
)
# Parameters of each part as the design document has them, for the sizes it names.
DESIGN = {
    "seed": {
        "strategist": "1.2 M",
        "tactician": "120 k",
        "executor": "250 k (LSTM 1.3 M)",
        "all": "1.6 M, 73 times smaller than GPT-2",
    },
    "full": {
        "strategist": "3.59 M",
        "tactician": "361 k",
        "executor": "587 k with one block (LSTM 1.13 M)",
    },
}


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
    spec, rows = arena_spec(world), []
    for family in WORLD_FAMILIES:
        for size in FAMILIES[family].sizes:
            meta = describe(family, spec, size)
            net = new_net(meta)
            count, speed = count_parameters(net), step_speed(net, meta, world)
            rows.append((family, size, count, count * FLOAT_BYTES / 1e6, speed.p50, speed.p99))
    columns = ("net", "size", "parameters", "MB on disk", "ms a decision, p50", "p99")
    cells = [(*row[:2], f"{row[2]:,}", *(f"{number:.2f}" for number in row[3:])) for row in rows]
    print_table(table(columns, cells, right=columns[2:]))
    for family in WORLD_FAMILIES:
        options = OPTIONS.get(family, {})
        say(f"{family}: " + "; ".join(f"{n}={'|'.join(v)}" for n, v in options.items()))
    if json_:
        keys = ("family", "size", "parameters", "megabytes", "step_ms_p50", "step_ms_p99")
        nets = [dict(zip(keys, row, strict=True)) for row in rows]
        say_json({"world": world, "nets": nets})


def card(checkpoint: str, *, json_: AsJson = False) -> None:
    """The model card of a checkpoint: what it is, of what parts, how fast, beside known nets.

    Parameters
    ----------
    checkpoint
        An id, champion, best, latest or a folder.
    json_
        Print one JSON object as the last line.
    """
    place = find_folder(checkpoint)
    net, meta, digest = load_snapshot(place)
    total = count_parameters(net)
    parts = _parts(net)
    facts = {
        "net": f"{meta.architecture} {meta.size}",
        "world": f"{meta.world}, version {meta.world_version}, patch {meta.patch}",
        "trained": f"{meta.steps:,} decisions",
        "weights": digest[:16],
        "on disk": f"{(place / 'model.safetensors').stat().st_size / 1e6:.2f} MB",
        "reads": ", ".join(meta.views),
    }
    if "role" in meta.shape:
        facts["role"] = f"{meta.shape['role']}, the {meta.shape['layer']} of {meta.parents[0][:16]}"
    for name, fact in facts.items():
        say(f"{name:>8}  {fact}")
    design = DESIGN.get(meta.size, {}) if meta.architecture == "hierarchy" else {}
    rows = [
        (name, ROLES.get(name), f"{count:,}", f"{count / total:.0%}", design.get(name))
        for name, count in parts.items()
    ]
    rows.append(("all", None, f"{total:,}", "", design.get("all")))
    columns = ("part", "role", "parameters", "share", "as designed")
    print_table(table(columns, rows, right=columns[2:4]))
    others = [(name, f"{count:,}", f"{count / total:,.0f}", what) for name, count, what in OTHERS]
    named = ("beside", "parameters", "times as large", "source")
    print_table(table(named, others, right=named[1:3]))
    document: dict[str, object] = {"parts": parts, "parameters": total}
    if isinstance(net, Net):
        speed = step_speed(net, meta, meta.world)
        say(f"one decision of one player: p50 {speed.p50:.2f} ms, p99 {speed.p99:.2f} ms")
        document["step_ms_p50"] = speed.p50
    if meta.architecture == "hierarchy":
        document["memories"] = _show_memories(meta)
    if json_:
        say_json(document)


def split(checkpoint: str, out: Path) -> None:
    """Publish each layer of a hierarchy alone, with its role: strategy, decision, execution.

    Parameters
    ----------
    checkpoint
        An id, champion, best, latest or a folder; of a hierarchy.
    out
        A new folder; each layer becomes a folder of its own in it.
    """
    net, meta, digest = load_world_net(find_folder(checkpoint, reads=False))
    if meta.architecture != "hierarchy":
        remedy = "Give a snapshot that was trained with --family hierarchy"
        raise BadValue(refuse("only a hierarchy has layers", meta.architecture, remedy))
    weights = weights_of(net)
    for layer, parts in PARTS.items():
        mine = {name: t for name, t in weights.items() if name.split(".")[0] in parts}
        save_snapshot(out / ROLES[layer], mine, layer_meta(meta, layer, digest), "nets split")
        count = sum(tensor.numel() for tensor in mine.values())
        say(f"{out / ROLES[layer]}: {layer}, {count:,} numbers")


def _parts(net: nn.Module) -> dict[str, int]:
    """Parameters of each child of a net; heads count to the layer they serve."""
    owner = {name: layer for layer, names in PARTS.items() for name in names}
    found: Counter[str] = Counter()
    for name, child in net.named_children():
        found[owner.get(name, name)] += count_parameters(child)
    return dict(found)


def _show_memories(meta: Meta) -> dict[str, dict[str, float]]:
    """Which memory is faster where: an LSTM and a state-space block of the Executor's width."""
    shape, found = shape_of(meta), {}
    memories: dict[str, Lstm | SsdStack] = {
        "lstm": Lstm(shape.deed, shape.deed_layers),
        "ssd": SsdStack(shape.deed, shape.deed_layers, shape.state),
    }
    rows = []
    for name, memory in memories.items():
        step = _timed(memory, shape.deed, 1, 1, learns=False, times=20)
        learn = _timed(memory, shape.deed, 60, 64, learns=True, times=3)
        found[name] = {"step_ms": step, "learn_ms": learn}
        rows.append((name, f"{step:.2f}", f"{learn:.0f}"))
    columns = ("memory of the Executor", "one step, ms", "64 rows x 60 steps, learned, ms")
    print_table(table(columns, rows, right=True))
    return found


def _timed(
    memory: Lstm | SsdStack, width: int, steps: int, rows: int, *, learns: bool, times: int
) -> float:
    """Median milliseconds of a pass, with the way back if it learns."""
    x = torch.randn(steps, rows, width)
    reset, taken = torch.zeros(steps, rows, dtype=torch.bool), []
    for _ in range(times):
        began = time.perf_counter()
        with torch.set_grad_enabled(learns):
            y, _ = memory(x, memory.initial_state(rows), reset)
        if learns:
            y.square().sum().backward()
        taken.append(1e3 * (time.perf_counter() - began))
    return statistics.median(taken)


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
