"""When a run ends: updates, steps, minutes, a goal (an Elo), a file, a signal.

Minutes become a number of updates, measured over ten seconds once the run is warm, because the
schedules run on updates; the deadline holds beside it. Training time counts over restarts and
leaves out evaluations and pauses.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from levelcap.kit.errors import BadValue, refuse

MEASURE_S = 10.0


@dataclass
class Clock:
    """Training seconds, also over restarts; core-seconds beside them."""

    seconds: float = 0.0
    core_seconds: float = 0.0
    _since: float | None = None
    _core_since: float = 0.0

    def start(self) -> None:
        """Let it run."""
        # process_time counts all threads of this process: both cores.
        self._since, self._core_since = time.monotonic(), time.process_time()

    def stop(self) -> None:
        """Hold it: evaluation and pauses do not count."""
        self.seconds, self.core_seconds = self.now(), self.core_now()
        self._since = None

    def now(self) -> float:
        """Training seconds so far."""
        return self.seconds + (0.0 if self._since is None else time.monotonic() - self._since)

    def core_now(self) -> float:
        """Core-seconds so far."""
        extra = 0.0 if self._since is None else time.process_time() - self._core_since
        return self.core_seconds + extra


@dataclass(frozen=True)
class Stops:
    """Conditions, any of which ends the run; None = not asked for."""

    updates: int | None = None
    steps: int | None = None
    minutes: float | None = None
    goal: float | None = None  # of the evaluation

    def __post_init__(self) -> None:
        given = {"updates": self.updates, "steps": self.steps, "minutes": self.minutes}
        if all(value is None for value in given.values()):
            remedy = "Give --minutes, --steps or --updates"
            raise BadValue(refuse("a run needs an end", "none given", remedy))
        for name, value in given.items():
            if value is not None and not value > 0:
                raise BadValue(refuse(f"{name} must be above 0", value, f"Give --{name} 1 or more"))

    def reached(self, updates: int, steps: int, seconds: float, score: float | None) -> str | None:
        """Why the run is over, or None."""
        if self.updates is not None and updates >= self.updates:
            return f"{updates} updates"
        if self.steps is not None and steps >= self.steps:
            return f"{steps} steps"
        if self.minutes is not None and seconds >= self.minutes * 60:
            return f"{self.minutes:g} minutes"
        if self.goal is not None and score is not None and score >= self.goal:
            return f"goal reached: {score:.6g}"
        return None


class Budget:
    """The run's length in updates, known at once or measured: `total` is None until then."""

    def __init__(
        self, stops: Stops, total: int | None = None, measure_s: float = MEASURE_S
    ) -> None:
        self.stops, self.total = stops, total or stops.updates
        self._measure_s = measure_s
        self._mark: tuple[int, int, float] | None = None

    def observe(self, updates: int, steps: int, seconds: float, warm: bool) -> None:
        """Called once an iteration; fixes `total` ten seconds after the run is warm."""
        if self.total is not None or not warm:
            return
        # The first measured moment: everything before was warm-up.
        if self._mark is None:
            self._mark = (updates, steps, seconds)
        updates_0, steps_0, seconds_0 = self._mark
        if seconds - seconds_0 < self._measure_s:
            return
        ends = []
        if self.stops.minutes is not None:
            # Updates a second now, for the seconds that are left.
            rate = (updates - updates_0) / (seconds - seconds_0)
            ends.append(updates + rate * (self.stops.minutes * 60 - seconds))
        if self.stops.steps is not None:
            per_step = (updates - updates_0) / max(1, steps - steps_0)
            ends.append(updates + per_step * (self.stops.steps - steps))
        # At least one more update: a run that is over now has no schedule.
        self.total = max(updates + 1, int(min(ends)))


@contextmanager
def signals() -> Iterator[Any]:
    """While inside, Ctrl-C and SIGTERM set the yielded event instead of breaking in.

    A second Ctrl-C breaks in. Whoever listened to these signals before still hears them: a worker
    whose run is ended this way must not begin the next one.
    """
    asked = threading.Event()
    # Only the main thread may install handlers; a worker thread is stopped by file or budget.
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def ask(number: int, frame: Any) -> None:
        if asked.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked.set()
        before = old[signal.Signals(number)]
        if callable(before) and before is not signal.default_int_handler:
            before(number, frame)

    old = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
