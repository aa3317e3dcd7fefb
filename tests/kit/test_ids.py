import hashlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelcap.kit import ids
from levelcap.kit.errors import BadValue

NOON = datetime(2026, 3, 4, 12, 5, 6, tzinfo=UTC)


def test_file_and_bytes_have_the_same_hash(tmp_path):
    data = b"x" * (ids.READ_BYTES + 1)
    (tmp_path / "f").write_bytes(data)
    assert ids.sha256_file(tmp_path / "f") == ids.sha256_bytes(data)
    assert ids.sha256_bytes(b"abc") == hashlib.sha256(b"abc").hexdigest()


def test_names():
    assert ids.checkpoint_name(1200, NOON) == "checkpoint-1200-20260304-1205"
    assert ids.checkpoint_step("checkpoint-1200-20260304-1205") == 1200
    assert ids.shard_name("ab" * 32) == "shard-abababababab"
    assert ids.run_name("imitate", NOON).startswith("imitate-20260304-120506-")
    assert ids.run_name("imitate", NOON) != ids.run_name("imitate", NOON)


@pytest.mark.parametrize("name", ["checkpoint-x-20260304-1205", "checkpoint-1", "../checkpoint"])
def test_other_names_are_no_checkpoints(name):
    with pytest.raises(BadValue):
        ids.checkpoint_step(name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "a/b",
        "/etc",
        "a\\b",
        ".hidden",
        "a..b",
        "a\n",
        "a\x00",
        "é",
        "-a",
        "x" * 101,
        5,
    ],
)
def test_what_could_leave_or_hide_in_a_folder_is_no_id(text):
    with pytest.raises(BadValue, match="not a path"):
        ids.check_id(text)


@given(st.text())
def test_an_accepted_id_names_a_direct_child(text):
    try:
        ids.check_id(text)
    except BadValue:
        return
    assert text.isascii() and not set(text) & set("/\\\0\n ") and text not in (".", "..")


@pytest.mark.parametrize("text", ["veteran~17", "duel-20260101-120000-ab12", "v1.0"])
def test_ordinary_names_are_ids(text):
    assert ids.check_id(text) == text


@pytest.mark.parametrize("text", ["a\nb", "\x1b[31mred", "\u202egnp.exe", "a\x00", "a\u2028b"])
def test_names_hold_no_control_characters(text):
    with pytest.raises(BadValue, match="control characters"):
        ids.check_words(text)


def test_words_of_all_languages_are_names():
    assert ids.check_words("Zoë's 2. Spiel — 日本 ⚔") == "Zoë's 2. Spiel — 日本 ⚔"
