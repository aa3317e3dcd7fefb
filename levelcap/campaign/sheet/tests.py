"""Sequential tests as people see them: waiting, running, ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from levelcap.campaign.story import quests, tests
from levelcap.campaign.story.quests import Quest
from levelcap.campaign.story.rows import Row
from levelcap.jobs.job import Job
from levelcap.jobs.rows import find, job_of
from levelcap.kit.db import Connection
from levelcap.trials.sprt import SequentialTest, elo_figure, preset_of, read_line

LOST = ("failed", "dead", "cancelled")


@dataclass(frozen=True)
class TestRow(Row):
    """One test. Numbers of a running one are as its worker last told."""

    id: str
    a: str
    b: str
    world: str
    preset: str
    state: str
    """queued, running, done; failed, dead or cancelled: ended without a verdict"""
    verdict: str | None
    """passed, failed or undecided"""
    llr: float
    bounds: tuple[float, float]
    share: float
    """where the ratio stands between them, 0 to 1"""
    pairs: list[int]
    """that scored 0, 1/2, 1, 3/2 and 2"""
    games: int
    won: int
    drawn: int
    lost: int
    elo: tuple[float, float, float] | None
    games_to_go: int
    """expected, if the ratio goes on as it did so far"""
    seconds: float
    seconds_to_go: float | None
    """None: it has not begun, or has ended"""
    time: str
    """when it was asked for; of those that have ended, when it did"""
    quest: str | None
    block: str
    """to be copied; of a lost one, why"""


def list_tests(connection: Connection, limit: int = 100) -> list[TestRow]:
    """Open ones first, then those that have ended, each the newest first."""
    asked = quests.list_quests(connection, kind="test", limit=limit)
    mine = [quest for quest in asked if quest.job is not None and quest.status != "done"]
    mine.sort(key=lambda quest: quest.status in LOST)
    found = [
        # Jobs of lost ones are purged after a month; what was asked for stays with the quest.
        _asked(quest, None if quest.status in LOST else job_of(find(connection, str(quest.job))))
        for quest in mine
    ]
    return (found + [_ended(row) for row in tests.list_ended(connection, limit)])[:limit]


def _asked(quest: Quest, job: Job | None) -> TestRow:
    """One that has not been decided; job None: nor will it be."""
    order = quest.recipe if job is None else job.payload
    order = order | {"world": order["world"] or "duel"}
    test = SequentialTest(preset_of(order["preset"], order["world"]))
    seconds, to_go = 0.0, None
    if job is not None and job.started is not None and quest.status == "running":
        test = read_line(job.message, test.preset)
        seconds = (datetime.now(UTC) - datetime.fromisoformat(job.started)).total_seconds()
        left = max(0.0, 60 * order["minutes"] - seconds)
        games = int(test.results.sum())
        to_go = min(left, test.games_to_go * seconds / games) if games else left
    why = "" if job is not None else str((quest.result or {}).get("error") or quest.status)
    named = {name: order[name] for name in ("a", "b", "world", "preset")}
    own = quest.id.replace("quest-", "test-", 1)
    said = {"id": own, "state": quest.status, "time": quest.created, "quest": quest.id}
    return _row(test, **named, **said, seconds=seconds, seconds_to_go=to_go, why=why)


def _ended(row: tests.Ended) -> TestRow:
    counts = np.array(row.pairs), np.array(row.results)
    test = SequentialTest(preset_of(row.preset, row.world), *counts, expired=True)
    named = {name: getattr(row, name) for name in ("id", "a", "b", "world", "preset", "seconds")}
    return _row(test, **named, state="done", time=row.time, quest=None, seconds_to_go=None)


def _row(test: SequentialTest, why: str = "", **said: Any) -> TestRow:
    won, drawn, lost = (int(number) for number in test.results)
    any_games = bool(test.counts.sum())
    return TestRow(
        verdict=test.verdict if said["state"] == "done" else None,
        llr=round(test.llr, 4),
        bounds=test.bounds,
        share=test.share,
        pairs=test.counts.tolist(),
        games=won + drawn + lost,
        won=won,
        drawn=drawn,
        lost=lost,
        elo=elo_figure(test.counts) if any_games else None,
        games_to_go=test.games_to_go,
        block=why or (test.block() if any_games else "no games yet"),
        **said,
    )
