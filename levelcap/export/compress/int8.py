"""A flat bundle's graph with whole numbers of 8 bits in its matrix products.

After training, not during it: ranges are those of real observations (static quantisation, QDQ,
a scale a row of weights). Static, because with ranges of the moment a player's decision would
depend on who else is in the batch. Weights keep to 7 bits: processors without VNNI add pairs of
products in 16 bits, which 8 overflow. Inputs and outputs stay float32, so a bundle is run as any
other.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from levelcap.export.bundle import Bundle
from levelcap.export.exporter import ModelExporter
from levelcap.export.targets import Made

PRODUCTS = ["Gemm", "MatMul"]


class _Rows(CalibrationDataReader):  # type: ignore[misc]
    """Observations in portions, once."""

    def __init__(self, rows: NDArray[np.float32]) -> None:
        self._parts: Iterator[NDArray[np.float32]] = iter(np.array_split(rows, 8))

    def get_next(self) -> dict[str, Any] | None:
        part = next(self._parts, None)
        return None if part is None else {"inputs": part}


def quantised(
    exporter: ModelExporter, bundle: Bundle, graph: bytes, rows: NDArray[np.float32]
) -> Made:
    """A bundle's graph with int8 products; rows [n, D]: observations that set the ranges."""
    return exporter.compared(bundle, {"policy": int8_bytes(graph, rows)})


def int8_bytes(graph: bytes, rows: NDArray[np.float32]) -> bytes:
    """A float graph as an int8 one."""
    with tempfile.TemporaryDirectory(prefix="levelcap-int8-") as place:
        whole, small = Path(place) / "float.onnx", Path(place) / "int8.onnx"
        whole.write_bytes(graph)
        quant_pre_process(whole, whole, skip_symbolic_shape=True)
        model = onnx.load(whole)
        del model.graph.value_info[:]  # the exporter's shapes and the optimiser's contradict
        quantize_static(
            model,
            small,
            _Rows(rows),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=PRODUCTS,
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )
        return small.read_bytes()
