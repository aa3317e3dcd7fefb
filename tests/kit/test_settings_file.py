"""Settings written by us: checked first, atomic, and told where each value comes from."""

import pytest
import yaml

from levelcap.kit.config import describe_settings, load_settings, save_settings
from levelcap.kit.errors import BadFile, BadValue, UnknownName
from levelcap.kit.paths import folder


def stored():
    return yaml.safe_load((folder("config") / "settings.yaml").read_text())


def row(name):
    return next(r for r in describe_settings() if r["name"] == name)


def test_changes_are_added_to_the_file_and_count_at_once(home):
    save_settings({"cores": 1})
    save_settings({"disk_cap_gb": 5})
    assert stored() == {"cores": 1, "disk_cap_gb": 5.0}
    assert load_settings().disk_cap_gb == 5
    assert (row("cores")["origin"], row("log_level")["origin"]) == ("file", "default")
    save_settings({"cores": None})
    assert stored() == {"disk_cap_gb": 5.0} and row("cores")["origin"] == "default"


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [({"cores": 0}, BadValue, "cores"), ({"corse": 1}, UnknownName, "did you mean|Did you mean")],
)
def test_what_is_wrong_leaves_the_file_alone(home, changes, error, words):
    save_settings({"cores": 1})
    with pytest.raises(error, match=words):
        save_settings(changes)
    assert stored() == {"cores": 1}


def test_the_environment_wins_and_is_named(home, monkeypatch):
    monkeypatch.setenv("LEVELCAP_CORES", "1")
    save_settings({"cores": 2})
    assert load_settings().cores == 1 and row("cores")["origin"] == "LEVELCAP_CORES"


def test_a_toml_file_is_left_to_its_writer(home):
    (folder("config") / "settings.toml").write_text("cores = 1\n")
    with pytest.raises(BadFile, match="by hand"):
        save_settings({"cores": 2})


def test_more_cores_than_the_machine_has_are_not_saved():
    save_settings({"cores": 1})
    with pytest.raises(BadValue, match="this machine has"):
        save_settings({"cores": 1000})
    assert stored() == {"cores": 1}
