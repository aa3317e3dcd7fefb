"""A copy of the package with one drill's diff applied, and commands run in it.

A drill is `<name>.diff`: one new file and at most one changed line; DEVELOPMENT shows it, too.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from levelcap.kit.compiled import sources

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGE = ROOT / "levelcap"
PATH = re.compile(r"^\+\+\+ b/(\S+)$", re.M)
# Compiled code is kept by the path of its file: unchanged kernels are imported from where they
# were compiled, or every drill would compile the game for a minute.
COMPILED_FROM_THE_ORIGINAL = """
import sys
from importlib.machinery import PathFinder
from importlib.util import spec_from_file_location


class Original:
    files = {files}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        file = cls.files.get(name)
        return file and spec_from_file_location(name, file)


sys.meta_path.insert(0, Original)
"""


@dataclass(frozen=True)
class Patch:
    """A unified diff, read."""

    new: dict[str, str]  # path -> content
    changed: dict[str, list[tuple[str, str]]]  # path -> (text before, text after) of every hunk
    added: int
    removed: int


def read_diff(text: str) -> Patch:
    """The files a diff makes and the places it changes."""
    new, changed, added, removed = {}, {}, 0, 0
    for part in re.split(r"^(?=--- )", text, flags=re.M)[1:]:
        [path] = PATH.findall(part)
        hunks = [hunk.splitlines()[1:] for hunk in re.split(r"^(?=@@ )", part, flags=re.M)[1:]]
        if part.startswith("--- /dev/null"):
            new[path] = "".join(f"{line[1:]}\n" for line in hunks[0])
            continue
        added += sum(line[0] == "+" for hunk in hunks for line in hunk)
        removed += sum(line[0] == "-" for hunk in hunks for line in hunk)
        changed[path] = [(_side(hunk, "-"), _side(hunk, "+")) for hunk in hunks]
    return Patch(new, changed, added, removed)


def _side(hunk, sign):
    return "".join(f"{line[1:]}\n" for line in hunk if line[0] in (" ", sign))


def diff_of(name: str) -> str:
    """The text of a drill."""
    return (HERE / f"{name}.diff").read_text(encoding="utf-8")


class Tree:
    """The copied package; commands run in it see it and nothing of the original but kernels."""

    def __init__(self, place: Path, drill: str) -> None:
        self.place, patch = place, read_diff(diff_of(drill))
        assert len(patch.new) == 1, f"{drill}: one new file, not {sorted(patch.new)}"
        assert max(patch.added, patch.removed) <= 1, f"{drill}: more than one changed line"
        shutil.copytree(PACKAGE, place / "levelcap", ignore=shutil.ignore_patterns("__pycache__"))
        for path, text in patch.new.items():
            assert not (place / path).exists(), f"{path} is there already"
            (place / path).write_text(text, encoding="utf-8")
        for path, hunks in patch.changed.items():
            self._change(place / path, hunks)
        (place / "sitecustomize.py").write_text(
            COMPILED_FROM_THE_ORIGINAL.format(files=self._kernels()), encoding="utf-8"
        )

    def _change(self, file: Path, hunks: list[tuple[str, str]]) -> None:
        text = file.read_text(encoding="utf-8")
        for before, after in hunks:
            assert text.count(before) == 1, f"{file.name} has changed; mend the diff:\n{before}"
            text = text.replace(before, after)
        file.write_text(text, encoding="utf-8")

    def _kernels(self) -> dict[str, str]:
        """Module -> its file in the original tree, of modules whose functions are compiled."""
        found = {}
        for file in sources():
            path = file.relative_to(ROOT)
            if file.name != "__init__.py" and path.parts[1] != "kit":
                assert (self.place / path).read_bytes() == file.read_bytes(), path
                found[".".join(path.with_suffix("").parts)] = str(file)
        return found

    def run(self, *arguments: str, timeout: float = 60) -> str:
        """The output of `python …` in the tree."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.place,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def levelcap(self, *arguments: str, timeout: float = 60) -> str:
        """The output of a command."""
        return self.run("-m", "levelcap", *arguments, timeout=timeout)

    def environment(self) -> dict[str, str]:
        """Of commands in the tree."""
        return {**os.environ, "PYTHONPATH": str(self.place), "COLUMNS": "200"}
