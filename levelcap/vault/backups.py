"""Copies of the realm's database: one an hour, and one before anything risky.

`state/backups/realm-<YYYYMMDD-HHMMSS>-<why>.db`; the newest 24 stay, and the last of each of the
newest 7 days.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from levelcap.kit.db import Database, backup
from levelcap.kit.ids import check_id
from levelcap.kit.paths import folder
from levelcap.kit.publish import sweep

NEWEST, DAYS = 24, 7
_NAME = re.compile(r"realm-(\d{8})-(\d{6})-([a-z-]+)\.db")


def backups_folder() -> Path:
    """Where the copies lie."""
    path = folder("state") / "backups"
    path.mkdir(exist_ok=True)
    return path


def list_backups() -> list[Path]:
    """Copies, oldest first."""
    return sorted(p for p in backups_folder().iterdir() if _NAME.fullmatch(p.name))


def back_up(engine: Database, why: str = "hourly", at: datetime | None = None) -> Path:
    """Copy the database, checked, and thin out the old copies."""
    moment = (at or datetime.now(UTC)).strftime("%Y%m%d-%H%M%S")
    place = backups_folder()
    sweep(place)
    target = place / check_id(f"realm-{moment}-{why}.db", "backup")
    backup(engine, target)
    for old in superfluous(list_backups()):
        old.unlink(missing_ok=True)
    return target


def superfluous(copies: list[Path]) -> list[Path]:
    """Of copies (oldest first) those that go."""
    newest = set(copies[-NEWEST:])
    last_of_day = {p.name.split("-")[1]: p for p in copies}
    days = set(sorted(last_of_day)[-DAYS:])
    keep = newest | {p for day, p in last_of_day.items() if day in days}
    return [p for p in copies if p not in keep]


def age_s(at: datetime | None = None) -> float | None:
    """Seconds since the newest copy; None when there is none."""
    copies = list_backups()
    if not copies:
        return None
    match = _NAME.fullmatch(copies[-1].name)
    assert match is not None
    made = datetime.strptime(match[1] + match[2], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return ((at or datetime.now(UTC)) - made).total_seconds()
