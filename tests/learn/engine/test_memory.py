"""A training process keeps the memory it frees."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import resource, sys, torch
torch.set_num_threads(1)
if sys.argv[1] == "keep":
    from levelcap.learn.engine.memory import keep_freed_memory
    assert keep_freed_memory()
def work():
    for _ in range(4):
        (torch.ones(25_600, 400) * 2).sum()  # 41 MB: beyond 32 malloc never learns
work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(how: str) -> int:
    command = [sys.executable, "-c", SCRIPT, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_arrays_that_are_freed_and_asked_for_again_are_not_mapped_anew():
    assert _faults("keep") < _faults("default") / 4
