"""Whether one more job of a type may wait: a pure function of the type and two counts."""

import math
from dataclasses import dataclass

from levelcap.jobs.job import JobType, Refused
from levelcap.kit.errors import refuse

LONGEST_RETRY_S = 60


@dataclass(frozen=True)
class Load:
    """How many jobs of a type wait and run."""

    pending: int
    running: int


def warnings_or_refuse(type_: JobType, load: Load) -> list[str]:
    """Decides over one submission.

    Returns:
        Warnings to hand to the submitter; empty while there is room, and for types that allow
        any number.

    Raises:
        Refused: the queue is full and the type says "reject".
    """
    if load.pending < type_.max_pending or type_.when_full == "allow":
        return []
    what = f"the queue of {type_.name!r} jobs is full ({type_.max_pending} may wait)"
    if type_.when_full == "warn":
        return [f"{what}: {load.pending} wait, this one may take long"]
    wait_s = retry_after_s(type_)
    message = refuse(what, load.pending, f"Try again in {wait_s} s")
    limits = (type_.max_pending, type_.max_running, wait_s)
    raise Refused("queue_full", message, load.pending, load.running, *limits)


def retry_after_s(type_: JobType) -> int:
    """Returns when a place is likely free: one job's longest time shared by those running."""
    return max(1, min(LONGEST_RETRY_S, math.ceil(type_.timeout_s / type_.max_running)))
