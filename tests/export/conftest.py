"""A tiny flat and a tiny hierarchy, exported once for all tests of the folder."""

import pytest

from levelcap.export.exporter import ModelExporter
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.world.spec import arena_spec

WORLDS = {"flat": "duel", "hierarchy": "crown"}


class Exported:
    """A checkpoint, and the exporter that has traced it."""

    def __init__(self, folder, family):
        options = {"aim": "residual"} if family == "flat" else {"strategist": "lstm"}
        meta = describe(family, arena_spec(WORLDS[family]), "dummy", options=options)
        self.checkpoint = folder / "checkpoint"
        weights = weights_of(new_net(meta, 5))
        # An untrained head presses every button alike: louder, so that choices differ.
        loud = {n: w * 8 if "head" in n or "policy" in n else w for n, w in weights.items()}
        save_snapshot(self.checkpoint, loud, meta, "test")
        self.exporter = ModelExporter(self.checkpoint)
        self.folder = folder / "bundle"
        self.report = self.exporter.export("onnx", self.folder)
        self.world = WORLDS[family]


@pytest.fixture(scope="session", params=("flat", "hierarchy"))
def exported(request, tmp_path_factory):
    return Exported(tmp_path_factory.mktemp(request.param), request.param)
