"""Tables of the campaign in the realm's database; see `levelcap.kit.db.migrate`.

campaigns  attempts to take a hero as far as it can go
quests     units of training work, each carried out by one job
runs       run folders: what they cost and what they gained
events     the battle log
curves     metrics of runs at three zooms; curve_marks: how much of a file is in them
exams      judged exams of text heroes
matches    live matches, with both content hashes
tests      sequential tests that have ended
realm      named values of the realm itself (training paused, held, …)
"""

from __future__ import annotations

import json

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


_MATCHES = (
    """CREATE TABLE matches (
        id TEXT PRIMARY KEY, time TEXT NOT NULL, world TEXT NOT NULL, seed INTEGER NOT NULL,
        a TEXT NOT NULL, a_sha256 TEXT, b TEXT NOT NULL, b_sha256 TEXT, winner INTEGER NOT NULL,
        score REAL NOT NULL, person TEXT, outcome INTEGER, seconds REAL NOT NULL, replay TEXT,
        shard TEXT) STRICT""",
    "CREATE INDEX matches_by_time ON matches (time)",
    "CREATE INDEX matches_by_sides ON matches (a_sha256, b_sha256)",
)


def create_matches(connection: Connection) -> None:
    """Live matches; those in the battle log so far are taken over, without hashes and seeds."""
    for statement in _MATCHES:
        connection.execute(statement)
    played = "SELECT time, data FROM events WHERE kind = 'league.match_played' ORDER BY seq"
    for time, data in connection.execute(played).all():
        told = json.loads(data)
        seats, winner = told["seats"], int(told["winner"])
        half = max(1, len(seats) // 2)
        connection.execute(
            "INSERT INTO matches VALUES (:i, :t, :w, 0, :a, NULL, :b, NULL, :v, :s, :p, :o, :d,"
            " :r, :h) ON CONFLICT DO NOTHING",
            {
                "i": told["match"],
                "t": time,
                "w": told["world"],
                "a": " and ".join(dict.fromkeys(seats[:half])),
                "b": " and ".join(dict.fromkeys(seats[half:])),
                "v": winner,
                "s": 0.5 if winner < 0 else float(winner == 0),
                "p": told.get("person"),
                "o": told.get("outcome"),
                "d": told["seconds"],
                "r": told.get("replay"),
                "h": told.get("shard"),
            },
        )


def split_runs(connection: Connection) -> None:
    """What runs are about, where they start and how far their gain was written: own columns.

    Before, `world` of a study held its skill, and `worth` ended with the number in brackets.
    """
    for column in ("skill TEXT", "start TEXT", "settled INTEGER NOT NULL DEFAULT 0"):
        connection.execute(f"ALTER TABLE runs ADD COLUMN {column}")
    connection.execute("UPDATE runs SET skill = world, world = 'text' WHERE kind = 'study'")
    for run, command, worth in connection.execute("SELECT id, command, worth FROM runs").all():
        words = command.split()
        start = words[words.index("--from") + 1] if "--from" in words[:-1] else None
        said, _, mark = (worth or "").rstrip("]").partition(" [")
        connection.execute(
            "UPDATE runs SET start = :s, settled = :m, worth = :w WHERE id = :i",
            {"s": start, "m": int(mark or 0), "w": said or None, "i": run},
        )


def create_tests(connection: Connection) -> None:
    """Sequential tests that have ended."""
    connection.execute(
        """CREATE TABLE tests (
        id TEXT PRIMARY KEY, time TEXT NOT NULL, a TEXT NOT NULL, b TEXT NOT NULL,
        world TEXT NOT NULL, preset TEXT NOT NULL, seed INTEGER NOT NULL, verdict TEXT NOT NULL,
        pairs TEXT NOT NULL, results TEXT NOT NULL, seconds REAL NOT NULL) STRICT"""
    )
    connection.execute("CREATE INDEX tests_by_time ON tests (time)")


MIGRATIONS = [
    *(create_campaign, create_curves, create_exams, create_matches, split_runs, create_tests),
]
