"""What the vault does with files, as small operations that can be killed anywhere, and the check
of what is left after the next start.

    python -m tests.trust.keeping OPERATION     one operation in $LEVELCAP_HOME, for fault injection
"""

import os
import sys
from pathlib import Path

from levelcap.campaign.realm import Realm, open_realm
from levelcap.campaign.story import campaigns, runs
from levelcap.campaign.wheel import inbox
from levelcap.campaign.work.snapshots import adopt, publish_row
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import LevelcapError
from levelcap.kit.files import TMP
from levelcap.kit.paths import folder, get_base_dir
from levelcap.kit.publish import TRASH, verify
from levelcap.vault.assets import find, place_of
from levelcap.vault.ledger import get_ledger
from levelcap.vault.retention import finish_removals, remove_checkpoint
from tests.vault.made import snapshot

RUN = "reinforce-trust"
RECIPE = "quest: record\ngames: {}\n"


def prepare(realm: Realm) -> None:
    """A campaign with one run."""
    with transaction(realm.engine) as connection:
        made = campaigns.create(connection, "kestrel", "trust")
        runs.begin(connection, runs.NewRun(RUN, "reinforce", 0, "", world="duel"), made.id, 0)


def snapshots() -> Path:
    """Where the run's snapshots lie."""
    return folder("runs") / RUN / "snapshots"


def publish_one(realm: Realm, number: int) -> str:
    """Write a snapshot, enter it, attach its row; returns its id."""
    place = snapshots() / f"step-{number:012d}"
    snapshot(place, updates=number, value=float(number))
    return publish_row(realm.store, RUN, place).id


def retain_one(realm: Realm, most: int = 2) -> str | None:
    """Remove the oldest checkpoint if there are more than `most`; returns its id."""
    rows = get_ledger(realm.engine).list(limit=1000)
    if len(rows) <= most:
        return None
    remove_checkpoint(realm.engine, rows[-1].id)
    return rows[-1].id


def complete_one(realm: Realm, number: int) -> str:
    """A worker claims a job and completes it; its effect enters a snapshot."""
    store = realm.store
    store.register("w", "local_gpu_1", ["trainer"])
    job = store.claim("w", types=["reinforce"])
    assert job is not None
    place = snapshots() / f"step-{number:012d}"
    snapshot(place, updates=number, value=float(number))
    result = {
        "run": RUN,
        "snapshots": [place.name],
        "reason": "test",
        "skipped": False,
        "seconds": 1.0,
        "core_seconds": 1.0,
        "steps": number,
        "updates": number,
        "bad_updates": 0,
    }
    return store.complete(job.id, "w", job.fence, result).id


def ingest_one(realm: Realm) -> list[str]:
    """Whatever lies in the inbox becomes quests."""
    return [quest.id for quest in inbox.scan(realm.store, now=4e9)]


def restart(realm: Realm) -> None:
    """What the Keeper does when it starts."""
    runs.tidy()
    finish_removals(realm.engine)
    adopt(realm.store)


def violations(realm: Realm) -> list[str]:
    """What is wrong after a restart; nothing must be."""
    found = []
    zone_rows = get_ledger(realm.engine).list(limit=1000)
    known = set()
    for row in zone_rows:
        with reading(realm.engine) as connection:
            place = place_of(find(connection, row.id))
        if place is None:
            found.append(f"row without a folder: {row.id}")
            continue
        known.add(place.name)
        try:
            verify(place)
        except LevelcapError as error:
            found.append(f"unreadable: {error}")
    if snapshots().is_dir():
        for path in snapshots().iterdir():
            if path.name.startswith((TMP, TRASH)):
                found.append(f"left-over: {path.name}")
            elif path.name not in known:
                found.append(f"folder without a row: {path.name}")
    with reading(realm.engine) as connection:
        if (said := connection.execute("PRAGMA integrity_check").scalar_one()) != "ok":
            found.append(f"database: {said}")
        broken = connection.execute("PRAGMA foreign_key_check").all()
        found += [f"foreign key: {row}" for row in broken]
        found += _job_violations(connection)
    for place in (get_base_dir() / "inbox", get_base_dir() / "inbox" / "done"):
        if place.is_dir():
            found += [f"left-over: {p.name}" for p in place.iterdir() if p.name.startswith(TMP)]
    return found


def _job_violations(connection) -> list[str]:  # type: ignore[no-untyped-def]
    """A quest and its job say the same."""
    query = (
        "SELECT quests.id, quests.status, jobs.status AS job FROM quests JOIN jobs ON"
        " jobs.id = quests.job WHERE (jobs.status = 'done') != (quests.status IN"
        " ('done', 'skipped'))"
    )
    return [f"quest and job differ: {row}" for row in connection.execute(query)]


def main(words: list[str]) -> None:
    """One operation in a process of its own."""
    realm = open_realm()
    try:
        operations = {
            "publish": lambda: publish_one(realm, 77),
            "retain": lambda: retain_one(realm),
            "complete": lambda: complete_one(realm, 78),
            "ingest": lambda: ingest_one(realm),
        }
        os.write(1, b"BEGIN\n")  # fault points count from here
        done = operations[words[0]]()
        os.write(1, f"DONE {done}\n".encode())
    finally:
        realm.close()


if __name__ == "__main__":
    main(sys.argv[1:])
