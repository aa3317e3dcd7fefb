"""What each target of an export adds to the graphs: files, and words about what was not done.

| target | adds |
|---|---|
| onnx | nothing: the graphs are ONNX |
| mobile | the same graphs in onnxruntime's own format (`.ort`) |
| torchserve | one `.mar` archive: graphs, description and a handler |
| tensorrt | a recipe: engines belong to one graphics card and are built where it is |
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from levelcap.export.bundle import FILE, Bundle
from levelcap.export.parity import Report
from levelcap.export.text import TextBundle
from levelcap.kit.errors import BadValue, Corrupt, refuse
from levelcap.kit.files import dump_json

MOST_ROWS = 256
HANDLER = Path(__file__).with_name("mar_handler.py")
CONVERT = "onnxruntime.tools.convert_onnx_models_to_ort"
ARCHIVED = (
    "TorchServe's repository is archived since August 2025 and gets no security patches; the "
    "archive's handler was tried without a server"
)


@dataclass(frozen=True)
class Made:
    """What an export is made of before it is published."""

    bundle: Bundle | TextBundle
    graphs: dict[str, bytes]
    report: Report


@dataclass(frozen=True)
class Dressed:
    """What a target adds."""

    files: dict[str, bytes]
    notes: str


def onnx(made: Made) -> Dressed:
    """The graphs are what was asked for."""
    return Dressed({}, "run it with levelcap-play, or levelcap.export.runtime.load")


def mobile(made: Made) -> Dressed:
    """onnxruntime's flat format, which its small builds for phones read."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, data in made.graphs.items():
            (place / f"{name}.onnx").write_bytes(data)
        command = [sys.executable, "-m", CONVERT, folder, "--optimization_style", "Fixed"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300)
        found = {path.name: path.read_bytes() for path in sorted(place.glob("*.ort"))}
    if set(found) != {f"{name}.ort" for name in made.graphs}:
        said = run.stderr.strip().splitlines()[-1:] or ["nothing"]
        raise Corrupt(refuse("onnxruntime could not convert the graphs", said[0], "Report this"))
    return Dressed(found, "onnxruntime's .ort format; no ExecuTorch program was made")


def torchserve(made: Made) -> Dressed:
    """An archive as torch-model-archiver makes them, but with the same bytes every time."""
    bundle = _arena(made, "torchserve")
    graphs = {graph.file: made.graphs[name] for name, graph in bundle.graphs.items()}
    manifest = {
        "createdOn": "01/01/2026 00:00:00",  # a time would make equal archives unlike
        "runtime": "python",
        "model": {
            "modelName": bundle.world,
            "serializedFile": next(iter(graphs)),
            "handler": HANDLER.name,
            "modelVersion": bundle.source[:12],
        },
        "archiverVersion": "0.12.0",
    }
    files = graphs | {
        FILE: dump_json(bundle.as_json()),
        HANDLER.name: HANDLER.read_bytes(),
        "MAR-INF/MANIFEST.json": json.dumps(manifest, indent=2).encode(),
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return Dressed({"hero.mar": target.getvalue()}, ARCHIVED)


def tensorrt(made: Made) -> Dressed:
    """One line of trtexec a graph, with the sizes of its inputs."""
    lines = [
        "#!/bin/sh",
        "# On the machine with the graphics card and TensorRT: sh build_engines.sh",
    ]
    bundle = _arena(made, "tensorrt")
    for graph in bundle.graphs.values():
        shapes = (
            f"--{word}Shapes=" + ",".join(_sized(n, p.shape, rows) for n, p in graph.inputs.items())
            for word, rows in (("min", 1), ("opt", bundle.deploy.batch), ("max", MOST_ROWS))
        )
        engine = graph.file.replace(".onnx", ".engine")
        lines.append(f"trtexec --onnx={graph.file} {' '.join(shapes)} --saveEngine={engine}")
    text = "\n".join([*lines, ""]).encode()
    return Dressed({"build_engines.sh": text}, "no engine was built: the recipe is in the bundle")


def _arena(made: Made, target: str) -> Bundle:
    if isinstance(made.bundle, TextBundle):
        raise BadValue(refuse("text heroes are exported to onnx or mobile", target, "Name one"))
    return made.bundle


def _sized(name: str, shape: tuple[int, ...], rows: int) -> str:
    return f"{name}:{'x'.join(str(axis) for axis in (rows, *shape))}"


TARGETS: dict[str, Callable[[Made], Dressed]] = {
    made.__name__: made for made in (onnx, torchserve, tensorrt, mobile)
}
