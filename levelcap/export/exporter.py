"""`ModelExporter`: a checkpoint as a bundle that needs no torch and has proven to play the same.

ModelExporter(Path("runs/…/snapshots/step-9000")).export("onnx", Path("exports/kestrel"))
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import levelcap
from levelcap.export.bundle import FILE, MEMORY, REPORT, Bundle, Deploy, GraphFile, Port
from levelcap.export.graphs import Graph, graphs_of
from levelcap.export.parity import Report, report
from levelcap.export.policy import BundlePolicy
from levelcap.export.runtime import Hero, bear_witness
from levelcap.export.targets import TARGETS, Made
from levelcap.kit.errors import Corrupt, MissingPackage, refuse, unknown_name
from levelcap.kit.files import dump_json
from levelcap.kit.publish import publish
from levelcap.learn.engine.worlds import spec_of_world
from levelcap.nets.checkpoint import load_snapshot
from levelcap.nets.family import world_net
from levelcap.nets.meta import Meta
from levelcap.nets.text.qwen3 import Qwen3Net
from levelcap.nets.text.tokens import character_tokens
from levelcap.play.answers import TextHero
from levelcap.play.load import NetPolicy
from levelcap.world.spec import INTENTS

MIN_AGREEMENT = 0.999


class ModelExporter:
    """Exports one checkpoint; tracing is done once, whatever it is exported to."""

    def __init__(
        self, checkpoint: Path, deploy: Deploy | None = None, like: bytes | None = None
    ) -> None:
        """checkpoint: a snapshot's folder, verified byte by byte.

        like: the graph of a flat net as deep, which needs other weights only; tracing takes
        seconds, and whether the result decides alike is measured in any case.
        """
        self.net, self.meta, self.digest = load_snapshot(checkpoint)
        self.deploy = deploy or Deploy()
        self._like = like
        self._made: Made | None = None

    def export(self, to: str, folder: Path, made: Made | None = None) -> Report:
        """Publish a bundle for one target; returns its report.

        made: other graphs of the same checkpoint, e.g. quantised ones; None: as traced.

        Raises:
            UnknownName: no such target. BadValue: a net that cannot be traced.
            Corrupt: the bundle decides otherwise than the original; nothing is published.
            Conflict: the folder exists.
        """
        if to not in TARGETS:
            raise unknown_name("export target", to, TARGETS)
        made = made or self.made()
        more = TARGETS[to](made)
        found = replace(made.report, target=to, notes=more.notes)

        def write(place: Path) -> None:
            (place / FILE).write_bytes(dump_json(made.bundle.as_json()))
            (place / REPORT).write_bytes(dump_json(found.as_json()))
            for name, file in made.bundle.files().items():
                (place / file).write_bytes(made.graphs[name])
            for name, data in more.files.items():
                (place / name).write_bytes(data)

        author = f"levelcap {levelcap.__version__} export {to}"
        publish(folder, write, made_by=author, parents=[self.digest])
        return found

    def made(self) -> Made:
        """The traced graphs, compared with the original."""
        if self._made is None:
            self._made = self._trace()
        return self._made

    def _trace(self) -> Made:
        try:
            from levelcap.export.to_onnx import onnx_bytes, with_weights
        except ImportError as error:
            what = f"export needs packages that are not here ({error})"
            raise MissingPackage(f"{what}; run: pip install levelcap[export]") from error
        if isinstance(self.net, Qwen3Net):
            return self._trace_text(self.net)
        graphs = graphs_of(world_net(self.net, self.meta), self.meta)
        like = self._like
        data = {
            graph.name: (like and with_weights(like, graph.module)) or onnx_bytes(graph)
            for graph in graphs
        }
        return _proven(self.compared(describe(self.meta, self.digest, graphs, self.deploy), data))

    def compared(self, bundle: Bundle, data: dict[str, bytes]) -> Made:
        """Graphs of this checkpoint as a bundle, with how far it decides as the original does."""
        # A policy each: working memory is not shared.
        net = world_net(self.net, self.meta)
        original = NetPolicy(net, self.meta, self.digest, greedy=True)
        original.fit(spec_of_world(self.meta.world, self.meta.patch))
        hero = Hero(bundle, data)
        seen = tuple(tuple(float(x) for x in row) for row in bear_witness(hero).round(6))
        hero.bundle = bundle = replace(bundle, witness=seen)
        exported = BundlePolicy(hero, greedy=True)
        sizes = {name: len(graph) for name, graph in data.items()}
        return Made(bundle, data, report(original, exported, sizes))

    def _trace_text(self, net: Qwen3Net) -> Made:
        from levelcap.export.text_graph import make_text

        hero = TextHero(net, character_tokens(net.shape), self.meta, self.digest)
        bundle, data, found = make_text(hero)
        return _proven(Made(bundle, {"text": data}, found))


def _proven(made: Made) -> Made:
    share = made.report.parity.action_agreement
    if share < MIN_AGREEMENT:
        remedy = "Keep the original, and report this: the graphs are wrong"
        raise Corrupt(refuse(f"fewer than {MIN_AGREEMENT} equal decisions", share, remedy))
    return made


def describe(meta: Meta, digest: str, graphs: tuple[Graph, ...], deploy: Deploy) -> Bundle:
    """The description of a net's graphs."""
    spec = spec_of_world(meta.world, meta.patch)
    views = {name: tuple(spec.views[name].shape) for name in meta.views}
    return Bundle(
        kind=meta.architecture,
        world=meta.world,
        world_version=meta.world_version,
        patch=meta.patch,
        views=views,
        heads=dict(zip(meta.head_names, meta.head_sizes, strict=True)),
        aim_heads=meta.aim_heads,
        aim_users=meta.aim_users,
        decision_ticks=meta.decision_ticks,
        tick_hz=meta.tick_hz,
        source=digest,
        graphs={graph.name: _file_of(graph) for graph in graphs},
        period=int(meta.shape.get("period", 0)),
        modes=tuple(INTENTS) if meta.architecture == "hierarchy" else (),
        deploy=replace(deploy),
    )


def _file_of(graph: Graph) -> GraphFile:
    """What goes in and comes out; outputs are asked of the module itself."""
    import torch

    with torch.no_grad():
        out = graph.module(*graph.inputs.values())
    ports = (
        {name: Port(str(t.dtype).removeprefix("torch."), tuple(t.shape[1:])) for name, t in side}
        for side in (graph.inputs.items(), zip(graph.outputs, out, strict=True))
    )
    inputs, outputs = ports
    memory = tuple(name for name in graph.memory if name.startswith(MEMORY))
    return GraphFile(f"{graph.name}.onnx", inputs, outputs, memory)
