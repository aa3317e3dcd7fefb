from pathlib import Path

import pytest

from levelcap.kit.errors import BadValue, UnknownName
from levelcap.kit.paths import FOLDERS, folder, get_base_dir, without_paths


def test_levelcap_home_wins_over_training_base_dir(monkeypatch, tmp_path):
    monkeypatch.setenv("TRAINING_BASE_DIR", str(tmp_path / "old"))
    monkeypatch.setenv("LEVELCAP_HOME", str(tmp_path / "new"))
    assert get_base_dir() == tmp_path / "new"
    monkeypatch.setenv("LEVELCAP_HOME", " ")
    assert get_base_dir() == tmp_path / "old"


def test_without_variables_the_base_is_in_the_users_home(monkeypatch, tmp_path):
    monkeypatch.delenv("LEVELCAP_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert get_base_dir() == tmp_path / ".levelcap"
    monkeypatch.setenv("LEVELCAP_HOME", "~/realm")
    assert get_base_dir() == tmp_path / "realm"


def test_asking_for_the_base_creates_nothing(home):
    get_base_dir()
    assert not home.exists()


@pytest.mark.parametrize("name", FOLDERS)
def test_a_named_folder_is_created_on_demand(home, name):
    assert folder(name) == home / name
    assert (home / name).is_dir()


def test_an_unknown_folder_is_refused_with_a_suggestion():
    with pytest.raises(UnknownName, match="Did you mean 'replays'"):
        folder("replay")


def test_a_base_that_is_a_file_is_refused_with_the_remedy(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LEVELCAP_HOME", str(tmp_path / "file"))
    with pytest.raises(BadValue, match="Set LEVELCAP_HOME"):
        folder("runs")


def test_a_read_only_base_is_refused(monkeypatch, home):
    folder("runs")
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != home / "runs")
    with pytest.raises(BadValue, match="not writable"):
        folder("runs")


def test_strangers_read_no_place_of_this_machine(home, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = f"cannot read {home}/runs/a; got {Path.home()}/x and {home}. Use GET /api/jobs."
    said = without_paths(text)
    assert said == "cannot read runs/a; got x and the realm's folder. Use GET /api/jobs."
