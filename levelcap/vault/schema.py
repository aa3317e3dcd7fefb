"""Tables of the vault in the realm's database; see `levelcap.kit.db.migrate`.

assets     everything kept: a checkpoint, a dataset, an export …, named by what it contains
locations  where an asset lies: a stronghold and a path below its root
transfers  copies from one stronghold to another
ledger     one row a checkpoint, written when it is saved
evals      what an evaluation found, with every score, so that ratings can be computed again
champions  who became champion when; the newest row of a hero counts
removals   checkpoints that go at a given time unless somebody takes it back
probes     digests of checkpoints that have worked once, and how that is known
notes      what people wrote beside a checkpoint or a run, and its tags
"""

from __future__ import annotations

from levelcap.kit.db import Connection

SCOPE = "vault"

_FIRST = (
    """CREATE TABLE assets (
        id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, size_bytes INTEGER NOT NULL,
        sha256 TEXT NOT NULL, parents TEXT NOT NULL, status TEXT NOT NULL, created TEXT NOT NULL,
        verified TEXT, created_by TEXT NOT NULL) STRICT""",
    "CREATE INDEX assets_by_kind ON assets (kind, created)",
    """CREATE TABLE locations (
        asset_id TEXT NOT NULL REFERENCES assets (id), zone_id TEXT NOT NULL, path TEXT NOT NULL,
        added TEXT NOT NULL, PRIMARY KEY (asset_id, zone_id), UNIQUE (zone_id, path)) STRICT""",
    """CREATE TABLE transfers (
        id INTEGER PRIMARY KEY, asset_id TEXT NOT NULL REFERENCES assets (id),
        source_zone TEXT NOT NULL, target_zone TEXT NOT NULL, status TEXT NOT NULL,
        started TEXT NOT NULL, ended TEXT, error TEXT) STRICT""",
    """CREATE TABLE ledger (
        id TEXT PRIMARY KEY REFERENCES assets (id), step INTEGER NOT NULL, timestamp TEXT NOT NULL,
        canonical_name TEXT NOT NULL, role TEXT NOT NULL, hero TEXT NOT NULL,
        campaign TEXT, quest TEXT, run TEXT, world TEXT, train_loss REAL, val_loss REAL,
        learning_rate REAL, epoch REAL, accuracy REAL, perplexity REAL, elo REAL, elo_low REAL,
        elo_high REAL, training_file TEXT, skill_name TEXT, skill_level INTEGER,
        total_examples_trained INTEGER, size_bytes INTEGER NOT NULL, has_optimizer INTEGER NOT NULL,
        parents TEXT NOT NULL, cost_core_seconds REAL, sha256 TEXT NOT NULL,
        created_by TEXT NOT NULL, pinned INTEGER NOT NULL DEFAULT 0,
        base INTEGER NOT NULL DEFAULT 0, retired TEXT, ledger_version INTEGER NOT NULL,
        seq INTEGER NOT NULL) STRICT""",
    "CREATE UNIQUE INDEX ledger_by_seq ON ledger (seq)",
    "CREATE INDEX ledger_by_campaign ON ledger (campaign, seq)",
    "CREATE INDEX ledger_by_step ON ledger (step)",
    """CREATE TABLE evals (
        id INTEGER PRIMARY KEY, checkpoint TEXT NOT NULL REFERENCES ledger (id), kind TEXT NOT NULL,
        time TEXT NOT NULL, job TEXT UNIQUE, seed INTEGER NOT NULL, result TEXT NOT NULL) STRICT""",
    "CREATE INDEX evals_by_checkpoint ON evals (checkpoint, id)",
    """CREATE TABLE champions (
        seq INTEGER PRIMARY KEY, hero TEXT NOT NULL, checkpoint TEXT NOT NULL
        REFERENCES ledger (id), previous TEXT, time TEXT NOT NULL, reason TEXT NOT NULL,
        undone INTEGER NOT NULL DEFAULT 0) STRICT""",
    "CREATE INDEX champions_by_hero ON champions (hero, seq)",
)


def create_vault(connection: Connection) -> None:
    """The first tables."""
    for statement in _FIRST:
        connection.execute(statement)


def create_removals(connection: Connection) -> None:
    """Removals that wait."""
    connection.execute(
        "CREATE TABLE removals (checkpoint TEXT PRIMARY KEY REFERENCES ledger (id),"
        " due TEXT NOT NULL) STRICT"
    )


def index_elo(connection: Connection) -> None:
    """Pages sort by Elo."""
    connection.execute("CREATE INDEX ledger_by_elo ON ledger (elo)")


def add_elo_bound(connection: Connection) -> None:
    """What kind of number an Elo is: "" an estimate, ">" or "<" only a bound (a perfect record)."""
    connection.execute("ALTER TABLE ledger ADD COLUMN elo_bound TEXT NOT NULL DEFAULT ''")


def create_probes(connection: Connection) -> None:
    """Digests that have worked; what was judged or served before has."""
    connection.execute(
        "CREATE TABLE probes (digest TEXT PRIMARY KEY, how TEXT NOT NULL, time TEXT NOT NULL)"
        " STRICT"
    )
    connection.execute(
        "INSERT INTO probes SELECT DISTINCT sha256, 'evaluation', timestamp FROM ledger WHERE id IN"
        " (SELECT checkpoint FROM evals UNION SELECT checkpoint FROM champions)"
        " GROUP BY sha256"
    )


def add_verdicts(connection: Connection) -> None:
    """Every champion has the decision it was made by; those before verdicts say just that."""
    connection.execute("ALTER TABLE champions ADD COLUMN verdict TEXT NOT NULL DEFAULT '{}'")
    before = '{"version": 1, "override": {"reason": "before verdicts", "who": "levelcap"}}'
    connection.execute("UPDATE champions SET verdict = :v", {"v": before})


def create_notes(connection: Connection) -> None:
    """Notes and tags of people; pages look checkpoints up by the names that events hold."""
    connection.execute(
        "CREATE TABLE notes (subject TEXT PRIMARY KEY, text TEXT NOT NULL, tags TEXT NOT NULL,"
        " changed TEXT NOT NULL) STRICT"
    )
    connection.execute("CREATE INDEX ledger_by_name ON ledger (canonical_name)")


MIGRATIONS = [
    *(create_vault, create_removals, index_elo, add_elo_bound, create_probes, add_verdicts),
    create_notes,
]
