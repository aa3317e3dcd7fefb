"""The command as a person types it: good input, bad input, no traceback."""

import json
import os
import subprocess
import sys

import pytest


def levelcap(*words, stdin="", env=None, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "levelcap", *words],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "COLUMNS": "160", **(env or {})},
        cwd=cwd,
    )


def test_version_and_help_do_not_load_the_game():
    code = "import sys; from levelcap.cli.main import app; app(['--help'], exit_on_error=False)"
    check = "; assert not {'numba', 'torch', 'gymnasium'} & set(sys.modules), 'too much loaded'"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}{check}"], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    assert "first-match" in run.stdout
    assert levelcap("--version").stdout.strip() == "0.1.0"


def test_play_prints_a_block_and_json_as_the_last_line():
    run = levelcap("play", "veteran", "rookie", "--games", "20", "--seed", "1", "--json")
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout.splitlines()[-1])
    assert set(result) == {"win_rate", "ci_low", "ci_high", "wins", "draws", "losses", "games"}
    assert result["wins"] + result["draws"] + result["losses"] == result["games"] == 20
    assert "veteran against rookie" in run.stdout
    again = levelcap(
        "play", "veteran", "rookie", "--games", "20", "--seed", "1", "--json", "--ruleset", "duel"
    )
    assert again.stdout == run.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("play", "mastr", "rookie"), "Did you mean 'master'?"),
        (("play", "master", "rookie", "--world", "duell"), "Did you mean 'duel'?"),
        (("play", "master", "rookie", "--games", "0"), "at least 1"),
        (("play", "master"), "needs two policies"),
        (("play", "master", "rookie", "--seed", "-1"), "seed must be in"),
        (("play", "master", "--world", "gym:CartPole-v1"), "ruleset for a scripted bot"),
        (("watch", "--save-replay", "no/such/folder/m.lcr"), "no such folder"),
        (("play", "master", "rookie", "--patch", "1.00"), "unknown patch"),
        (("play", "master", "rookie", "--champions", "Rangr"), "Did you mean 'Ranger'?"),
        (("play", "uniform", "rookie", "--world", "gym:CartPole-v1"), "takes one policy"),
        (("play", "uniform", "--world", "gym:CartPol-v1"), "CartPole"),
        (("play", "no.such:thing", "rookie"), "no such policy"),
        (("watch", "master", "rookie", "--world", "moba"), "unknown ruleset"),
        (("replay", "nowhere.lcr"), "no such replay file"),
        (("realm", "wipe"), "--yes"),
    ],
)
def test_bad_input_ends_in_one_sentence(words, said):
    run = levelcap(*words)
    assert run.returncode == 2
    assert said in run.stderr
    assert "Traceback" not in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1


def test_wrong_words_are_refused_by_the_parser():
    run = levelcap("play", "master", "rookie", "--gmes", "3")
    assert run.returncode != 0
    assert "Traceback" not in run.stderr


def test_watch_saves_a_replay_that_replays_to_a_gif(tmp_path):
    path, gif, png = tmp_path / "m.lcr", tmp_path / "m.gif", tmp_path / "m.png"
    run = levelcap(
        "watch", "veteran", "rookie", "--world", "duel", "--speed", "0", "--save-replay", str(path)
    )
    assert run.returncode == 0, run.stderr
    assert "WINS" in run.stdout or "DRAW" in run.stdout
    run = levelcap("replay", str(path), "--gif", str(gif), "--png", str(png))
    assert run.returncode == 0, run.stderr
    assert "all hashes agree" in run.stdout
    assert gif.read_bytes()[:3] == b"GIF"
    assert png.read_bytes()[1:4] == b"PNG"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    run = levelcap("replay", str(path))
    assert run.returncode in (1, 2)
    assert "Traceback" not in run.stderr


def test_realm_size_and_wipe(home):
    (home / "replays").mkdir(parents=True)
    (home / "replays" / "x").write_bytes(b"1" * 2_000_000)
    (home / "mine.txt").write_text("keep")
    assert "2.0" in levelcap("realm", "size").stdout
    assert levelcap("realm", "wipe", "--yes").returncode == 0
    assert not (home / "replays").exists()
    assert (home / "mine.txt").read_text() == "keep"


def test_doctor_finds_this_machine_ready():
    run = levelcap("doctor")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "fail" not in run.stdout


def test_doctor_names_an_unusable_home(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    run = levelcap("doctor", env={"LEVELCAP_HOME": str(blocked)})
    assert run.returncode == 1
    assert "LEVELCAP_HOME" in run.stdout


def test_worlds_lists_what_can_be_played():
    out = levelcap("worlds").stdout
    for word in ("siege", "crown", "master", "seer-16", "1.1", "Warden"):
        assert word in out


@pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace needs root")
def test_nothing_is_fetched_after_set_up():
    run = subprocess.run(
        [
            "unshare",
            "-n",
            sys.executable,
            "-m",
            "levelcap",
            "play",
            "rookie",
            "idle",
            "--games",
            "2",
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
