"""Actions of the old form: rows worked by hand, every loss counted, bad files refused."""

import numpy as np
import pytest

from levelcap.kit.errors import BadFile, BadValue, Conflict
from levelcap.lake.old_actions import convert_old, map_old
from levelcap.world.actions import HOTKEYS, from_mouse
from tests.cli.calling import levelcap

OLD = [
    [0.2, -0.4, 1.0, 0.0],  # left click
    [0.2, -0.4, 0.5, 0.0],  # .5 is not above .5: stands still, click and cursor are lost
    [-1.5, 0.0, 0.7, 10.5 / 15],  # beyond the edge, a click that was rounded, Q
    [0.0, 0.0, 0.0, 1.0],  # the last part: Ctrl, which does nothing
    [0.0, 0.6, 0.0, 13 / 15],  # Space: the cursor is not used
    [0.0, 0.0, 0.0, -0.2],  # below: none
]
NEW = [
    [0.2, -0.4, 1, 0],
    [0.2, -0.4, 0, 0],
    [-1.0, 0.0, 1, HOTKEYS.index("Q")],
    [0.0, 0.0, 0, HOTKEYS.index("Ctrl")],
    [0.0, 0.6, 0, HOTKEYS.index("Space")],
    [0.0, 0.0, 0, 0],
]


def test_rows_worked_by_hand():
    mouse, lost = map_old(OLD)
    assert mouse.tolist() == NEW
    assert (lost.rows, lost.cursor_at_edge, lost.click_rounded) == (6, 1, 2)
    assert (lost.ability_at_edge, lost.cursor_unused, lost.key_without_effect) == (1, 2, 1)
    assert {k: n for k, n in lost.hotkeys.items() if n} == {
        "none": 3,
        "Q": 1,
        "Space": 1,
        "Ctrl": 1,
    }
    bins = from_mouse(mouse)
    assert bins[0].tolist() == [5, 5, 6, 3, 1, 0, 0] and bins[4].tolist() == [5] * 4 + [0, 0, 1]


def test_every_hotkey_has_its_part_and_a_screen_has_the_player_in_its_middle():
    rows = np.zeros((15, 4))
    rows[:, 3] = (np.arange(15) + 0.5) / 15
    mouse, lost = map_old(rows)
    assert mouse[:, 3].tolist() == list(range(15)) and set(lost.hotkeys.values()) == {1}
    mouse, lost = map_old([[0.5, 1.0, 1, 0], [0.0, 1.25, 1, 0]], screen=True)
    assert mouse[:, :2].tolist() == [[0.0, 1.0], [-1.0, 1.0]] and lost.cursor_at_edge == 1


@pytest.mark.parametrize("kind", [".csv", ".npy"])
def test_files_in_and_out_by_command(tmp_path, capsys, kind):
    np.save(tmp_path / "old.npy", np.array(OLD))
    lines = [",".join(map(repr, row)) for row in OLD]
    (tmp_path / "old.csv").write_text("\n".join(["x, y, click, ability_val", *lines, ""]))
    source, out = tmp_path / f"old{kind}", tmp_path / f"new{kind}"
    code, said, error = levelcap(capsys, "lake", "old-actions", str(source), str(out))
    assert code == 0, error
    assert "15 equal parts" in said and "cursor unused" in said
    if kind == ".npy":
        assert np.load(out).tolist() == NEW
    else:
        assert out.read_text().splitlines()[:2] == ["x,y,click_type,hotkey_id", "0.2,-0.4,1,0"]
    code, _, error = levelcap(capsys, "lake", "old-actions", str(source), str(out))
    assert code != 0 and "there is a file already" in error


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("1,2,3\n", BadValue, "not actions of the old form"),
        ("1,0,0,0\n1,0\n", BadFile, "no actions of the old form"),
        ("a,b,c,d\n1,0,0,0\n", BadFile, "could not convert"),
        ("0,0,0,0\n0,0,nan,0\n", BadValue, "click of row 1 is no finite number"),
    ],
)
def test_files_that_hold_something_else_are_refused(tmp_path, text, kind, said):
    (tmp_path / "old.csv").write_text(text)
    with pytest.raises(kind, match=said):
        convert_old(tmp_path / "old.csv", tmp_path / "new.csv")
    assert not (tmp_path / "new.csv").exists()


def test_files_of_another_kind_and_missing_ones_are_refused(tmp_path):
    with pytest.raises(BadFile, match="No such file"):
        convert_old(tmp_path / "old.csv", tmp_path / "new.csv")
    with pytest.raises(BadValue, match=r"end in \.csv or \.npy"):
        convert_old(tmp_path / "old.json", tmp_path / "new.csv")
    with pytest.raises(BadValue, match="no such folder"):
        convert_old(tmp_path / "old.csv", tmp_path / "away" / "new.csv")
    (tmp_path / "old.npy").write_bytes(b"")
    with pytest.raises(BadFile, match="no actions of the old form"):
        convert_old(tmp_path / "old.npy", tmp_path / "new.csv")
    (tmp_path / "new.csv").write_text("mine")
    with pytest.raises(Conflict, match="already"):
        convert_old(tmp_path / "old.npy", tmp_path / "new.csv")
