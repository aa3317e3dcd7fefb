"""System calls of one operation, as strace writes them; and the same operation with one made to
fail or to be the last.

Needs strace (`make test-trust` installs it).
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.trust import keeping

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


def strace(
    home: Path, operation: str, log: Path, *options: str, mutant: Callable[[], None] | None = None
) -> bytes:
    """Run one operation of `keeping` in `home` under strace; returns what it printed.

    A forked child waits until strace is attached: a start of Python each time would take longer
    than the operation by far.
    """
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(home, operation, send, mutant)
    os.close(send)
    os.waitpid(pid, os.WUNTRACED)  # until it has stopped itself
    log.touch()
    command = [
        "strace",
        "-f",
        "-y",
        "-qq",
        "-e",
        f"trace={CALLS}",
        "-o",
        str(log),
        *options,
        "-p",
        str(pid),
    ]
    tracer = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _wait_for_tracer(pid)
    os.kill(pid, signal.SIGCONT)
    said = b""
    while block := os.read(receive, 65536):
        said += block
    os.close(receive)
    os.waitpid(pid, 0)
    tracer.wait(30)
    return said


def _child(home: Path, operation: str, send: int, mutant: Callable[[], None] | None) -> None:
    code = 1
    try:
        if mutant is not None:
            mutant()
        os.environ["LEVELCAP_HOME"] = str(home)
        os.dup2(send, 1)
        os.close(send)
        os.kill(os.getpid(), signal.SIGSTOP)
        keeping.main([operation])
        code = 0
    finally:
        os._exit(code)


def _wait_for_tracer(pid: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        status = Path(f"/proc/{pid}/status").read_text()
        if re.search(r"^TracerPid:\s+[1-9]", status, re.M):
            return
        time.sleep(0.002)
    raise AssertionError("strace did not attach")


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
