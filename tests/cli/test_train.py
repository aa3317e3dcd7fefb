"""`levelcap imitate`, `reinforce` and `first-hero` as a user types them, good and bad."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from levelcap.kit.errors import BadValue, UnknownName
from levelcap.learn.engine.overrides import apply, names
from levelcap.learn.rl.config import for_world
from tests.cli.calling import levelcap as called


def levelcap(*words, timeout=240):
    return subprocess.run(
        [sys.executable, "-m", "levelcap", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
    )


def last_json(run):
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("LEVELCAP_HOME", str(tmp_path / "home"))


def test_record_imitate_reinforce_play(tmp_path):
    demos, sup, rl = tmp_path / "demos", tmp_path / "sup", tmp_path / "rl"
    last_json(levelcap("record", "veteran", "rookie", "--games", 20, "--out", demos, "--json"))
    found = last_json(
        levelcap(
            "imitate",
            "--shards",
            demos,
            "--policies",
            "veteran",
            "--updates",
            16,
            "--size",
            "dummy",
            "--out",
            sup,
            "--games",
            4,
            "--json",
        )
    )
    assert set(found["win_rates"]) == {"rookie", "veteran", "master"}
    assert "accuracy_fire" in found["validation"]
    small = ("--set", "lanes=24", "--set", "unroll=8", "--set", "minibatches=2")
    run = levelcap(
        "reinforce",
        "--from",
        found["snapshot"],
        "--updates",
        6,
        *small,
        "--out",
        rl,
        "--games",
        4,
        "--json",
    )
    found = last_json(run)
    assert found["update"] == 6 and found["reason"] == "6 updates"
    again = last_json(levelcap("play", found["snapshot"], "idle", "--games", 4, "--json"))
    assert again["games"] == 4


def test_first_hero_ends_with_a_table_and_a_picture(tmp_path):
    small = ("--set", "lanes=48", "--set", "unroll=8", "--set", "engine.snapshot_s=2")
    run = levelcap(
        "first-hero",
        "--minutes",
        "0.25",
        "--games",
        "40",
        "--size",
        "dummy",
        "--teacher",
        "rookie",
        *small,
        "--out",
        tmp_path / "hero",
        "--json",
    )
    found = last_json(run)
    assert "sealed cousins of master" in run.stdout and "Elo (rookie = 1000)" in run.stdout
    assert (tmp_path / "hero" / "elo.png").read_bytes()[:4] == b"\x89PNG"
    assert len(found["curve"]) >= 2 and found["core_seconds"] > 0


def test_first_hero_that_is_told_to_end_begins_no_further_stage(tmp_path):
    words = ("first-hero", "--minutes", "30", "--size", "dummy", "--out", str(tmp_path / "hero"))
    command = [sys.executable, "-m", "levelcap", *words]
    env = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        said = []
        for line in process.stdout:
            said.append(line)
            if "imitating" in line:
                break
        metrics = tmp_path / "hero" / "imitate" / "metrics.jsonl"
        until = time.monotonic() + 60
        while not metrics.exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        said += process.stdout.readlines()
        assert process.wait(30) == 130, said
    assert not any("reinforcing" in line or "rating" in line for line in said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("reinforce", "--world", "dual"), "duel"),
        (("reinforce", "--from", "nowhere", "--updates", "2"), "no such checkpoint folder"),
        (("reinforce", "--minutes", "0"), "minutes must be above 0"),
        (("reinforce", "--minutes", "nan"), "minutes must be above 0"),
        (("reinforce", "--set", "kl_coeff=1"), "kl_coef"),
        (("reinforce", "--set", "kl_coef=much"), "kl_coef is a float"),
        (("reinforce", "--set", "kl_coef=-1"), "kl_coef is out of range"),
        (("reinforce", "--set", "kl_coef"), "name=value"),
        (("reinforce", "--set", "opponents=seer-4", "--updates", "2"), "sealed"),
        (("reinforce", "--set", "opponents=master~1000001", "--updates", "2"), "sealed"),
        (("reinforce", "--size", "huge", "--updates", "2"), "slim"),
        (("imitate", "--shards", "nowhere", "--updates", "2"), "nowhere"),
        (("first-hero", "--world", "gym:CartPole-v1"), "ruleset"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(capsys, words, said):
    """In this process: what is refused before anything is learned needs no torch of its own."""
    code, out, err = called(capsys, *words)
    assert code in (1, 2), out
    assert said in out + err


def test_a_setting_that_was_renamed_is_still_understood():
    config = for_world("duel")
    assert apply(config, ["parts=3"]) == apply(config, ["minibatches=3"]) != config


def test_every_setting_can_be_overridden_and_is_checked():
    config = for_world("duel")
    changed = apply(config, ["engine.lr=0.5", "opponents=rookie,idle", "standardise=true"])
    assert changed.engine.lr == 0.5 and changed.opponents == ("rookie", "idle")
    assert changed.standardise and config.engine.lr != 0.5
    for name in names(config):
        value = config
        for part in name.split("."):
            value = getattr(value, part)
        text = ",".join(value) if isinstance(value, tuple) else str(value)
        assert apply(config, [f"{name}={text}"]) == config
    with pytest.raises(UnknownName, match="hidden_lr"):
        apply(config, ["engine.rl=1"])
    with pytest.raises(UnknownName):
        apply(config, ["engine=1"])
    with pytest.raises(BadValue, match="minibatches is a int"):
        apply(config, ["minibatches=1.5"])
