"""Alarms: pure functions of what was read, with hysteresis, so that a value at the edge is calm.

Each takes whether it is raised already and returns the sentence to show, or None for all clear. It
is raised at one bound and cleared only beyond another, farther one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

SPIKE_ROWS = 200  # losses looked at
SPIKE_NEWEST = 5  # of them, those compared with the others
SPIKE_FEWEST = 30  # fewer rows say nothing yet
SPIKE_RAISE, SPIKE_CLEAR = 8.0, 4.0  # robust standard deviations above the median
CLEAN_RAISE, CLEAN_CLEAR = 5, 20  # rows since the last one with a value that is not finite
STALL_S = 300.0
DISK_RAISE_BYTES, DISK_CLEAR_BYTES = 1e9, 2e9  # free on the disk
CAP_RAISE, CAP_CLEAR = 0.95, 0.90  # of the disk cap used
FLAP_RESTARTS = 2  # within FLAP_S raise it
FLAP_S = 600.0


@dataclass(frozen=True)
class Queue:
    """What an alarm needs to know of the queue."""

    queued: int
    idle_workers: int  # heard lately, holding nothing
    unclaimed_s: float  # how long jobs have been ready and nobody claimed anything
    may_train: bool = True  # False: paused, stopped or held on purpose


def loss_spike(losses: Sequence[float], raised: bool) -> str | None:
    """The median of the newest losses lies far above the run's own recent losses.

    Distance is counted in robust standard deviations: 1.4826 times the median absolute deviation
    of the older rows (but at least 1 % of their median), which a few outliers cannot widen.
    """
    recent = list(losses)[-SPIKE_ROWS:]
    if len(recent) < SPIKE_FEWEST:
        return None
    older, newest = recent[:-SPIKE_NEWEST], median(recent[-SPIKE_NEWEST:])
    middle = median(older)
    spread = 1.4826 * median(abs(loss - middle) for loss in older)
    score = (newest - middle) / max(spread, 0.01 * abs(middle), 1e-9)
    if score <= (SPIKE_CLEAR if raised else SPIKE_RAISE):
        return None
    return f"the loss is {newest:.4g}, {score:.0f} deviations above its median {middle:.4g}"


def non_finite(bad_rows: int, clean_rows: int, raised: bool) -> str | None:
    """One of the newest rows of metrics held NaN or infinity; cleared after twenty clean ones.

    Args:
        bad_rows: rows with such a value among the newest `SPIKE_ROWS`.
        clean_rows: rows since the newest of them.
    """
    if bad_rows == 0 or clean_rows >= (CLEAN_CLEAR if raised else CLEAN_RAISE):
        return None
    return f"{bad_rows} of the newest rows of metrics hold values that are not finite"


def stalled_queue(queue: Queue, raised: bool) -> str | None:
    """Jobs are ready, a worker is free, and for five minutes nobody has claimed one."""
    waiting = queue.queued > 0 and queue.idle_workers > 0 and queue.may_train
    # Cleared by a claim, an empty queue or a pause; not by a worker that is silent for a moment.
    if raised and queue.queued > 0 and queue.may_train and queue.unclaimed_s >= STALL_S:
        waiting = True
    if not waiting or queue.unclaimed_s < STALL_S:
        return None
    minutes = queue.unclaimed_s / 60
    return f"{queue.queued} jobs wait, a worker is free, none was claimed for {minutes:.0f} min"


def disk_low(free: float, used: float, cap: float, raised: bool) -> str | None:
    """Little room on the disk, or little left of the share we may use; all in bytes."""
    if free < (DISK_CLEAR_BYTES if raised else DISK_RAISE_BYTES):
        return f"{free / 1e9:.1f} GB are free on the disk of the realm"
    if used > (CAP_CLEAR if raised else CAP_RAISE) * cap:
        return f"the realm uses {used / 1e9:.1f} of {cap / 1e9:.1f} GB (disk_cap_gb)"
    return None


def flapping(
    states: Mapping[str, str], restarts: Mapping[str, Sequence[float]], now_s: float, raised: bool
) -> str | None:
    """A service stays down, or was restarted twice within ten minutes.

    Args:
        states: service -> state, as the Weaver says.
        restarts: service -> when it was restarted, on the clock of `now_s`.
    """
    down = sorted(name for name, state in states.items() if state == "down")
    if down:
        return f"{', '.join(down)} crashed too often and stays down"
    limit = 1 if raised else FLAP_RESTARTS
    often = {n: sum(t > now_s - FLAP_S for t in times) for n, times in restarts.items()}
    found = [f"{name} {count} times" for name, count in sorted(often.items()) if count >= limit]
    return f"restarted within {FLAP_S / 60:.0f} min: {', '.join(found)}" if found else None
