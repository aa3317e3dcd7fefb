"""`levelcap record` and `levelcap lake` as a person types them."""

import json
import os
from dataclasses import dataclass

import pytest

from levelcap.cli.main import main


@dataclass
class Run:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def levelcap(capsys, monkeypatch):
    """The command in this process: what it printed and how it ended."""
    monkeypatch.setenv("COLUMNS", "160")

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main(words)
        return Run(ended.value.code or 0, *capsys.readouterr())

    return run


def test_record_list_show_and_check(levelcap, home):
    run = levelcap("record", "rookie", "idle", "--games", "6", "--seed", "1", "--json")
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout.splitlines()[-1])
    assert told["episodes"] == 12 and told["steps"] > 100
    assert told["results"][0]["games"] == 6
    name = os.path.basename(told["shard"])
    assert os.path.dirname(told["shard"]) == str(home / "lake" / "trajectories")
    again = levelcap("record", "rookie", "idle", "--games", "6", "--seed", "1")
    assert again.returncode == 1
    assert "never replaced" in again.stderr

    listed = levelcap("lake", "ls").stdout
    assert name in listed and "rookie, idle" in listed and f"{told['steps']:,}" in listed
    shown = levelcap("lake", "show", name, "--json")
    assert json.loads(shown.stdout.splitlines()[-1])["num_steps"] == told["steps"]
    assert "features[19]" in shown.stdout and "move_x 11" in shown.stdout
    checked = levelcap("lake", "check", name, "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout.splitlines()[-1]) == {told["shard"]: told["quality"]}
    assert "whole" in checked.stdout

    path = home / "lake" / "trajectories" / name / "steps-00000.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    broken = levelcap("lake", "check", told["shard"])
    assert broken.returncode == 1
    assert "wrong sha256" in broken.stderr and "steps-00000.parquet" in broken.stderr
    assert "Traceback" not in broken.stderr


def test_record_keeps_one_policy_lazily_where_it_is_told_to(levelcap, tmp_path):
    out = tmp_path / "demos"
    run = levelcap(
        "record",
        "rookie",
        "idle",
        "--games",
        "4",
        "--keep",
        "rookie",
        "--lazy",
        "--out",
        str(out),
        "--json",
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout.splitlines()[-1])
    assert told["episodes"] == 4
    assert told["quality"]["actions_forbidden"] is None
    assert "lazy" in levelcap("lake", "show", str(out)).stdout
    checked = levelcap("lake", "check", str(out), "--json")
    report = json.loads(checked.stdout.splitlines()[-1])[str(out)]
    assert report["actions_forbidden"] == 0  # replayed and counted
    assert report["shares"]["policy"] == {"rookie": 1.0}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("record",), "nobody to record"),
        (("record", "rooky"), "Did you mean 'rookie'?"),
        (("record", "rookie", "--world", "duell"), "Did you mean 'duel'?"),
        (("record", "rookie", "--games", "0"), "at least 1"),
        (("record", "rookie", "--keep", "master"), "policy to keep"),
        (("record", "rookie", "rookie"), "two policies of one name"),
        (("record", "uniform", "--world", "gym:CartPole-v1", "--lazy"), "cannot be replayed"),
        (("lake", "show", "shard-1"), "unknown shard"),
        (("lake", "show", "no/such/folder"), "no such shard"),
        (("lake", "check", ".hidden"), "begins with a letter or digit"),
    ],
)
def test_bad_input_ends_in_one_sentence(levelcap, words, said):
    run = levelcap(*words)
    assert run.returncode == 2, run.stderr
    assert said in run.stderr
    assert "Traceback" not in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1


def test_an_empty_lake_is_no_error(levelcap, home):
    assert levelcap("lake", "ls").returncode == 0
    assert levelcap("lake", "check").returncode == 0
    assert not (home / "lake").exists()
