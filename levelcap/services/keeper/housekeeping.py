"""What has to be done every second, minute and hour, in one thread of the Keeper.

Every second: leases that ran out, files in the inbox, one turn of the wheel. Every five: may
training go on (battery, disk), curves of runs. Every minute: snapshots without a row, the realm's
size. Every hour: a backup, old events and jobs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from levelcap.campaign.realm import Realm
from levelcap.campaign.story.curves import roll_up
from levelcap.campaign.story.events import say, trim
from levelcap.campaign.story.runs import tidy
from levelcap.campaign.wheel import flywheel, inbox, schedule
from levelcap.campaign.wheel.control import hold, wish
from levelcap.campaign.work.snapshots import adopt
from levelcap.kit.config import load_settings
from levelcap.kit.errors import LevelcapError
from levelcap.kit.log import get_logger
from levelcap.kit.paths import get_base_dir
from levelcap.vault import backups
from levelcap.vault.removals import carry_out_due
from levelcap.vault.retention import finish_removals

TICK_S = 1.0
HOUR_S = 3600.0
log = get_logger("keeper")


class Housekeeping:
    """The thread and its chores."""

    def __init__(self, realm: Realm) -> None:
        self.realm = realm
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
        self._next: dict[str, float] = {}
        self._problem: str | None = None
        self._ticked = time.monotonic()
        self._realm_gb = 0.0

    def start(self) -> None:
        """Begin; the first round also repairs what a kill left behind."""
        self._thread.start()

    def stop(self) -> None:
        """End after the present chore."""
        self._ended.set()
        self._thread.join(5.0)

    def health(self) -> dict[str, Any]:
        """Seconds since the last round, and what went wrong in it."""
        return {"age_s": round(time.monotonic() - self._ticked, 1), "problem": self._problem}

    def _run(self) -> None:
        chores: tuple[tuple[str, float, Callable[[], object]], ...] = (
            ("left-overs", HOUR_S, tidy),
            ("removals", HOUR_S, lambda: finish_removals(self.realm.engine)),
            ("orphans", 60.0, lambda: adopt(self.realm.store)),
            ("begin", HOUR_S, lambda: flywheel.begin(self.realm.store)),
            ("leases", TICK_S, self.realm.store.reap),
            ("size", 60.0, self._measure),
            ("machine", 5.0, self.look_at_machine),
            ("inbox", TICK_S, lambda: inbox.scan(self.realm.store)),
            ("wheel", TICK_S, lambda: flywheel.turn(self.realm.store)),
            ("removals that waited", TICK_S, self._remove_due),
            ("curves", 5.0, lambda: roll_up(self.realm.engine)),
            ("backup", 60.0, self._back_up),
            ("old events", HOUR_S, lambda: trim(self.realm.engine)),
            ("old jobs", HOUR_S, lambda: self.realm.store.purge(30.0, keep=10_000)),
        )
        while not self._ended.is_set():
            problem = None
            for name, every_s, chore in chores:
                if time.monotonic() >= self._next.get(name, 0.0) and not self._ended.is_set():
                    self._next[name] = time.monotonic() + every_s
                    problem = self._try(name, chore) or problem
            self._problem, self._ticked = problem, time.monotonic()
            self._ended.wait(TICK_S)

    def _try(self, name: str, chore: Callable[[], object]) -> str | None:
        """A chore that fails is tried again later; the others go on."""
        try:
            chore()
        except (LevelcapError, OSError) as error:
            log.warning("chore failed", chore=name, reason=str(error))
            self._next[name] = time.monotonic() + 5.0
            return f"{name}: {error}"
        return None

    def _measure(self) -> None:
        self._realm_gb = schedule.used_bytes(get_base_dir()) / 1e9

    def look_at_machine(self) -> None:
        """Hold training back while the machine cannot take it."""
        held = self.realm.read(wish).held
        machine = schedule.look(get_base_dir(), self._realm_gb)
        reason = schedule.why_wait(machine, load_settings(), held)
        hold(self.realm.store, reason)

    def _remove_due(self) -> None:
        for checkpoint, reason in carry_out_due(self.realm.engine).items():
            kind = "removed" if reason is None else "kept"
            message = checkpoint if reason is None else f"{checkpoint}: {reason}"
            say(self.realm.engine, f"vault.checkpoint_{kind}", message, severity="warning")

    def _back_up(self) -> None:
        age = backups.age_s()
        if age is None or age >= HOUR_S:
            backups.back_up(self.realm.engine)
