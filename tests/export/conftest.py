"""A tiny flat and a tiny hierarchy, exported once for all tests of the folder."""

import fcntl
import json

import pytest

from levelcap.export.bundle import REPORT
from levelcap.export.exporter import ModelExporter
from levelcap.export.parity import Latency, Parity, Report
from levelcap.export.runtime import load
from levelcap.export.targets import Made
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.world.spec import arena_spec

WORLDS = {"flat": "duel", "hierarchy": "crown"}


class Exported:
    """A checkpoint, and the exporter that has traced it."""

    def __init__(self, folder, family):
        options = {"aim": "residual"} if family == "flat" else {"strategist": "lstm"}
        meta = describe(family, arena_spec(WORLDS[family]), "dummy", options=options)
        self.checkpoint, self.folder = folder / "checkpoint", folder / "bundle"
        weights = weights_of(new_net(meta, 5))
        # An untrained head presses every button alike: louder, so that choices differ.
        loud = {n: w * 8 if "head" in n or "policy" in n else w for n, w in weights.items()}
        self.world = WORLDS[family]
        if not self.folder.is_dir():
            save_snapshot(self.checkpoint, loud, meta, "test")
            ModelExporter(self.checkpoint).export("onnx", self.folder)


@pytest.fixture(scope="session", params=("flat", "hierarchy"))
def exported(request, tmp_path_factory, worker_id):
    """Tracing takes seconds: processes of one test run share what the first of them has made."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / f"exported-{request.param}"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return Exported(folder, request.param)


@pytest.fixture(scope="session")
def exporter(exported):
    """One that has traced: what it made is read back from the bundle instead of made again."""
    made = ModelExporter(exported.checkpoint)
    hero = load(exported.folder)
    told = json.loads((exported.folder / REPORT).read_text())
    parts = (Parity(**told["parity"]), Latency(**told["latency"]), told["bytes"])
    graphs = {n: (exported.folder / f).read_bytes() for n, f in hero.bundle.files().items()}
    made._made = Made(hero.bundle, graphs, Report(*parts))
    return made
