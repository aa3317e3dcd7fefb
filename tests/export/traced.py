"""A bundle without its report: real graphs in seconds, for tests of what runs them."""

from levelcap.export.bundle import FILE, Deploy
from levelcap.export.exporter import describe
from levelcap.export.graphs import graphs_of
from levelcap.export.runtime import Hero, bear_witness
from levelcap.export.to_onnx import onnx_bytes
from levelcap.kit.files import dump_json
from levelcap.kit.publish import publish
from levelcap.nets.checkpoint import load_snapshot
from levelcap.nets.family import world_net


def trace_bundle(checkpoint, folder):
    """Publishes the bundle of a snapshot; neither speed nor parity are measured."""
    net, meta, digest = load_snapshot(checkpoint)
    graphs = graphs_of(world_net(net, meta), meta)
    data = {graph.name: onnx_bytes(graph) for graph in graphs}
    bundle = describe(meta, digest, graphs, Deploy())
    values = bundle.as_json()
    values["witness"] = bear_witness(Hero(bundle, data)).round(6).tolist()

    def write(place):
        (place / FILE).write_bytes(dump_json(values))
        for name, file in bundle.files().items():
            (place / file).write_bytes(data[name])

    publish(folder, write, made_by="test", parents=[digest])
