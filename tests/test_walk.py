"""The walk of a recorded episode in ARCHITECTURE: as traced, short, and never upwards."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import walk

SHORT = {name: ["play/seats.py", "lake/write.py"] for _, _, name in walk.MOMENTS}


def shown():
    text = (walk.ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return text.split(walk.MARKS[0])[1].split(walk.MARKS[1])[0]


def test_the_files_of_the_walk_are_there():
    files = re.findall(r"(\d+) `([^`]+)`", shown())
    assert [int(number) for number, _ in files] == list(range(1, len(files) + 1))
    assert 15 < len(files) <= walk.MAX_FILES
    assert [f for _, f in files if not (walk.PACKAGE / f).is_file()] == []
    assert [row.split(" | ")[0] for row in shown().splitlines()[2:]] == [
        f"| {stage}" for stage, _, _ in walk.MOMENTS
    ]


@pytest.mark.slow
def test_the_walk_is_current():
    environment = {k: v for k, v in os.environ.items() if k != "LEVELCAP_HOME"}
    done = subprocess.run(
        [sys.executable, Path(walk.__file__)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    traced = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert traced == shown().splitlines()


def test_a_step_back_is_seen():
    assert walk.check(SHORT) == []
    upwards = {**SHORT, "vault.ledger:rate": ["lake/write.py", "play/seats.py"]}
    assert walk.check(upwards) == ["a step back: lake/write.py calls play/seats.py"]


def test_a_long_walk_and_a_missing_stage_are_seen():
    long = {**SHORT, "vault.ledger:rate": [f"lake/{i}.py" for i in range(24)]}
    assert walk.check(long) == ["26 files, 25 allowed"]
    missing = {name: files for name, files in SHORT.items() if name != "trials.panel:judge"}
    assert walk.check(missing) == ["trials.panel:judge was never called"]


def test_a_call_back_is_its_owners_own_call():
    """a -> b -> a -> c is a -> c."""
    code = {
        name: compile("def f(call): return call()", str(walk.PACKAGE / name), "exec")
        for name in ("play/a.py", "lake/b.py", "lake/c.py")
    }
    run = {}
    for name, source in code.items():
        space = {}
        exec(source, space)
        run[name] = space["f"]
    found = run["play/a.py"](
        lambda: run["lake/b.py"](
            lambda: run["play/a.py"](lambda: run["lake/c.py"](lambda: walk._files(sys._getframe())))
        )
    )
    assert found == ["play/a.py", "lake/c.py"]
