"""What a bundle says of itself: `bundle.json` beside its graphs, in a published folder.

    exports/<name>/
        bundle.json       kind, views, heads, graphs with what goes in and comes out, deployment
        policy.onnx …     the graphs
        report.json       parity with the original, latency, size, energy: measured when exported
        manifest.json     sha256 of every file, written last

Needs the standard library and numpy, nothing else. Everything in a bundle is data: numbers are
checked against each other before a graph is loaded, and no name in it is ever run or opened outside
its folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from levelcap.kit.errors import BadFile, Conflict, refuse
from levelcap.kit.files import read_json
from levelcap.kit.publish import verify

FORMAT = 1
FILE, REPORT = "bundle.json", "report.json"
KINDS = {"flat": ("policy",), "hierarchy": ("strategist", "tactician", "executor")}
MEMORY = ("plan.", "deed.")  # prefixes of what a graph remembers
MAX_JSON_BYTES, MAX_GRAPH_BYTES = 1 << 20, 512 << 20
MAX_SIZE, MAX_AXES = 1 << 20, 6  # of one axis, and how many
DTYPES = ("float32", "int64")
ORDERED = ("views", "heads", "graphs")
NAME = re.compile(r"[a-z][a-z0-9_.]{0,63}")
REMEDY = "Export the checkpoint again: levelcap export CHECKPOINT --to onnx"


@dataclass(frozen=True)
class Port:
    """One input or output of a graph: its type, and its shape without the rows."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class GraphFile:
    """A graph of the bundle; `memory` are the inputs that come back as `next_<name>`."""

    file: str
    inputs: dict[str, Port]
    outputs: dict[str, Port]
    memory: tuple[str, ...] = ()


@dataclass(frozen=True)
class Deploy:
    """How it is meant to be run."""

    threads: int = 1
    batch: int = 1
    latency_budget_ms: float = 10.0
    device: str = "cpu"


@dataclass(frozen=True)
class Bundle:
    """Everything a runtime needs to know."""

    kind: str
    world: str
    world_version: int
    patch: str
    views: dict[str, tuple[int, ...]]
    """shapes of the views it reads, a row each, in the order in which they are packed"""
    heads: dict[str, int]
    """bins of each action head, in order"""
    aim_heads: tuple[int, ...]
    aim_users: tuple[int, ...]
    decision_ticks: int
    tick_hz: int
    source: str
    """sha256 of the weights it was made of"""
    graphs: dict[str, GraphFile]
    period: int = 0
    """decisions between two looks of the Strategist"""
    modes: tuple[str, ...] = ()
    witness: tuple[tuple[float, ...], ...] = ()
    """logits of `runtime.bear_witness` on the machine that exported it, a row each"""
    deploy: Deploy = field(default_factory=Deploy)
    format: int = FORMAT

    def files(self) -> dict[str, str]:
        """File of each graph by its name."""
        return {name: graph.file for name, graph in self.graphs.items()}

    def as_json(self) -> dict[str, Any]:
        """Plain values, for `bundle.json`: where order counts, tables become lists of pairs."""
        values = asdict(self)
        return values | {name: list(values[name].items()) for name in ORDERED}


def bundle_name(checkpoint: str, target: str) -> str:
    """Folder of a checkpoint's bundle under `exports/`, by the checkpoint's id."""
    return f"{checkpoint}-{target}"


def read_bundle(folder: Path) -> Bundle:
    """The description of a bundle, after every byte of its folder was compared.

    Raises:
        BadFile: no such folder, or no bundle. Corrupt: damaged. Conflict: of a newer version.
    """
    if not folder.is_dir():
        raise BadFile(refuse("no such bundle folder", str(folder), "Give its path"))
    manifest = verify(folder)
    if FILE not in manifest.files:
        raise BadFile(refuse(f"no bundle: {FILE} is missing", folder.name, REMEDY))
    if manifest.files[FILE]["bytes"] > MAX_JSON_BYTES:
        raise BadFile(refuse(f"{FILE} is too long", manifest.files[FILE]["bytes"], REMEDY))
    bundle = bundle_from_json(read_json(folder / FILE))
    for graph in bundle.graphs.values():
        if graph.file not in manifest.files:
            raise BadFile(refuse("a graph of the bundle is missing", graph.file, REMEDY))
        if manifest.files[graph.file]["bytes"] > MAX_GRAPH_BYTES:
            size = manifest.files[graph.file]["bytes"]
            raise BadFile(refuse(f"{graph.file} is too large", size, REMEDY))
    return bundle


def bundle_from_json(values: Any) -> Bundle:
    """Read `bundle.json`'s content back, checked.

    Raises:
        BadFile: naming what is wrong. Conflict: another format.
    """
    if isinstance(values, dict) and values.get("format") != FORMAT:
        remedy = (
            f"This version reads format {FORMAT}: use the levelcap that wrote it, or export anew"
        )
        raise Conflict(refuse("a bundle of another format", values.get("format"), remedy))
    try:
        bundle = _built(values)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise BadFile(refuse(f"{FILE} does not describe a bundle", str(error), REMEDY)) from error
    _check(bundle)
    return bundle


def _built(values: dict[str, Any]) -> Bundle:
    """Types and names; a key too many or too few raises TypeError."""
    made = dict(values)
    made["views"] = {_name(n): _shape(shape) for n, shape in values["views"]}
    made["heads"] = {_name(n): _count(size) for n, size in values["heads"]}
    made["graphs"] = {_name(n): _graph(graph) for n, graph in values["graphs"]}
    if any(len(made[name]) != len(values[name]) for name in ORDERED):
        raise ValueError("a name stands twice")
    for name in ("aim_heads", "aim_users"):
        made[name] = tuple(_count(index, 0) for index in values[name])
    for name in ("decision_ticks", "tick_hz", "world_version"):
        made[name] = _count(values[name])
    made["period"] = _count(values["period"], 0)
    made["modes"] = tuple(_text(mode) for mode in values["modes"])
    made["witness"] = tuple(tuple(_number(x) for x in row) for row in values["witness"])
    for name in ("kind", "world", "patch", "source"):
        made[name] = _text(values[name])
    deploy = values["deploy"]
    budget = float(deploy["latency_budget_ms"])
    threads, batch = _count(deploy["threads"]), _count(deploy["batch"])
    made["deploy"] = Deploy(threads, batch, budget, _text(deploy["device"]))
    return Bundle(**made)


def _check(bundle: Bundle) -> None:
    """Parts that must fit each other."""
    kind = KINDS.get(bundle.kind)
    if kind is None:
        raise BadFile(refuse("a kind of bundle nobody knows", bundle.kind, REMEDY))
    heads = sum(bundle.heads.values())
    last = bundle.graphs.get(kind[-1])
    numbers = sum(_size(shape) for shape in bundle.views.values())
    policy = bundle.graphs.get("policy")
    wrong = {
        "graphs": tuple(bundle.graphs) != kind,
        "heads": not bundle.heads or last is None or _shape_of(last, "logits") != (heads,),
        "aim": max((*bundle.aim_heads, *bundle.aim_users, 0)) >= max(1, len(bundle.heads)),
        "views": bundle.kind == "flat" and (policy is None or _fed(policy) != (numbers,)),
        "layers": bundle.kind == "hierarchy" and not _layers_fit(bundle),
        "witness": any(len(row) != heads for row in bundle.witness) or not bundle.witness,
        "deploy": bundle.deploy.latency_budget_ms <= 0 or bundle.deploy.device != "cpu",
        "memory": any(not _memory_fits(graph) for graph in bundle.graphs.values()),
    }
    odd = [name for name, bad in wrong.items() if bad]
    if odd:
        raise BadFile(refuse(f"{FILE}: parts do not fit each other", ", ".join(odd), REMEDY))


def _layers_fit(bundle: Bundle) -> bool:
    """What one layer gives is what the next one takes."""
    if set(bundle.graphs) != set(KINDS["hierarchy"]) or bundle.period < 1:
        return False
    plan, scene, deed = (bundle.graphs[name] for name in KINDS["hierarchy"])
    modes = len(bundle.modes)
    goal = _shape_of(deed, "goal", given=True)
    views = {"summary": plan, "objects": scene, "body": deed}
    return (
        modes > 0
        and _shape_of(plan, "mode_logits") == (modes,)
        and goal is not None
        and _shape_of(plan, "goals") == (modes, *goal)
        and _shape_of(scene, "goal", given=True) == goal
        and _shape_of(plan, "confidence") == ()
        and all(_shape_of(scene, n) == _shape_of(deed, n, given=True) for n in ("position", "info"))
        and _shape_of(plan, "pooled") == _shape_of(deed, "pooled", given=True)
        and set(bundle.views) == set(views)
        and all(_shape_of(g, n, given=True) == bundle.views[n] for n, g in views.items())
    )


def _memory_fits(graph: GraphFile) -> bool:
    """A memory comes back as it went in, and nothing else bears its prefix."""
    told = {name for name in graph.inputs if name.startswith(MEMORY)}
    return told == set(graph.memory) and all(
        graph.inputs[name] == graph.outputs.get(f"next_{name}") for name in graph.memory
    )


def _shape_of(graph: GraphFile, name: str, given: bool = False) -> tuple[int, ...] | None:
    port = (graph.inputs if given else graph.outputs).get(name)
    return None if port is None else port.shape


def _fed(policy: GraphFile) -> tuple[int, ...] | None:
    return _shape_of(policy, "inputs", given=True)


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for axis in shape:
        size *= axis
    return size


def _graph(values: Mapping[str, Any]) -> GraphFile:
    file = _text(values["file"])
    if not NAME.fullmatch(file) or ".." in file:
        raise ValueError(f"a graph's file is called {file!r}")
    ports = (
        {_name(n): _port(p) for n, p in values[side].items()} for side in ("inputs", "outputs")
    )
    inputs, outputs = ports
    if set(values) != {"file", "inputs", "outputs", "memory"}:
        raise ValueError(f"a graph has {sorted(values)}")
    return GraphFile(file, inputs, outputs, tuple(_name(name) for name in values["memory"]))


def _port(values: Mapping[str, Any]) -> Port:
    if set(values) != {"dtype", "shape"} or values["dtype"] not in DTYPES:
        raise ValueError(f"a port is {dict(values)}")
    return Port(values["dtype"], _shape(values["shape"]))


def _shape(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list | tuple) or len(values) > MAX_AXES:
        raise ValueError(f"a shape is {values!r}")
    return tuple(_count(axis) for axis in values)


def _count(value: Any, least: int = 1) -> int:
    if type(value) is not int or not least <= value <= MAX_SIZE:
        raise ValueError(f"a number is {value!r}")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not abs(value) < 1e6:
        raise ValueError(f"a number is {value!r}")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 200:
        raise ValueError(f"a word is {value!r}")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise ValueError(f"a name is {value!r}")
    return value
