"""Notes and tags beside checkpoints and runs, and looking for checkpoints by them."""

import pytest

from levelcap.campaign.sheet.strength import why_not_crowned
from levelcap.kit.db import reading, transaction
from levelcap.kit.errors import BadValue, UnknownName
from levelcap.trials.verdict import Override
from levelcap.vault.champion import promote
from levelcap.vault.evals import TRIAL, store_eval
from levelcap.vault.ledger import rate
from levelcap.vault.notes import all_tags, annotate, notes_of
from levelcap.vault.search import Wanted, choices, search
from tests.vault.made import entered


@pytest.fixture
def rows(realm):
    return [
        entered(realm, 11_552, run="reinforce-1", world="duel"),
        entered(realm, 40, run="imitate-1", world="siege", hero="owl"),
        entered(realm, 41, run="reinforce-1", world="duel"),
    ]


def found(realm, **wanted):
    with reading(realm.engine) as connection:
        return [row.step for row in search(connection, Wanted(**wanted))[0]]


def test_a_note_and_tags_are_written_changed_and_taken_away(realm, rows):
    with transaction(realm.engine) as connection:
        annotate(connection, rows[0].id, text="aims well", tags=["Good-Aim", "keep", "keep"])
        annotate(connection, "reinforce-1", tags=["warm"])
        annotate(connection, rows[0].id, text="")
        note = notes_of(connection, [rows[0].id, None, "nobody"])[rows[0].id]
        assert (note.text, note.tags) == ("", ("good-aim", "keep"))
        assert all_tags(connection) == ["good-aim", "keep", "warm"]


def test_odd_notes_are_refused_in_words(realm, rows):
    for given, words in (
        ({"text": "x" * 501}, "at most 500"),
        ({"text": "a\x1b[2J"}, "control"),
        ({"tags": ["two words"]}, "no tag"),
        ({"tags": [str(n) for n in range(13)]}, "at most 12"),
    ):
        with pytest.raises(BadValue, match=words), transaction(realm.engine) as connection:
            annotate(connection, rows[0].id, **given)
    with pytest.raises(UnknownName, match="no-such-run"), transaction(realm.engine) as connection:
        annotate(connection, "no-such-run", text="hello")


def test_checkpoints_are_found_by_the_name_on_pages_and_by_what_was_written(realm, rows):
    with transaction(realm.engine) as connection:
        annotate(connection, rows[2].id, text="falls for feints")
        annotate(connection, "imitate-1", tags=["base"])
    assert found(realm, words="kestrel 11,552") == [11_552]
    assert found(realm, words="feints") == [41] and found(realm, words="imitate") == [40]
    assert found(realm, tag="base") == [40] and found(realm, hero="kestrel") == [41, 11_552]
    assert found(realm, world="siege", words="owl") == [40] and found(realm, words="%_%") == []
    with reading(realm.engine) as connection:
        assert choices(connection)["hero"] == ["kestrel", "owl"]
        page, total = search(connection, Wanted(), "step", descending=False, limit=1, offset=1)
    assert (page[0].step, total) == (41, 3)


def test_why_a_checkpoint_does_not_reign_is_said(realm, rows):
    first, _, later = rows

    def why(entry):
        with reading(realm.engine) as connection:
            return why_not_crowned(connection, entry)

    assert why(first) == "Nobody reigns yet; the first judged checkpoint does."
    promote(realm.engine, first.id, Override("a choice", "me"))
    assert why(first) == "" and why(later) == "It was not judged yet."
    with transaction(realm.engine) as connection:
        said = {"passed": False, "reason": "it idles", "champion": first.id}
        store_eval(connection, later.id, TRIAL, "job-1", 0, said)
        rate(connection, later.id, (1100.0, 1000.0, 1200.0))
    assert why(later) == f"Its trial against {first.id} refused it: it idles"
    promote(realm.engine, later.id, Override("a choice", "me"))
    assert why(first) == f"It reigned, until {later.id} took its place."
