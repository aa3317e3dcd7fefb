"""Other queues on SQLite, used as their documentation shows. Runs in `.venv-peers`.

    .venv-peers/bin/python -m benchmarks.peers.queues PEER --workers 8 --jobs 1000 --folder F

Peers: `huey` (SqliteHuey, fsync=True, results kept), `litequeue` (as shipped: synchronous NORMAL,
a power cut may take the last commits) and `litequeue-full` (synchronous FULL set on its
connection: every commit is on disk, as with huey and with ours). The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.peers.queue_race import race


class Huey:
    """huey: a task is taken off the table, run, and its result stored."""

    def __init__(self, path: Path, name: str) -> None:
        from huey import SqliteHuey

        self.huey = SqliteHuey(filename=str(path), fsync=True, results=True)
        self.add = self.huey.task()(add)

    def put(self, number: int) -> None:
        self.add(number)

    def take(self) -> Any:
        return self.huey.dequeue()

    def finish(self, job: Any) -> None:
        self.huey.execute(job)


def add(number: int) -> int:
    """What the jobs do."""
    return number


class Lite:
    """litequeue: a message is locked, then marked as done."""

    def __init__(self, path: Path, name: str, full: bool) -> None:
        from litequeue import LiteQueue

        self.queue = LiteQueue(str(path))
        if full:
            self.queue.conn.execute("PRAGMA synchronous = FULL")

    def put(self, number: int) -> None:
        self.queue.put(str(number))

    def take(self) -> Any:
        return self.queue.pop()

    def finish(self, job: Any) -> None:
        self.queue.done(job.message_id)


OPENERS: dict[str, Any] = {
    "huey": Huey,
    "litequeue": functools.partial(Lite, full=False),
    "litequeue-full": functools.partial(Lite, full=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=sorted(OPENERS))
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix=".jobs-speed-") as folder:
        found = race(OPENERS[options.peer], Path(folder), options.workers, options.jobs)
    print(json.dumps(found))


if __name__ == "__main__":
    # By its full name: huey stores where a task was defined, and workers must find the same.
    from benchmarks.peers import queues

    queues.main()
