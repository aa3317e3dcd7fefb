"""When somebody was last here: for the welcome of a first visit and the card of a later one."""

from __future__ import annotations

import time
from typing import Any

from levelcap.campaign.story.events import count_kinds
from levelcap.kit.db import Connection
from levelcap.kit.errors import BadFile
from levelcap.kit.files import read_json, write_json
from levelcap.kit.paths import folder

NOTE_EVERY_S = 15.0
AWAY_S = 300.0
COUNTED = {
    "training.completed": "quests completed",
    "vault.checkpoint_saved": "checkpoints saved",
    "eval.completed": "trials finished",
    "vault.champion_promoted": "new champions",
    "job.failed": "quests lost",
}


class Visits:
    """The file `state/tavern.json`: number of the last event somebody could see, and when."""

    def __init__(self) -> None:
        self._path = folder("state") / "tavern.json"
        self._noted = 0.0
        try:
            found = read_json(self._path) if self._path.exists() else {}
        except BadFile:
            found = {}
        self.welcomed = bool(found.get("welcomed", False))
        self.seq, self.time = int(found.get("seq", 0)), float(found.get("time", 0.0))

    def away_since(self, now: float | None = None) -> int | None:
        """The last event seen, if the last visit was a while ago."""
        gone = (time.time() if now is None else now) - self.time
        return self.seq if self.time and gone >= AWAY_S else None

    def note(self, seq: int, now: float | None = None) -> None:
        """Somebody looks and sees everything up to this event; written now and then."""
        moment = time.time() if now is None else now
        self.seq, self.time = seq, moment
        if moment - self._noted >= NOTE_EVERY_S:
            self._noted = moment
            self._write()

    def welcome(self) -> None:
        """The welcome was read."""
        self.welcomed = True
        self._write()

    def _write(self) -> None:
        write_json(self._path, {"seq": self.seq, "time": self.time, "welcomed": self.welcomed})


def summary(connection: Connection, since: int) -> dict[str, Any]:
    """What happened after an event: counts in words, and the Elo before and after."""
    counts = count_kinds(connection, since)
    lines = [f"{counts[kind]} {words}" for kind, words in COUNTED.items() if counts.get(kind)]
    return {"lines": lines, "events": sum(counts.values())}
