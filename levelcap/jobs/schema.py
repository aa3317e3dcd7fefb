"""Tables of the queue. One function a change, appended, never edited: see `kit.db.migrate`."""

from levelcap.kit import db
from levelcap.kit.db import Connection, Database

SCOPE = "jobs"

# `boot` names the boot that `ready_at`, `lease_at` and `deadline_at` are seconds of.
_JOBS = """
CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    payload TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'done', 'failed', 'dead', 'cancelled')),
    rank INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND max_attempts),
    max_attempts INTEGER NOT NULL,
    fence INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    created TEXT NOT NULL,
    started TEXT,
    ended TEXT,
    progress REAL NOT NULL DEFAULT 0,
    message TEXT NOT NULL DEFAULT '',
    result TEXT,
    error_code TEXT,
    error TEXT,
    idempotency_key TEXT,
    campaign TEXT,
    boot TEXT NOT NULL,
    ready_at REAL NOT NULL,
    lease_at REAL,
    deadline_at REAL,
    CHECK ((status = 'running') = (lease_at IS NOT NULL AND deadline_at IS NOT NULL)),
    CHECK ((status = 'done') = (result IS NOT NULL))
) STRICT
"""
_EVENTS = """
CREATE TABLE job_events (
    seq INTEGER PRIMARY KEY,
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    worker TEXT,
    fence INTEGER NOT NULL,
    detail TEXT NOT NULL
) STRICT
"""
# `give_up`: ids of jobs taken from this worker since its last heartbeat.
_WORKERS = """
CREATE TABLE workers (
    name TEXT PRIMARY KEY,
    device TEXT NOT NULL,
    roles TEXT NOT NULL,
    pid INTEGER,
    host TEXT,
    registered TEXT NOT NULL,
    seen TEXT NOT NULL,
    boot TEXT NOT NULL,
    seen_at REAL NOT NULL,
    give_up TEXT NOT NULL DEFAULT '[]'
) STRICT
"""
# A query finds a partial index only when it repeats the index's condition word for word.
ENDED = "status NOT IN ('queued', 'running')"
_INDICES = (
    # One per question that is asked often: the next job of a type, what runs, one status newest
    # first. The first two hold open jobs only, so history does not make them larger.
    "CREATE INDEX jobs_queued ON jobs (type, rank, seq) WHERE status = 'queued'",
    "CREATE INDEX jobs_running ON jobs (type, worker) WHERE status = 'running'",
    "CREATE INDEX jobs_by_status ON jobs (status, seq)",
    "CREATE UNIQUE INDEX jobs_by_key ON jobs (idempotency_key) WHERE idempotency_key IS NOT NULL",
    "CREATE INDEX job_events_by_job ON job_events (job_id, seq)",
)


def create_jobs(connection: Connection) -> None:
    """Jobs, their events, and the workers."""
    for statement in (_JOBS, _EVENTS, _WORKERS, *_INDICES):
        connection.execute(statement)


def index_ended_jobs_only(connection: Connection) -> None:
    """An index that a job enters once, at its end, instead of moving in it with every step."""
    connection.execute("DROP INDEX jobs_by_status")
    connection.execute(f"CREATE INDEX jobs_ended ON jobs (status, seq) WHERE {ENDED}")


MIGRATIONS: list[db.Migration] = [create_jobs, index_ended_jobs_only]


def migrate(engine: Database) -> list[str]:
    """Brings the tables of the queue up to date; returns the changes made now."""
    return db.migrate(engine, MIGRATIONS, SCOPE)
