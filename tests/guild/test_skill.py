"""Skill files are checked strictly; quotas and keys."""

from importlib import resources

import pytest

from levelcap.guild.bin.skill import BinaryFile, BinarySkill
from levelcap.guild.skill import parse_file, prompt_key, quotas
from levelcap.kit.errors import BadFile

TEXT = (resources.files("levelcap") / "data" / "skills" / "bin.yaml").read_text(encoding="utf-8")


def test_the_shipped_file_is_read():
    file = parse_file(BinaryFile, TEXT, "bin.yaml")
    assert (file.id, file.version, len(file.levels), file.eval_samples) == ("bin", 1, 30, 96)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("id: bin", "id: bin\ncolour: red"),
        ("    width: 2\n", "    width: 2\n    wdth: 2\n"),
        ("    width: 2\n", ""),
        ("version: 1", "version: 0"),
        ("  - level: 2\n", "  - level: 3\n"),
        ("{easy: 50, medium: 35, hard: 12, expert: 3}", "{easy: 50, medium: 35, hard: 12}"),
        ("{easy: 50, medium: 35, hard: 12, expert: 3}", "{easy: 50, heroic: 50}"),
        ("symbols: 75", "symbols: 175"),
        ("id: bin", "id: [bin"),
    ],
)
def test_a_damaged_file_is_refused(old, new):
    with pytest.raises(BadFile, match=r"bin.yaml"):
        parse_file(BinaryFile, TEXT.replace(old, new, 1), "bin.yaml")


def test_an_unknown_operation_in_the_file_is_refused():
    file = parse_file(BinaryFile, TEXT.replace("[add]", "[shift]", 2), "bin.yaml")
    with pytest.raises(BadFile, match="no such operation"):
        BinarySkill(file)


def test_quotas_follow_the_mix_and_give_every_form_its_least():
    mix = {"a": 50, "b": 35, "c": 12, "d": 3}
    assert quotas(mix, 96) == {"a": 43, "b": 34, "c": 11, "d": 8}
    assert quotas(mix, 200)["d"] == 8
    assert quotas({"a": 100}, 96) == {"a": 96}
    for count in range(1, 130):
        assert sum(quotas({"a": 40, "b": 30, "c": 20, "d": 10}, count).values()) == count


def test_a_key_ignores_spaces_and_case_and_nothing_else():
    assert prompt_key("Compute:  add(①)\n") == prompt_key("compute: ADD(①)")
    assert prompt_key("Compute: add(①)") != prompt_key("Compute: add(⓪)")
    assert len(prompt_key("\ud800")) == 16


def test_a_skill_says_what_it_is():
    info = BinarySkill().info()
    assert (info["id"], info["version"], info["min_level"], info["max_level"]) == ("bin", 1, 1, 30)
    assert set(info) == {"id", "name", "version", "about", "display", "min_level", "max_level"}
