"""The circuit breaker: scheduled work that keeps failing stops, says so, and waits for a person.

    halt = look(connection, campaign)   # None: the wheel may turn
    try_again(connection)               # the way out: the counts begin anew

The same failure three times in a row stops that kind of work. Two failures are the same when kind
of work, error code and the first line without its numbers agree. Six failed scheduled quests within
ten minutes, whatever their causes, stop all scheduled work until the first of them is ten minutes
old. Work that was refused when it was entered stops at once: asking again cannot help. A success
begins the counts anew. What failed is read from the quests; stored are only the moment of the last
"try again" and a refusal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from levelcap.campaign.story import quests
from levelcap.campaign.story.rows import Row
from levelcap.campaign.story.values import get_value, set_value
from levelcap.kit.db import Connection

SAME = 3
MOST, WINDOW = 6, timedelta(minutes=10)
LOOKED_AT = 60  # scheduled quests; three of a kind are among them
RETRY = "Mend the cause, then: levelcap training retry"
_MARK, _REFUSAL = "breaker mark", "breaker refusal"
_FAILED = ("failed", "dead")


@dataclass(frozen=True)
class Halt(Row):
    """Why scheduled work stands still, and the way out; `kind` None: all of it stands."""

    kind: str | None
    reason: str
    remedy: str

    def stops(self, kind: str) -> bool:
        """Does it stop this kind of work?"""
        return self.kind in (None, kind)


def look(connection: Connection, campaign: str, at: datetime | None = None) -> Halt | None:
    """Why the scheduled work of a campaign stands still; None: it may go on."""
    mark = int(get_value(connection, _MARK, 0))
    refused = get_value(connection, _REFUSAL)
    if refused is not None and refused["campaign"] == campaign:
        return Halt(None, f"a scheduled quest was refused: {refused['reason']}", RETRY)
    return _storm(connection, mark, at or datetime.now(UTC)) or _same(connection, campaign, mark)


def _storm(connection: Connection, mark: int, at: datetime) -> Halt | None:
    ends = [quest.ended for quest in quests.ended_scheduled(connection, mark, MOST)]
    if len(ends) < MOST or (first := datetime.fromisoformat(min(ends))) < at - WINDOW:
        return None
    minutes = WINDOW.total_seconds() / 60
    until = (first + WINDOW).strftime("%H:%M UTC")
    what = f"{MOST} scheduled quests failed within {minutes:.0f} minutes"
    return Halt(None, what, f"They go on at {until}. {RETRY}")


def _same(connection: Connection, campaign: str, mark: int) -> Halt | None:
    newest: dict[str, list[tuple[str, str] | None]] = {}
    for quest in quests.ended_scheduled(connection, mark, LOOKED_AT, campaign):
        failure = signature(quest.code, quest.error) if quest.status in _FAILED else None
        newest.setdefault(quest.kind, []).append(failure)
    for kind, failures in newest.items():
        last = failures[0]
        if last is not None and failures[:SAME] == [last] * SAME:
            what = f"{kind} failed {SAME} times in a row ({': '.join(filter(None, last))})"
            return Halt(kind, what, RETRY)
    return None


def signature(code: str, error: str) -> tuple[str, str]:
    """What makes two failures of one kind of work the same: error code, and first line."""
    lines = error.splitlines() or [""]
    # Ids and paths hold numbers too: the whole word goes.
    return code, re.sub(r"\S*\d\S*", "#", lines[0])[:200]


def note_refusal(connection: Connection, campaign: str, reason: str) -> None:
    """A scheduled quest was refused when it was entered."""
    set_value(connection, _REFUSAL, {"campaign": campaign, "reason": reason[:300]})


def try_again(connection: Connection) -> None:
    """Begin the counts anew: whatever failed so far no longer stops anything."""
    set_value(connection, _MARK, quests.last_seq(connection))
    set_value(connection, _REFUSAL, None)
