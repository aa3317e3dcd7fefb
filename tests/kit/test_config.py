import pytest

from levelcap.kit.config import Settings, load_settings
from levelcap.kit.errors import BadFile, BadValue, UnknownName
from levelcap.kit.paths import folder


def write(text, name="settings.yaml"):
    path = folder("config") / name
    path.write_text(text)
    return path


def test_defaults_hold_without_a_file():
    settings = load_settings()
    assert (settings.disk_cap_gb, settings.pause_on_battery, settings.log_level) == (
        20.0,
        True,
        "info",
    )
    assert settings.cores >= 1


def test_file_then_environment_then_override(monkeypatch):
    write("cores: 3\ndisk_cap_gb: 5\nlog_level: debug\n")
    monkeypatch.setenv("LEVELCAP_CORES", "4")
    monkeypatch.setenv("LEVELCAP_DISK_CAP_GB", "6")
    settings = load_settings({"cores": 5})
    assert (settings.cores, settings.disk_cap_gb, settings.log_level) == (5, 6.0, "debug")


def test_toml_is_read_as_well():
    write("cores = 7\n", "settings.toml")
    assert load_settings().cores == 7


def test_two_files_are_refused():
    write("cores: 1\n")
    write("cores = 1\n", "settings.toml")
    with pytest.raises(BadFile, match="two settings files"):
        load_settings()


def test_a_mistyped_key_is_an_error_wherever_it_comes_from(monkeypatch):
    with pytest.raises(UnknownName, match="Did you mean 'cores'"):
        load_settings({"core": 1})
    path = write("disk_cap: 3\n")
    with pytest.raises(UnknownName, match="Did you mean 'disk_cap_gb'"):
        load_settings()
    path.unlink()
    monkeypatch.setenv("LEVELCAP_LOGLEVEL", "info")
    with pytest.raises(UnknownName, match="Did you mean 'LEVELCAP_LOG_LEVEL'"):
        load_settings()


@pytest.mark.parametrize(
    "name, value", [("cores", 0), ("cores", "many"), ("disk_cap_gb", "nan"), ("log_level", "loud")]
)
def test_a_bad_value_names_the_setting_and_where_it_came_from(monkeypatch, name, value):
    with pytest.raises(BadValue, match=f"setting '{name}'"):
        load_settings({name: value})
    monkeypatch.setenv(f"LEVELCAP_{name.upper()}", str(value))
    with pytest.raises(BadValue, match=f"environment variable LEVELCAP_{name.upper()}"):
        load_settings()


@pytest.mark.parametrize("text", ["- a\n- b\n", "cores: [", "\x00"])
def test_a_file_that_holds_no_settings_is_refused(text):
    write(text)
    with pytest.raises(BadFile):
        load_settings()


def test_an_empty_file_means_defaults():
    write("")
    assert load_settings().disk_cap_gb == 20.0


def test_settings_cannot_be_changed_and_each_has_a_line_of_help():
    with pytest.raises(ValueError, match="frozen"):
        load_settings().cores = 9
    assert all(field.description for field in Settings.model_fields.values())


@pytest.mark.parametrize(
    "name, value", [("cores", 10**9), ("disk_cap_gb", 1e9), ("disk_cap_gb", 0)]
)
def test_settings_have_ranges(name, value):
    with pytest.raises(BadValue, match=name):
        load_settings({name: value})


def test_a_key_twice_is_refused():
    write("cores: 1\ncores: 2\n")
    with pytest.raises(BadFile, match="occurs twice"):
        load_settings()
