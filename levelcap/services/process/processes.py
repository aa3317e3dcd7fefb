"""Processes of ours: told apart from strangers that were given the same number later.

A process is a pid and its birth: the boot it was started in and its start on that boot's clock.
No change of the wall clock and no reboot makes two processes look the same.
"""

import contextlib
import os
import signal
import time
from pathlib import Path

from levelcap.kit.errors import StateError, refuse

PROC = Path("/proc")
BOOT_ID_FILE = PROC / "sys/kernel/random/boot_id"
ASK_S = 3.0


def boot_id() -> str:
    """Which boot of the machine this is.

    Raises:
        StateError: the system does not say.
    """
    try:
        text = BOOT_ID_FILE.read_text(encoding="ascii").strip()
    except OSError as error:
        what = f"cannot read the boot id ({error.strerror})"
        raise StateError(refuse(what, str(BOOT_ID_FILE), "Mount /proc")) from error
    if not text:
        raise StateError(refuse("the boot id is empty", str(BOOT_ID_FILE), "Mount /proc"))
    return text


def birth(pid: int) -> str | None:
    """Returns `<boot id>:<start in clock ticks>` of a living process, None for a dead one."""
    fields = _stat(pid)
    return None if fields is None else f"{boot_id()}:{fields[19]}"


def is_alive(pid: int, born: str) -> bool:
    """Whether this very process still runs; a zombie does not."""
    return birth(pid) == born


def session_members(leader: int, born: str) -> list[int]:
    """Returns the living processes of the session that a process of ours leads or led.

    A session outlives its leader, and its number is not given away before its last member ended.
    """
    now_there = birth(leader)
    boot, _, began = born.partition(":")
    if boot != boot_id() or now_there not in (None, born):
        return []
    found = []
    for name in os.listdir(PROC):
        fields = _stat(int(name)) if name.isdigit() else None
        if fields is not None and int(fields[3]) == leader and int(fields[19]) >= int(began):
            found.append(int(name))
    return found


def end_session(leader: int, born: str, patience_s: float = ASK_S) -> bool:
    """Ends a session of ours: SIGTERM, some seconds, SIGKILL; waits until nobody is left.

    Returns:
        Whether there was somebody to end.
    """
    members = session_members(leader, born)
    if not members:
        return False
    _signal(members, signal.SIGTERM)
    deadline = time.monotonic() + patience_s
    while members := session_members(leader, born):
        if time.monotonic() > deadline:
            _signal(members, signal.SIGKILL)
        time.sleep(0.02)
    return True


def kill_session(leader: int, born: str) -> None:
    """SIGKILL for every member that is left, at once."""
    _signal(session_members(leader, born), signal.SIGKILL)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _stat(pid: int) -> list[str] | None:
    """Fields of /proc/<pid>/stat from the third on: state, ppid, pgrp, session, …, starttime."""
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The second field is the name in brackets and may hold anything, brackets too.
    fields = text[text.rindex(")") + 2 :].split()
    return None if fields[0] in "ZX" else fields
