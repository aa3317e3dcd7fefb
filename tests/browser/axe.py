"""What axe-core, pinned in package.json, finds wrong with a page for who does not see or point."""

import os
import shutil
import subprocess
from functools import cache

import pytest

from tests.services.realms import ROOT

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")
RUN = "axe.run().then((r) => r.violations.map((v) => [v.impact, v.id, v.nodes.map((n) => n.html)]))"


@cache
def _script():
    """Its text; where npm is missing nothing is checked, as by `make js`, but never in CI."""
    if not AXE.is_file() and shutil.which("npm") is None and not os.environ.get("CI"):
        return ""
    if not AXE.is_file():
        quiet = ["npm", "install", "--silent", "--no-save", "--no-audit", "--no-fund"]
        subprocess.run(quiet, cwd=ROOT, check=True, timeout=120)
    return AXE.read_text()


def barriers(page):
    """Serious violations on what is shown now, each with its rule and the elements."""
    if not _script():
        pytest.skip("npm is not installed: accessibility was not checked")
    page.evaluate(_script())
    return [row for row in page.evaluate(RUN) if row[0] in SERIOUS]
