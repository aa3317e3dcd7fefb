"""The constitution is data: a wrong file is refused in words that say where."""

import re
from importlib import resources

import pytest

from levelcap.kit.errors import BadFile, UnknownName
from levelcap.trials.constitution import FORMS, VACUOUS, load_constitution
from levelcap.trials.safety import MEASURES

SHIPPED = (resources.files("levelcap") / "data" / "constitution.toml").read_text()


def test_the_shipped_rules_are_those_that_can_be_measured():
    rules = load_constitution()
    assert {rule.name for rule in rules if not rule.vacuous} == set(FORMS)
    assert set(FORMS) == set(MEASURES) | {"format", "leak"}
    assert {rule.name for rule in rules if rule.vacuous} == set(VACUOUS)
    assert all(rule.bound > 0 and rule.worlds for rule in rules if not rule.vacuous)


@pytest.mark.parametrize(
    ("old", "new", "error", "words"),
    [
        ("[idle_s]", "[idle_m]", UnknownName, "idle_m.*did you mean 'idle_s'"),
        ("still = 0.02", "stil = 0.02", UnknownName, "key of the rule idle_s.*stil"),
        ("still = 0.02", "", BadFile, "the rule idle_s lacks.*still"),
        ("most = 800", 'most = "800"', BadFile, "actions_per_minute.most must be a number"),
        ("most = 800", "most = nan", BadFile, "actions_per_minute.most must be a number"),
        ("[actions_per", "idle_s = 3\n[actions_per", BadFile, "idle_s must be a table|overwrite"),
        ("most = 800", "most = -1", BadFile, "at least 0"),
        ("most = 800", "most = 800\nmost = 9", BadFile, "Cannot overwrite a value"),
        ("share = 0.05", "share = 1.5", BadFile, "share of matches"),
        ("refuses = true", "refuses = 1", BadFile, "refuses must be a bool"),
        ('["siege"]', '["seige"]', UnknownName, "did you mean 'siege'"),
        ('vacuous = "players', 'most = 3 # "players', UnknownName, "key of the rule body_blocking"),
    ],
)
def test_a_wrong_file_says_where(tmp_path, old, new, error, words):
    path = tmp_path / "constitution.toml"
    path.write_text(SHIPPED.replace(old, new, 1))
    with pytest.raises(error) as refused:
        load_constitution(path)
    assert re.search(words, str(refused.value), re.S | re.I), str(refused.value)


@pytest.mark.parametrize("data", [b"", b"\xff", b"[idle_s"])
def test_what_is_no_constitution_is_refused(tmp_path, data):
    path = tmp_path / "constitution.toml"
    path.write_bytes(data)
    with pytest.raises(BadFile, match="constitution"):
        load_constitution(path)
    with pytest.raises(BadFile, match="no constitution"):
        load_constitution(tmp_path / "none.toml")
