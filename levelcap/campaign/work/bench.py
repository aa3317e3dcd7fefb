"""The torch side: handlers of a worker process, one for every kind of work.

A handler gets ids, finds the folders, does the work, and returns plain values. Training can be
interrupted, killed and run again: it continues.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from levelcap.campaign.work.base import Bench, Result, Work
from levelcap.campaign.work.table import WORKS
from levelcap.jobs.job import Interrupted, Job, JobFailed
from levelcap.jobs.worker import Context, Handler
from levelcap.kit.errors import Corrupt, NoSpace, UserError
from levelcap.kit.paths import without_paths


def handlers_of(
    locate: Callable[[str], Path], on_publish: Callable[[str, Path], None] | None = None
) -> dict[str, Handler]:
    """Job type -> handler; see `Bench` for the arguments."""

    def handler(work: type[Work]) -> Handler:
        def handle(job: Job, context: Context) -> dict[str, Any]:
            return guarded(work, job, Bench(locate, on_publish, context))

        return handle

    return {name: handler(work) for name, work in WORKS.items()}


def guarded(work: type[Work], job: Job, bench: Bench) -> dict[str, Any]:
    """Errors that are nobody's bug become error codes; a full disk gives the job back."""
    try:
        return work.of(job).perform(bench)
    except NoSpace as error:
        raise Interrupted(str(error)) from error
    except Corrupt as error:
        raise JobFailed("resource_unavailable", without_paths(str(error))) from error
    except UserError as error:
        raise JobFailed("validation_error", without_paths(str(error))) from error


class Aloud(Context):
    """The context of work that is done here and now, without a queue: progress is told."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.stopping = self.cancelled = threading.Event()
        self._tell = tell

    def progress(self, fraction: float, message: str = "") -> None:
        """Tell it."""
        self._tell(f"{fraction:.0%}, {message}")


def perform_here(work: Work, locate: Callable[[str], Path], tell: Callable[[str], None]) -> Result:
    """Do work in this process; nothing is entered in the realm's books."""
    return work.perform(Bench(locate, None, Aloud(tell)))
