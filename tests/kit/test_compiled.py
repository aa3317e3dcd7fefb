"""Compiled code is never older than the rules, and draws the same numbers as Python."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import levelcap
from levelcap.kit import seeds
from levelcap.kit.compiled import entry, source_hash, sources
from levelcap.world.rules import chance

PACKAGE = Path(levelcap.__file__).parent

# Three files in three folders: an entry calls a kernel, and that one uses a constant.
PROBES = {
    "learn/maths/probe.py": """
from levelcap.kit.compiled import entry
from levelcap.play.probe import (
    length,
)

@entry
def distance(x, y):
    return length(x, y)
""",
    "play/probe.py": """
from math import sqrt
from levelcap.kit.compiled import kernel
from levelcap.lake.probe import SCALE

@kernel
def length(x, y):
    return SCALE * sqrt(x * x + y * y)
""",
    "lake/probe.py": "SCALE = 1.0\n",
}
ASK = """
import sys; from levelcap.learn.maths.probe import distance as d
sys.stdout.write(f'{d(3.0, 4.0)} {len(d.stats.cache_hits)}')
"""


@entry
def seeds_of(seed, match, restart):
    return chance.match_seed(seed, match, restart)


@entry
def keys_of(seed, seat, decision):
    return chance.row_key(seed, seat, decision)


@pytest.fixture
def copied(tmp_path):
    """A copy of the package to edit."""
    target = tmp_path / "copy" / "levelcap"
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, target, ignore=skipped)
    return target


def run(copied, cache, code):
    env = {**os.environ, "LEVELCAP_KERNEL_CACHE": str(cache), "PYTHONPATH": str(copied.parent)}
    command = [sys.executable, "-c", code]
    found = subprocess.run(
        command, capture_output=True, text=True, check=True, env=env, cwd=copied.parent
    )
    return found.stdout


def test_editing_any_file_behind_compiled_code_changes_the_hash_of_the_sources(copied):
    before = source_hash(copied)
    assert before == source_hash()
    names = {path.stem for path in sources(copied)}
    assert names >= {"combat", "tick", "sight", "spec", "sample", "fused", "compiled"}
    assert not names & {"rollout", "sft", "up"}, "an edit there must not compile anything anew"
    for path in sources(copied):
        path.write_text(path.read_text() + "# edited\n")
        after = source_hash(copied)
        assert after != before, path
        before = after


def test_an_edited_rule_of_another_folder_is_seen_through_a_shared_cache(copied, tmp_path):
    for name, code in PROBES.items():
        (copied / name).write_text(code)
    cache = tmp_path / "cache"
    assert run(copied, cache, ASK) == "5.0 0"
    assert run(copied, cache, ASK) == "5.0 1"  # the second start loads what the first compiled
    path = copied / "play" / "probe.py"
    path.write_text(path.read_text().replace("sqrt(x * x + y * y)", "(abs(x) + abs(y))"))
    assert run(copied, cache, ASK) == "7.0 0"
    (copied / "lake" / "probe.py").write_text("SCALE = 2.0\n")
    assert run(copied, cache, ASK) == "14.0 0"


GAME = """
import sys, levelcap.world, numpy as np
world = levelcap.world.make("duel", 1, decision_ticks=1)
world.reset()
world.step(np.array([[[5, 5, 5, 5, 1, 0, 0]] * 2]))
sys.stdout.write(str(world.state["ammo"][0].tolist()))
"""


@pytest.mark.slow
def test_a_world_with_an_edited_rule_plays_by_it(copied, tmp_path):
    cache = tmp_path / "cache"
    assert run(copied, cache, GAME) == "[29, 29]"
    path = copied / "world" / "combat.py"
    path.write_text(path.read_text().replace("g.ammo[p] -= 1", "g.ammo[p] -= 2"))
    assert run(copied, cache, GAME) == "[28, 28]"


@pytest.mark.parametrize("seed", [0, 1, 2**32 + 5, 2**64 - 1])
@pytest.mark.parametrize("match, restart", [(0, 0), (1, 0), (0, 1), (4095, 17), (10**6, 10**6)])
def test_match_seeds_are_the_same_in_kernels_and_in_python(seed, match, restart):
    found = seeds_of(np.uint64(seed), match, restart)
    assert int(found) == seeds.match_seed(seed, match, restart)


def test_keys_differ_between_seats_decisions_and_matches():
    keys = {
        int(keys_of(np.uint64(seed), seat, decision))
        for seed in range(20)
        for seat in range(10)
        for decision in range(50)
    }
    assert len(keys) == 20 * 10 * 50
