"""`levelcap query`: reads anything, changes nothing, ends in time."""

import json

import pytest

from levelcap.campaign.story.events import say
from levelcap.kit.db import transaction
from tests.cli.calling import levelcap
from tests.cli.kept import keep_arena


def test_rows_come_as_a_table_as_json_and_as_csv(realm, capsys):
    row, _ = keep_arena(realm, 10, elo=1100.0)
    asked = "SELECT id, step, elo FROM ledger"
    code, out, err = levelcap(capsys, "query", asked)
    assert code == 0 and row.id in out, err
    code, out, _ = levelcap(capsys, "query", asked, "--as", "json")
    assert json.loads(out) == {"id": row.id, "step": 10, "elo": 1100.0}
    code, out, _ = levelcap(capsys, "query", f"{asked};", "--as", "csv")
    assert out == f"id,step,elo\n{row.id},10,1100.0\n"
    code, out, _ = levelcap(capsys, "query")
    assert code == 0 and "ledger: id, step," in out


def test_rows_are_limited_and_harmless_to_a_terminal(realm, capsys):
    for number in range(4):
        say(realm.engine, "service.up", f"\x1b[2J[bold]{number}")
    code, out, err = levelcap(capsys, "query", "SELECT message FROM events", "--limit", "2")
    assert code == 0 and "the first 2 rows" in err
    assert "·[2J[bold]0" in out and "\x1b[2J" not in out and "[bold]2" not in out


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("DELETE FROM jobs", "one SELECT"),
        ("SELECT 1; DELETE FROM ledger", "one statement"),
        ("WITH a AS (SELECT 1) DELETE FROM ledger", "only reads"),
        ("SELECT * FROM pragma_database_list", "only reads"),
        ("SELECT load_extension('x')", "only reads"),
        ("SELECT colour FROM ledger", "levelcap query"),
        ("SELECT token FROM guests", "only reads"),
        ("", "one SELECT"),
        (
            "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM a) SELECT count(*) FROM a",
            "took longer than 0.2 s",
        ),
    ],
)
def test_anything_else_is_refused_and_nothing_is_changed(realm, capsys, sql, said):
    with transaction(realm.engine) as connection:
        connection.execute("CREATE TABLE guests (token TEXT) STRICT")
    keep_arena(realm, 10)
    code, _, err = levelcap(capsys, "query", sql, "--seconds", "0.2")
    assert code == 2 and said in err and len(err.strip().splitlines()) == 1
    assert levelcap(capsys, "query", "SELECT count(*) AS n FROM ledger", "--as", "json")[1] == (
        '{"n": 1}\n'
    )


def test_a_realm_without_a_database_is_not_given_one(home, capsys):
    code, _, err = levelcap(capsys, "query", "SELECT 1")
    assert code == 1 and "levelcap up" in err and not (home / "state").exists()
