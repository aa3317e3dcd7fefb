"""The browser's reader of states is made from the types that write them."""

import importlib.util

from tests.house.sources import ROOT


def test_the_browsers_layout_is_current():
    path = ROOT / "scripts" / "frame_layout.py"
    spec = importlib.util.spec_from_file_location("frame_layout", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.TARGET.read_text() == script.layout(), "run python scripts/frame_layout.py"
