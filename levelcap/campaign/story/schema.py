"""Tables of the campaign in the realm's database; see `levelcap.kit.db.migrate`.

campaigns  attempts to take a hero as far as it can go
quests     units of training work, each carried out by one job
runs       run folders: what they cost and what they gained
events     the battle log
curves     metrics of runs at three zooms; curve_marks: how much of a file is in them
exams      judged exams of text heroes
realm      named values of the realm itself (training paused, held, …)
"""

from __future__ import annotations

from levelcap.kit.db import Connection

SCOPE = "campaign"

_FIRST = (
    """CREATE TABLE campaigns (
        id TEXT PRIMARY KEY, hero_id TEXT NOT NULL, name TEXT NOT NULL, created_at TEXT NOT NULL,
        status TEXT NOT NULL, starting_checkpoint TEXT, starting_step INTEGER NOT NULL,
        current_step INTEGER NOT NULL, skills_focus TEXT NOT NULL, config_overrides TEXT NOT NULL,
        description TEXT NOT NULL, milestones TEXT NOT NULL, peak_skill_levels TEXT NOT NULL,
        peak_metrics TEXT NOT NULL, archived_at TEXT) STRICT""",
    "CREATE UNIQUE INDEX one_active ON campaigns (hero_id) WHERE status = 'active'",
    """CREATE TABLE quests (
        id TEXT PRIMARY KEY, campaign TEXT NOT NULL REFERENCES campaigns (id), kind TEXT NOT NULL,
        title TEXT NOT NULL, recipe TEXT NOT NULL, priority TEXT NOT NULL, source TEXT NOT NULL,
        status TEXT NOT NULL, job TEXT UNIQUE, run TEXT, created TEXT NOT NULL, ended TEXT,
        result TEXT, seq INTEGER NOT NULL UNIQUE) STRICT""",
    "CREATE INDEX quests_by_campaign ON quests (campaign, seq)",
    "CREATE INDEX quests_by_status ON quests (status, seq)",
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY, campaign TEXT REFERENCES campaigns (id), kind TEXT NOT NULL,
        world TEXT NOT NULL, seed INTEGER NOT NULL, command TEXT NOT NULL, started TEXT NOT NULL,
        ended TEXT, seconds REAL NOT NULL DEFAULT 0, core_seconds REAL NOT NULL DEFAULT 0,
        steps INTEGER NOT NULL DEFAULT 0, updates INTEGER NOT NULL DEFAULT 0,
        base_step INTEGER NOT NULL DEFAULT 0, gain REAL, gain_low REAL, gain_high REAL,
        cost_per_elo REAL, worth TEXT) STRICT""",
    "CREATE INDEX runs_by_campaign ON runs (campaign, started)",
    """CREATE TABLE events (
        seq INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, channel TEXT NOT NULL,
        severity TEXT NOT NULL, message TEXT NOT NULL, data TEXT NOT NULL) STRICT""",
    "CREATE TABLE realm (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
)


def create_campaign(connection: Connection) -> None:
    """The first tables."""
    for statement in _FIRST:
        connection.execute(statement)


_CURVES = (
    """CREATE TABLE curves (
        run TEXT NOT NULL, metric TEXT NOT NULL, zoom TEXT NOT NULL, data TEXT NOT NULL,
        PRIMARY KEY (run, metric, zoom)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE curve_marks (
        run TEXT PRIMARY KEY, offset INTEGER NOT NULL, taken TEXT NOT NULL) STRICT""",
)


def create_curves(connection: Connection) -> None:
    """Rolled-up metrics."""
    for statement in _CURVES:
        connection.execute(statement)


_EXAMS = (
    """CREATE TABLE exams (
        seq INTEGER PRIMARY KEY, run TEXT NOT NULL, step INTEGER NOT NULL, kind TEXT NOT NULL,
        campaign TEXT NOT NULL REFERENCES campaigns (id), skill TEXT NOT NULL,
        level INTEGER NOT NULL, outcome TEXT NOT NULL, accuracy REAL NOT NULL,
        count INTEGER NOT NULL, xp INTEGER NOT NULL, mastered INTEGER NOT NULL,
        core_seconds REAL NOT NULL, data TEXT NOT NULL, UNIQUE (run, step, kind)) STRICT""",
    "CREATE INDEX exams_by_skill ON exams (campaign, skill, seq)",
)


def create_exams(connection: Connection) -> None:
    """Exams of text heroes."""
    for statement in _EXAMS:
        connection.execute(statement)


MIGRATIONS = [create_campaign, create_curves, create_exams]
