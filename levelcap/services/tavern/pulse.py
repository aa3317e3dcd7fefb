"""One look at the realm a second, whatever the number of open pages; each page gets the same.

Reading goes through the libraries, in a thread, so pages live on while the Keeper restarts. With
nobody watching nothing is read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from levelcap.campaign.kinds.heroes import all_heroes
from levelcap.campaign.realm import Realm
from levelcap.campaign.sheet.hero import HeroSheet, sheet
from levelcap.campaign.sheet.on_trial import JUDGING
from levelcap.campaign.story import quests
from levelcap.campaign.story.curves import new_rows
from levelcap.campaign.story.events import Event, last_seq, list_events
from levelcap.campaign.story.runs import run_folder
from levelcap.campaign.wheel import control
from levelcap.kit.db import reading
from levelcap.kit.errors import LevelcapError
from levelcap.kit.log import get_logger

PERIOD_S = 1.0
FIRST_BYTES = 64 << 10  # of a run's metrics that are looked at when it is first seen
SHOWN_HITS = 6
EVENTS_A_LOOK = 50
log = get_logger("tavern")


@dataclass(frozen=True)
class Fight:
    """The battle going on: the newest row of its metrics, and what came since the last look."""

    run: str
    loss: float | None
    steps_per_s: float | None
    updates: int
    seconds: float
    hits: tuple[tuple[int, float], ...]  # update, loss


@dataclass(frozen=True)
class Moment:
    """What every page may show."""

    sheets: tuple[HeroSheet, ...]
    training: dict[str, Any]
    fight: Fight | None
    counts: dict[str, int]
    seq: int
    events: tuple[Event, ...] = ()
    problem: str | None = None

    @property
    def hero(self) -> HeroSheet:
        """The sheet of the hero that trains."""
        return next((sheet for sheet in self.sheets if sheet.chosen), self.sheets[0])

    @property
    def trial(self) -> dict[str, Any] | None:
        """Who is on trial while nobody trains; what is judged beside training is in `training`."""
        quest, judged = self.training["quest"], self.training["trials"]
        trains = quest is not None and quest["type"] not in JUDGING
        return None if trains or not judged else judged[0]

    @property
    def doing(self) -> str:
        """How far what goes on has come, for the titles of pages; "": nothing goes on."""
        share = (self.trial or self.training["quest"] or {}).get("progress")
        return "" if share is None else f"{100 * share:.0f} % · {self.hero.name}"


@dataclass
class _Follow:
    """How far into a run's metrics we have read."""

    run: str = ""
    offset: int = 0
    row: dict[str, Any] = field(default_factory=dict)


class Pulse:
    """The reader, and who is told."""

    def __init__(self, realm: Realm) -> None:
        self.realm = realm
        self._watcher: Callable[[Moment], None] | None = None
        self._followed = _Follow()
        self._seen = 0
        self._last: Moment | None = None
        self._task: asyncio.Task[None] | None = None
        self.looks = 0
        self._looking = asyncio.Lock()
        self._shared: dict[str, tuple[float, Any]] = {}

    def start(self) -> None:
        """Begin, in the running loop."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def watch(self, tell: Callable[[Moment], None], watching: int) -> None:
        """Tell of every moment while somebody is watching."""
        self._watcher = tell if watching else None

    async def now(self) -> Moment:
        """The last moment, or a first one."""
        if self._last is None or self._watcher is None:
            self._last = await asyncio.to_thread(self.look)
        return self._last

    async def shared(self, name: str, read: Callable[[], Any], fresh_s: float) -> Any:
        """What `read` returns, at most once in `fresh_s` seconds for all pages together."""
        known = self._shared.get(name)
        if known is None or time.monotonic() - known[0] >= fresh_s:
            known = self._shared[name] = (time.monotonic(), await asyncio.to_thread(read))
        return known[1]

    def recent(self, name: str, read: Callable[[], Any], fresh_s: float) -> Any:
        """The same for a caller that is in a thread already."""
        known = self._shared.get(name)
        if known is None or time.monotonic() - known[0] >= fresh_s:
            known = self._shared[name] = (time.monotonic(), read())
        return known[1]

    async def _run(self) -> None:
        while True:
            began = time.monotonic()
            if self._watcher is not None:
                await self.beat()
            await asyncio.sleep(max(0.1, PERIOD_S - (time.monotonic() - began)))

    async def beat(self) -> None:
        """Look now and tell every tab."""
        async with self._looking:
            await self._beat()

    async def _beat(self) -> None:
        try:
            self._last = await asyncio.to_thread(self.look)
        except (LevelcapError, OSError) as error:
            log.warning("could not look", reason=str(error))
            return
        self.looks += 1
        if self._watcher is not None:
            self._watcher(self._last)

    def look(self) -> Moment:
        """Read everything once."""
        engine = self.realm.engine
        if not self._seen:
            self._seen = last_seq(engine)
        with reading(engine) as connection:
            sheets = tuple(sheet(connection, hero) for hero in all_heroes().values())
            training = control.status(connection)
            counts = quests.count(connection)
            found: list[Event] = []
            if self._seen:
                found = list_events(connection, after=self._seen, limit=EVENTS_A_LOOK)
        if found:
            self._seen = found[-1].seq
        run = (training["quest"] or {}).get("run")
        fight = None if run is None else self._look_at(run)
        return Moment(sheets, training, fight, counts, self._seen, tuple(found))

    def _look_at(self, run: str) -> Fight | None:
        path, followed = run_folder(run) / "metrics.jsonl", self._followed
        if followed.run != run:
            size = path.stat().st_size if path.exists() else 0
            followed = self._followed = _Follow(run, max(0, size - FIRST_BYTES))
        rows, followed.offset = new_rows(path, followed.offset)
        if rows:
            followed.row = rows[-1]
        if not followed.row:
            return None
        row = followed.row
        hits = tuple((r["step"], loss) for r in rows[-SHOWN_HITS:] if (loss := _loss(r)))
        return Fight(
            run,
            _loss(row),
            row.get("steps_per_s"),
            int(row["step"]),
            float(row.get("seconds") or 0.0),
            hits,
        )


def _loss(row: dict[str, Any]) -> float | None:
    found = row.get("loss", row.get("value_loss"))
    return float(found) if isinstance(found, int | float) else None
