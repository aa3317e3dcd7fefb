"""Runs the commands of QUICKSTART.md and writes down what they print:  quickstart_output.py

Run it after a change that alters results (bots, rules, output). A block that begins with `$ ` is
rewritten: every command in it is run in one temporary folder with an empty realm.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUICKSTART = ROOT / "QUICKSTART.md"
BLOCK = re.compile(r"```\n(\$ .*?)```", re.DOTALL)
MOST_LINES, HEAD, TAIL = 12, 4, 6


def printed(command: str, folder: Path) -> list[str]:
    """The lines a command prints; long output is cut in the middle."""
    if command.startswith("levelcap watch"):
        command += " --speed 0 >watched.txt"  # a film, nothing to print here
    home = folder / "home"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "COLUMNS": "100", "LEVELCAP_HOME": str(home)}
    run = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=env,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = [line.rstrip() for line in run.stdout.strip().splitlines()]
    if len(lines) > MOST_LINES:
        lines = [*lines[:HEAD], "…", *lines[-TAIL:]]
    return [line.replace(str(home), "~/.levelcap") for line in lines]


def refreshed(block: str, folder: Path) -> str:
    """The same commands, each followed by what it prints now."""
    lines: list[str] = []
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        lines += [f"$ {command}", *printed(command, folder)]
    return "\n".join(["```", *lines, "```"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "examples").symlink_to(ROOT / "examples")
        text = BLOCK.sub(lambda found: refreshed(found[1], place), QUICKSTART.read_text())
    QUICKSTART.write_text(text)
