"""System calls of one operation, as strace writes them; and the same operation with one made to
fail or to be the last.

Needs strace (`make test-trust` installs it).
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALLS = (
    "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat,unlink,"
    "unlinkat,rmdir,ftruncate,fallocate,link,linkat"
)
_LINE = re.compile(r"^(?:\d+\s+)?(\w+)\((.*)\)\s+=\s+(-?\d+|\?)(.*)$")


@dataclass(frozen=True)
class Call:
    """One system call: its name, its place among all of this name, its arguments and result."""

    name: str
    number: int
    arguments: str
    result: int
    rest: str

    @property
    def durable(self) -> bool:
        """Does it change what is on disk, or make it last?"""
        if self.name == "openat":
            return "O_CREAT" in self.arguments
        if self.name in ("write", "pwrite64"):
            return not re.match(r"[012]<", self.arguments)
        return self.result >= 0


def strace(home: Path, operation: str, log: Path, *options: str) -> subprocess.CompletedProcess:
    """Run one operation of `keeping` in `home` under strace."""
    command = [
        "strace", "-f", "-y", "-qq", "--seccomp-bpf", "-e", f"trace={CALLS}", "-o", str(log),
        *options, sys.executable, "-m", "tests.trust.keeping", operation,
    ]  # fmt: skip
    environment = {
        **os.environ, "LEVELCAP_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=120)


def calls_of(log: Path) -> list[Call]:
    """All calls after the operation began, numbered as strace counts them."""
    counts: dict[str, int] = {}
    found, begun = [], False
    for line in log.read_text(errors="replace").splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        name, arguments, result, rest = match.groups()
        counts[name] = counts.get(name, 0) + 1
        if name == "write" and '"BEGIN' in arguments:
            begun = True
        elif begun:
            number = -1 if result == "?" else int(result)
            found.append(Call(name, counts[name], arguments, number, rest))
    return found


def missing_strace() -> bool:
    """True where strace is not installed."""
    return shutil.which("strace") is None
