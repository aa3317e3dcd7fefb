"""What a person finds without reading a document: a sentence for every command, and the Tab key."""

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

from levelcap.cli.main import COMMANDS, GROUPS
from tests.cli.calling import levelcap
from tests.house.sources import PACKAGE, tree

SENTENCE = re.compile(r"[A-Z].*[.?]$")


def test_every_command_has_a_sentence_of_help():
    assert [words for words, _, told in COMMANDS if not SENTENCE.match(told)] == []
    assert [name for name, told in GROUPS.items() if not SENTENCE.match(told)] == []
    for words, function, _ in COMMANDS:
        module, _, name = function.partition(":")
        found = [
            node
            for node in tree(PACKAGE / "cli" / f"{module}.py").body
            if isinstance(node, ast.FunctionDef) and node.name == name
        ]
        assert len(found) == 1, f"{words}: no function {function}"
        told = ast.get_docstring(found[0]) or ""
        assert SENTENCE.match(told.splitlines()[0]), f"{words}: {function} says nothing"


def test_a_group_lists_its_verbs_with_their_sentences(capsys):
    code, out, _ = levelcap(capsys, "job", "--help")
    assert code == 0 and re.search(r"retry\s+Queue a failed, dead or cancelled job again\.", out)


ASK = """
. "$1"
COMP_WORDS=(levelcap {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
_levelcap
echo "${{COMPREPLY[@]}}"
"""


def complete(script, words):
    ask = ASK.format(words=words)
    run = subprocess.run(
        ["bash", "-c", ask, "bash", str(script)], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_bash_completes_with_the_installed_script(capsys, tmp_path, monkeypatch):
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", cache)  # compiled kernels stay where they are
    monkeypatch.setenv("HOME", str(tmp_path))
    script = tmp_path / "levelcap.bash"
    words = ("--install-completion", "--shell", "bash", "--output", str(script))
    assert levelcap(capsys, *words)[0] == 0
    assert str(script) in (tmp_path / ".bashrc").read_text()
    assert complete(script, "vault prom") == ["promote"]
    assert complete(script, "tu") == ["tui"]
    assert "--speed" in complete(script, "watch --sp")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("play", "master", "rookie", "--games", "3.5"), '"3.5" is no whole number'),
        (("play", "master", "rookie", "--gmes", "3"), "Did you mean --games? See: levelcap play"),
        (("plya", "master"), 'Did you mean "play"?'),
        (("vault", "shwo"), "See: levelcap vault --help"),
        (("claims", "verify", "nothing"), "more words than this command takes"),
        (("imitate", "--shards", "nowhere"), "unknown shard"),
        (("harden", "."), "not a checkpoint's folder"),
        (("vault", "rm", "12345"), "There is no checkpoint yet"),
    ],
)
def test_mistyped_words_end_in_one_sentence_that_helps(capsys, words, said):
    code, _, err = levelcap(capsys, *words)
    assert code == 2 and said in err and len(err.strip().splitlines()) == 1
