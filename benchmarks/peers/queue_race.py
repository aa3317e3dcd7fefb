"""One loop for every queue: put jobs in, let processes take and finish them, time each step.

A queue is opened by a function of its file and has `put(n)`, `take()` (a job or None) and
`finish(job)`. An error that says "locked" is counted and the step repeated: a caller would have
had to do the same.
"""

from __future__ import annotations

import multiprocessing
import queue as queue_module
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

START_S = 120.0  # 64 interpreters on two cores take a while


class Queue(Protocol):
    """What is raced."""

    def put(self, number: int) -> None: ...
    def take(self) -> Any: ...
    def finish(self, job: Any) -> None: ...


Opener = Callable[[Path, str], Queue]


def race(open_queue: Opener, folder: Path, workers: int, jobs: int, pause_s: float = 0.0) -> dict:
    """Times one queue.

    Args:
        open_queue: called with the file and the name of the process that will use it.
        folder: an empty folder for the file.
        workers: processes that take and finish at the same time.
        jobs: how many are put in first.
        pause_s: how long a worker pauses after every job; 0 = the queue is all they do.

    Returns:
        submits_per_s, cycles_per_s (taken and finished), p50_ms and p99_ms of `take`,
        finish_p99_ms, locked (errors met).
    """
    path = folder / "queue.db"
    queue = open_queue(path, "submitter")
    context = multiprocessing.get_context("spawn")
    ready, answers = context.Barrier(workers + 1), context.Queue()
    crew = [
        context.Process(
            target=_work, args=(open_queue, path, f"w{n}", ready, answers, pause_s), daemon=True
        )
        for n in range(workers)
    ]
    for process in crew:
        process.start()
    ready.wait(START_S)  # all are open and have asked an empty queue once
    began = time.perf_counter()
    for number in range(jobs):
        queue.put(number)
    submits_per_s = jobs / (time.perf_counter() - began)
    ready.wait(START_S)
    began = time.perf_counter()
    found = [_answer(answers, crew) for _ in crew]
    seconds = time.perf_counter() - began
    for process in crew:
        process.join()
    takes = sorted(t for one in found for t in one["takes"])
    finishes = sorted(t for one in found for t in one["finishes"])
    assert len(takes) == jobs, f"{len(takes)} of {jobs} jobs were taken"
    return {
        "submits_per_s": round(submits_per_s),
        "cycles_per_s": round(jobs / seconds),
        "p50_ms": round(1000 * statistics.median(takes), 2),
        "p99_ms": round(1000 * takes[int(0.99 * len(takes))], 2),
        "finish_p99_ms": round(1000 * finishes[int(0.99 * len(finishes))], 2),
        "locked": sum(one["locked"] for one in found),
    }


def _answer(answers: Any, crew: list[Any]) -> dict[str, Any]:
    while True:
        try:
            return answers.get(timeout=1)
        except queue_module.Empty:
            if any(process.exitcode for process in crew):
                raise RuntimeError("a worker of the race died") from None


def _work(open_queue: Opener, path: Path, name: str, ready: Any, answers: Any, pause_s: float):
    queue = open_queue(path, name)
    locked = [0]
    takes, finishes = [], []
    assert _insist(queue.take, locked) is None
    ready.wait(START_S)
    ready.wait(START_S)
    while True:
        began = time.perf_counter()
        job = _insist(queue.take, locked)
        taken = time.perf_counter()
        if job is None:
            break
        takes.append(taken - began)
        _insist(lambda job=job: queue.finish(job), locked)
        finishes.append(time.perf_counter() - taken)
        time.sleep(pause_s)
    answers.put({"takes": takes, "finishes": finishes, "locked": locked[0]})


def _insist(call: Callable[[], Any], locked: list[int]) -> Any:
    while True:
        try:
            return call()
        except Exception as error:  # every library has its own kind
            if "locked" not in str(error):
                raise
            locked[0] += 1
