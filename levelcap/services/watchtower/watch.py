"""The watch: reads every few seconds, judges, and says once when an alarm rises or clears."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from levelcap.kit.errors import BadFile, LevelcapError
from levelcap.kit.files import read_json, write_json
from levelcap.kit.log import get_logger
from levelcap.kit.paths import folder
from levelcap.services.process.voice import Say
from levelcap.services.watchtower import alarms
from levelcap.services.watchtower.gauges import Gauges
from levelcap.services.watchtower.readings import Jobs, Reading

EVERY_S = 5.0
NAMES = ("loss_spike", "non_finite", "stalled_queue", "disk_low", "flapping", "wheel_stopped")


@dataclass
class Memory:
    """What the alarms need from earlier readings."""

    claims: int | None = None
    claims_changed_s: float = 0.0
    restarts: dict[str, int] = field(default_factory=dict)
    restarted_s: dict[str, list[float]] = field(default_factory=dict)

    def take(self, reading: Reading) -> None:
        """Notes what has changed since the last reading."""
        if reading.jobs is not None and reading.jobs.claims != self.claims:
            self.claims, self.claims_changed_s = reading.jobs.claims, reading.now_s
        for name, service in reading.services.items():
            more = service.restarts - self.restarts.get(name, service.restarts)
            times = [t for t in self.restarted_s.get(name, []) if t > reading.now_s - 3600]
            self.restarted_s[name] = times + [reading.now_s] * max(0, more)
            self.restarts[name] = service.restarts


class Watch:
    """Raised alarms survive a restart in `state/alarms.json`: each is said once."""

    def __init__(self, read: Callable[[], Reading], say: Say) -> None:
        self._read, self._say = read, say
        self._log = get_logger("watchtower")
        self.gauges, self.memory = Gauges(), Memory()
        self.raised: dict[str, dict[str, Any]] = _load()
        self.reading: Reading | None = None
        self._ended = threading.Event()

    def look(self) -> None:
        """Reads once, judges, says what has changed."""
        reading = self._read()
        self.memory.take(reading)
        found = judge(reading, self.memory, set(self.raised))
        for name in NAMES:
            message = found.get(name)
            if message is not None and name not in self.raised:
                self._raise(name, message)
            elif message is None and name in self.raised:
                self._clear(name)
        self.reading = reading
        self.gauges.show(reading, NAMES, self.raised)

    def _raise(self, name: str, message: str) -> None:
        # Stored first: a kill in between loses the event, never says it twice.
        self.raised[name] = {"message": message, "since": time.time()}
        _store(self.raised)
        self._tell(f"alarm.{name}", "error", message, True)

    def _clear(self, name: str) -> None:
        before = self.raised.pop(name)
        _store(self.raised)
        self._tell(f"alarm.{name}", "success", f"over: {before['message']}", False)

    def _tell(self, kind: str, severity: str, message: str, raised: bool) -> None:
        self._log.warning(message, kind=kind, raised=raised)
        try:
            self._say(kind, severity, message, {"raised": raised})
        except (LevelcapError, OSError) as error:
            self._log.warning("cannot write an event", kind=kind, error=str(error))

    def run(self) -> None:
        """Looks again and again until `end`; for a thread of its own."""
        while not self._ended.is_set():
            try:
                self.look()
            except (LevelcapError, OSError) as error:
                self._log.warning("this look failed", error=str(error))
            self._ended.wait(EVERY_S)

    def end(self) -> None:
        """Ends `run`."""
        self._ended.set()


def judge(reading: Reading, memory: Memory, raised: set[str]) -> dict[str, str]:
    """Returns the sentence of every alarm that is, or stays, raised."""
    spikes = [alarms.loss_spike(t.losses, "loss_spike" in raised) for t in reading.training]
    bad = [
        alarms.non_finite(t.bad_rows, t.clean_rows, "non_finite" in raised)
        for t in reading.training
    ]
    disk = reading.disk
    states = {name: service.state for name, service in reading.services.items()}
    found = {
        "loss_spike": next((message for message in spikes if message), None),
        "non_finite": next((message for message in bad if message), None),
        "disk_low": alarms.disk_low(disk.free, disk.used, disk.cap, "disk_low" in raised),
        "flapping": alarms.flapping(
            states, memory.restarted_s, reading.now_s, "flapping" in raised
        ),
    }
    if reading.jobs is not None:
        queue = queue_of(reading.jobs, reading.now_s - memory.claims_changed_s)
        found["wheel_stopped"] = reading.jobs.halt  # the breaker has a memory of its own
        found["stalled_queue"] = alarms.stalled_queue(queue, "stalled_queue" in raised)
    return {name: message for name, message in found.items() if message is not None}


def queue_of(jobs: Jobs, unchanged_s: float) -> alarms.Queue:
    """Jobs have waited unclaimed no longer than the oldest of them is ready."""
    waited = min(unchanged_s, jobs.oldest_queued_s)
    return alarms.Queue(jobs.queued, jobs.idle_workers, waited, jobs.may_train)


def raised_alarms() -> dict[str, str]:
    """Alarms that were raised when the watch last looked: name -> its sentence."""
    return {name: str(row.get("message", name)) for name, row in _load().items()}


def _load() -> dict[str, dict[str, Any]]:
    try:
        found = read_json(folder("state") / "alarms.json")
    except BadFile:
        return {}
    rows = found if isinstance(found, dict) else {}
    return {name: row for name, row in rows.items() if name in NAMES and isinstance(row, dict)}


def _store(raised: dict[str, dict[str, Any]]) -> None:
    write_json(folder("state") / "alarms.json", raised)
