"""The browser's draw.js chooses what draw.py chooses, run by node on the same rows."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest

from levelcap.export.draw import Draw, draw_mode, uniform
from levelcap.services.tavern.app import STATIC

SIZES, ROWS, MODES = (11, 11, 2, 4), 400, 5
SCRIPT = """
import { readFileSync } from 'node:fs';
import { draw, drawMode, uniform } from './draw.mjs';
const rows = JSON.parse(readFileSync(0));
const told = rows.map(({ logits, mask, modes, key }) => {
  const given = [Float32Array.from(logits), mask, %s];
  const odds = Float32Array.from(modes);
  return [[...draw(...given, null)], [...draw(...given, BigInt(key))],
          drawMode(odds, null), drawMode(odds, BigInt(key)), uniform(BigInt(key), 3n)];
});
console.log(JSON.stringify(told));
"""


def test_likeliest_and_drawn_actions_are_the_same(tmp_path):
    if shutil.which("node") is None and not os.environ.get("CI"):
        pytest.skip("node is not installed: the browser's draw was not compared")
    rng = np.random.default_rng(3)
    bins = sum(SIZES)
    logits = (4 * rng.standard_normal((ROWS, bins))).astype(np.float32)
    logits[:20] = np.round(logits[:20] / 4)  # ties
    mask = (rng.random((ROWS, bins)) < 0.7).astype(np.uint8)
    mask[20:30, :11] = 0  # a head of which nothing is allowed
    modes = rng.standard_normal((ROWS, MODES)).astype(np.float32)
    keys = rng.integers(0, 2**64, ROWS, np.uint64)
    columns = {"logits": logits.tolist(), "mask": mask.tolist(), "modes": modes.tolist()}
    rows = [
        {name: column[row] for name, column in columns.items()} | {"key": str(keys[row])}
        for row in range(ROWS)
    ]
    shutil.copyfile(STATIC / "anywhere" / "draw.js", tmp_path / "draw.mjs")
    (tmp_path / "compare.mjs").write_text(SCRIPT % json.dumps(SIZES))
    run = subprocess.run(
        ["node", "compare.mjs"],
        cwd=tmp_path,
        input=json.dumps(rows),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    likeliest, drawn, mode, drawn_mode, chance = zip(*json.loads(run.stdout), strict=True)
    choose = Draw(SIZES)
    assert np.array_equal(likeliest, choose(logits, mask, None))
    assert np.array_equal(drawn, choose(logits, mask, keys))
    assert np.array_equal(mode, draw_mode(modes, None))
    assert np.array_equal(drawn_mode, draw_mode(modes, keys))
    assert np.array_equal(chance, uniform(keys, 3))
