"""A graph as ONNX bytes, by torch's dynamo exporter, with any number of rows."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from typing import Any

import onnx
import torch
from torch import Tensor, nn
from torch.export import Dim

from levelcap.export.graphs import Graph

OPSET = 20
MOST_ROWS = 4096
# What the exporter itself warns of: its own tree specs, and one name for all batch axes.
NOISE = (("isinstance", FutureWarning), ("axis name", UserWarning), ("LeafSpec", FutureWarning))


def onnx_bytes(graph: Graph) -> bytes:
    """The graph as a model file; the number of rows is its only free size."""
    rows = Dim("rows", min=1, max=MOST_ROWS)
    names = list(graph.inputs)
    shapes = tuple({0: rows} for _ in names)
    positional = sum(1 for name in names if name not in graph.memory)
    dynamic = (*shapes[:positional], *((shapes[positional:],) if graph.memory else ()))
    return traced(graph.module, graph.inputs, graph.outputs, dynamic)


def traced(
    module: nn.Module, inputs: dict[str, Tensor], outputs: Sequence[str], dynamic: tuple[Any, ...]
) -> bytes:
    """A module as a model file; dynamic: the free sizes of each argument."""
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it tells that torchvision is absent
    with warnings.catch_warnings(), torch.no_grad():
        for words, kind in NOISE:
            warnings.filterwarnings("ignore", f".*{words}", kind)
        program = torch.onnx.export(
            module.eval(),
            tuple(inputs.values()),
            dynamo=True,
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_shapes=dynamic,
            opset_version=OPSET,
            verbose=False,
        )
    assert program is not None
    return _bare(program.model_proto).SerializeToString(deterministic=True)


def with_weights(graph: bytes, module: nn.Module) -> bytes | None:
    """The same nodes with the weights of another module, whose widths may differ.

    None: not every weight has a place of its own; the exporter merges equal ones.
    """
    model = onnx.load_from_string(graph)
    weights = module.state_dict()
    places = {part.name: part for part in model.graph.initializer if part.name in weights}
    if set(places) != set(weights):
        return None
    for name, part in places.items():
        part.CopyFrom(onnx.numpy_helper.from_array(weights[name].numpy(), name))
    return model.SerializeToString(deterministic=True)


def _bare(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without the exporter's notes: where each node came from, on this very machine."""
    del model.metadata_props[:], model.graph.value_info[:], model.graph.metadata_props[:]
    for part in (*model.graph.node, *model.graph.initializer, *model.graph.input):
        part.ClearField("doc_string")
        del part.metadata_props[:]
    for function in model.functions:
        del function.metadata_props[:], function.value_info[:]
        for node in function.node:
            node.ClearField("doc_string")
            del node.metadata_props[:]
    return model
