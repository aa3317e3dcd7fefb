import errno
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelcap.kit import files
from levelcap.kit.errors import BadFile, BadValue, Corrupt, NoSpace

FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | FINITE
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(JSON)
def test_json_comes_back_as_it_went(value):
    assert files.parse_json(files.dump_json(value)) == value
    assert files.parse_json(files.dump_line(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "[-Infinity]",
        "1e999",
        "-1.5E+400",
        "1" * 400 + ".0",
        '{"a":1,"a":2}',
        "[" * 100_000,
        "{",
    ],
)
def test_what_is_not_strict_json_is_refused(tmp_path, text):
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(BadFile, match=r"f\.json"):
        files.read_json(tmp_path / "f.json")


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {1, 2}, object()])
def test_what_json_cannot_hold_is_not_written(tmp_path, value):
    files.write_json(tmp_path / "f.json", {"old": 1})
    with pytest.raises(BadValue):
        files.write_json(tmp_path / "f.json", value)
    assert files.read_json(tmp_path / "f.json") == {"old": 1}
    assert os.listdir(tmp_path) == ["f.json"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    files.write_bytes(tmp_path / "f", b"old")

    def full(fd):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoSpace, match="Make room"):
        files.write_bytes(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_an_atomic_write_syncs_file_then_renames_then_syncs_folder(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(
        os,
        "fsync",
        lambda fd: calls.append("dir" if os.path.isdir(f"/proc/self/fd/{fd}") else "file"),
    )
    real = os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: (calls.append("rename"), real(a, b)))
    files.write_bytes(tmp_path / "f", b"data")
    assert calls == ["file", "rename", "dir"]


def test_lines_are_appended_and_read(tmp_path):
    path = tmp_path / "m.jsonl"
    files.append_jsonl(path, [{"a": 1}, {"a": 2}])
    files.append_jsonl(path, [{"a": 3}], sync=True)
    assert files.read_jsonl(path) == files.Lines([{"a": 1}, {"a": 2}, {"a": 3}], 0)


@given(cut=st.integers(0, 30), long=st.booleans())
def test_a_torn_last_line_is_counted_and_cut_by_the_next_append(tmp_path_factory, cut, long):
    path = tmp_path_factory.mktemp("torn") / "m.jsonl"
    tail = files.dump_line({"text": "y" * (9000 if long else 25)})[:-1]
    tail = tail[: len(tail) - cut]
    path.write_bytes(files.dump_line({"a": 1}) + tail)
    assert files.read_jsonl(path) == files.Lines([{"a": 1}], len(tail))
    files.append_jsonl(path, [{"a": 2}])
    assert files.read_jsonl(path) == files.Lines([{"a": 1}, {"a": 2}], 0)


def test_a_file_that_is_only_a_torn_line_starts_anew(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'{"a')
    files.append_jsonl(path, [1])
    assert path.read_bytes() == b"1\n"


def test_a_refused_record_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "m.jsonl"
    files.append_jsonl(path, [1])
    with pytest.raises(BadValue):
        files.append_jsonl(path, [2, float("nan")])
    assert files.read_jsonl(path).records == [1]


def test_a_bad_line_in_the_middle_is_corruption_and_named(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_bytes(b"1\n{oops\n3\n")
    with pytest.raises(Corrupt, match="line 2"):
        files.read_jsonl(path)


def test_missing_lines_are_a_bad_file(tmp_path):
    with pytest.raises(BadFile, match="nowhere"):
        files.read_jsonl(tmp_path / "nowhere.jsonl")


def test_a_private_file_is_its_owners_alone(tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_bytes(b"kept")
    old.chmod(0o644)
    for path in (new, old):
        assert files.keep_private(path).stat().st_mode & 0o777 == 0o600
    assert old.read_bytes() == b"kept"
