"""The two examples of QUICKSTART run as printed there, through the real command line."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.kept import crown, keep_arena

ROOT = Path(__file__).resolve().parents[1]
COMMAND = Path(sys.executable).with_name("levelcap")
QUICKSTART = ROOT / "QUICKSTART.md"
BOT = "play examples.my_bot:Chaser rookie --world duel --games 20"
GAME = "play examples.my_game:Follower --world gym:examples.my_game:my/Catch-v0 --games 100"


def call(line, folder):
    command = [str(COMMAND), *shlex.split(line)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280)


def levelcap(line):
    """Runs `levelcap LINE` at the root of the repository; returns what it printed."""
    run = call(line, ROOT)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    return run.stdout


def last_line(printed):
    return json.loads(printed.strip().splitlines()[-1])


def test_the_example_bot_plays_against_a_scripted_one():
    result = last_line(levelcap(f"{BOT} --json"))
    assert result["wins"] + result["draws"] + result["losses"] == result["games"] == 20
    assert 0 <= result["ci_low"] <= result["win_rate"] <= result["ci_high"] <= 1
    assert result["win_rate"] > 0.5


def test_the_example_game_is_played_by_its_name():
    result = last_line(levelcap(f"{GAME} --json"))
    assert result["episodes"] == 100
    # Nine rows are enough to reach any ball.
    assert result["ci_low"] == result["mean"] == result["ci_high"] == 1


def test_a_policy_that_knows_nothing_of_the_game_catches_less():
    world = GAME.split("--world")[1]
    result = last_line(levelcap(f"play uniform --world {world} --json"))
    assert result["ci_low"] < result["mean"] < 0


@pytest.mark.parametrize("name", ["my_bot.py", "my_game.py"])
def test_an_example_is_printed_in_the_quickstart_as_it_is_run(name):
    assert (ROOT / "examples" / name).read_text() in QUICKSTART.read_text()


def blocks_of_python():
    """The Python blocks of README and QUICKSTART that are no example file."""
    text = (ROOT / "README.md").read_text() + QUICKSTART.read_text()
    found = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return [block for block in found if not block.startswith(('"""', "'"))]


@pytest.mark.parametrize("number", range(len(blocks_of_python())))
def test_a_block_of_python_in_the_documents_runs(number, realm):
    if "levelcap.load" in blocks_of_python()[number]:
        crown(realm, keep_arena(realm, 10)[0])  # what a reader's realm has after minutes
    command = [sys.executable, "-W", "error", "-c", blocks_of_python()[number]]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert run.returncode == 0, run.stderr[-2000:]


def test_the_quickstart_shows_the_commands_run_here():
    shown = QUICKSTART.read_text()
    assert f"levelcap {BOT}" in shown and f"levelcap {GAME}" in shown


ZOO = """
from pettingzoo import ParallelEnv
from gymnasium.spaces import Box, Discrete
import numpy as np

class parallel_env(ParallelEnv):
    metadata = {"name": "tiny"}
    possible_agents = ["a", "b"]
    def observation_space(self, agent): return Box(-1, 1, (1,))
    def action_space(self, agent): return Discrete(2)
    def reset(self, seed=None, options=None):
        self.agents, self.left = list(self.possible_agents), 3
        return {a: np.zeros(1, np.float32) for a in self.agents}, {a: {} for a in self.agents}
    def step(self, actions):
        self.left -= 1
        names, over = self.agents, self.left == 0
        if self.left == 1 and FAILS: raise RuntimeError("the board is wet")
        self.agents = [] if over else names
        give = lambda value: {a: value for a in names}
        return give(np.zeros(1, np.float32)), give(1.0), give(over), give(False), give({})
FAILS = False
"""


def test_a_pettingzoo_game_of_the_current_folder_is_found(tmp_path):
    (tmp_path / "my_zoo_game.py").write_text(ZOO)
    (tmp_path / "my_wet_game.py").write_text(ZOO.replace("FAILS = False", "FAILS = True"))
    words = "play uniform --games 4 --world zoo:"
    assert "mean return" in call(words + "my_zoo_game", tmp_path).stdout
    wet = call(words + "my_wet_game", tmp_path)
    assert wet.returncode == 2 and "RuntimeError: the board is wet" in wet.stderr
    assert "Traceback" not in wet.stderr
