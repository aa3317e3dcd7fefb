"""Claims: README shows what the file says, and `verify` believes only what a command prints."""

import pytest

from levelcap.cli import claims
from levelcap.kit.errors import BadFile, StateError
from tests.house.sources import ROOT

CLAIM = """
[[claim]]
sentence = "how many"
figure = "7"
command = "python -c 'print(1); print(\\"{\\\\\\"a\\\\\\": {\\\\\\"b\\\\\\": 7}}\\")'"
key = "a.b"
bound = ">= 7"
date = "2026-11-17"
commit = "0123abc"
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(text):
        (tmp_path / "claims.toml").write_text(text)
        return tmp_path

    return make


def test_readme_shows_exactly_the_claims():
    text = (ROOT / "README.md").read_text()
    assert claims.replace_block(text, claims.markdown(claims.read_claims(ROOT))) == text


def test_every_claim_names_a_command_of_this_repository():
    for claim in claims.read_claims(ROOT):
        for command in filter(None, (claim.command, claim.quick)):
            script = next(w for w in command.split() if w.endswith(".py"))
            assert (ROOT / script).is_file(), command


def test_a_claim_that_holds_is_kept(checkout, capfd):
    checkout(CLAIM)
    claims.verify()
    assert "kept     how many: 7, claimed >= 7" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (">= 7", ">= 8", "broken   how many: 7, claimed >= 8"),
        ("a.b", "a.c", "did not print a.c"),
        ("print(1)", "exit(1)", "its last line: ''"),
    ],
)
def test_a_claim_that_does_not_hold_fails(checkout, capfd, old, new, said):
    checkout(CLAIM.replace(old, new))
    with pytest.raises(StateError, match="1 broken"):
        claims.verify()
    assert said in capfd.readouterr().out


def test_what_cannot_run_is_skipped_and_not_kept(checkout, capfd):
    root = checkout(CLAIM + 'needs = [".venv-peers"]\n')
    claims.verify()
    assert "0 kept, 0 broken, 1 skipped" in capfd.readouterr().out
    (root / ".venv-peers").mkdir()
    claims.verify(quick=True)
    assert "no quick form" in capfd.readouterr().out


def test_one_command_runs_once_for_all_its_claims(checkout, capfd):
    checkout(CLAIM + CLAIM.replace("how many", "as many"))
    claims.verify()
    said = capfd.readouterr().out
    assert said.count("running") == 1 and "2 kept" in said


@pytest.mark.parametrize(
    ("old", "new"), [('bound = ">= 7"', 'bound = "about 7"'), ("commit", "comit"), ("[[", "[")]
)
def test_a_wrong_file_is_refused(checkout, old, new):
    checkout(CLAIM.replace(old, new))
    with pytest.raises(BadFile, match=r"claims\.toml is wrong"):
        claims.verify()


def test_outside_a_checkout_it_says_where_to_go(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadFile, match="Go to the root of a checkout"):
        claims.show()
