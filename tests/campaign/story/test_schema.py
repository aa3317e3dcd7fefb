"""A realm of an older version: its tables are brought up to date and nothing is lost."""

import json

from levelcap.campaign.story import matches, runs, schema
from levelcap.kit.db import migrate, open_db, reading, transaction

RUN = (
    "INSERT INTO runs (id, campaign, kind, world, seed, command, started, worth)"
    " VALUES (:i, NULL, :k, :w, 0, :c, '2026-01-01', :v)"
)
OLD = [
    ("reinforce-a", "reinforce", "duel",
     "levelcap reinforce --from checkpoint-1 --set a=b", "gain [12]"),
    ("reinforce-b", "reinforce", "duel", "levelcap reinforce --out x", None),
    ("study-a", "study", "bin_add", "levelcap text train --from checkpoint-2", None),
    ("imitate-a", "imitate", "duel", "levelcap imitate", "first of its kind [3]"),
]  # fmt: skip


def old_realm(path):
    """As the version before left it: a study's skill in `world`, the mark in `worth`."""
    database = open_db(path)
    migrate(database, schema.MIGRATIONS[:3], scope=schema.SCOPE)
    with transaction(database) as connection:
        for i, k, w, c, v in OLD:
            connection.execute(RUN, {"i": i, "k": k, "w": w, "c": c, "v": v})
        for number, outcome in enumerate((1, -1, None)):
            told = {
                "match": f"live-{number}",
                "world": "duel",
                "seats": ["person-ann", "master"],
                "winner": 0,
                "human": outcome is not None,
                "person": "person-ann",
                "outcome": outcome,
                "seconds": 9.5,
                "replay": "live-1",
                "shard": None,
            }
            connection.execute(
                "INSERT INTO events (time, kind, channel, severity, message, data)"
                " VALUES ('2026-01-01', 'league.match_played', 'eval', 'info', '', :d)",
                {"d": json.dumps(told)},
            )
    return database


def test_machine_state_moves_out_of_prose_into_columns(tmp_path):
    database = old_realm(tmp_path / "realm.db")
    migrate(database, schema.MIGRATIONS, scope=schema.SCOPE)
    with reading(database) as connection:
        found = {run.id: run for run in runs.list_runs(connection)}
    told = {i: (r.world, r.skill, r.start, r.settled, r.worth) for i, r in found.items()}
    assert told == {
        "reinforce-a": ("duel", None, "checkpoint-1", 12, "gain"),
        "reinforce-b": ("duel", None, None, 0, None),
        "study-a": ("text", "bin_add", "checkpoint-2", 0, None),
        "imitate-a": ("duel", None, None, 3, "first of its kind"),
    }
    database.dispose()


def test_matches_of_the_battle_log_become_rows(tmp_path):
    database = old_realm(tmp_path / "realm.db")
    migrate(database, schema.MIGRATIONS, scope=schema.SCOPE)
    with reading(database) as connection:
        rows = matches.list_matches(connection)
        assert matches.count_people(connection) == matches.People(2, 1, 0, 1)
    assert [(m.id, m.a, m.b, m.a_sha256, m.score) for m in rows][-1] == (
        "live-0",
        "person-ann",
        "master",
        None,
        1.0,
    )
    database.dispose()
