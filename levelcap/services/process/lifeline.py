"""The start of every service process: its name, its log, its nice level, and its end.

launch = lifeline.start("keeper")
serve(app, host=launch.host, port=launch.port, name=launch.name)

A service that a Weaver started does not outlive it: the kernel sends a signal when the Weaver's
process ends, and a thread looks as well, because a signal can be lost or ignored. A service
started by hand has no parent to watch.
"""

import argparse
import atexit
import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from levelcap.kit.config import load_settings
from levelcap.kit.log import configure, get_logger
from levelcap.kit.paths import folder
from levelcap.services.process.hosts import EVERYWHERE, LOCAL, get_port
from levelcap.services.process.ports import SERVICES
from levelcap.services.process.processes import birth, session_members

PR_SET_PDEATHSIG = 1
AUTOGROUP = Path("/proc/self/autogroup")
LOOK_EVERY_S = 0.5
LAST_WORDS_S = 5.0
LOG_BYTES = 10_000_000
LOGS_KEPT = 5
ORPHANED = 3  # exit code of a service whose Weaver was gone before it had started


@dataclass(frozen=True)
class Launch:
    """How this process was started; port 0 means that it listens nowhere."""

    name: str
    host: str
    port: int
    lan: bool
    parent: int | None


def start(name: str, arguments: Sequence[str] | None = None) -> Launch:
    """Reads the command line of a service and prepares its process.

    Args:
        name: the service, as in the table; names the log file `state/logs/<name>.log`.
        arguments: the command line without the program; by default that of this process.
    """
    launch = parse(name, sys.argv[1:] if arguments is None else arguments)
    rows = [row for row in SERVICES if row.name == name]
    if launch.parent is not None:
        die_with(launch.parent, rows[0].death_signal if rows else signal.SIGTERM)
        atexit.register(_leave_nobody)
    signal.signal(signal.SIGTERM, _leave)
    _rename_process(name)
    log_file = folder("state") / "logs" / f"{name}.log"
    if launch.parent is None:
        rotate(log_file)
    configure(load_settings().log_level, log_file, console=launch.parent is None)
    if rows and rows[0].nice:
        give_way(rows[0].nice)
    get_logger(name).info("started", pid=os.getpid(), parent=launch.parent)
    return launch


def parse(name: str, arguments: Sequence[str]) -> Launch:
    """Reads `--port N --parent PID --lan`; the port is the registry's when it is not given."""
    parser = argparse.ArgumentParser(prog=f"levelcap.services.{name}", description=__doc__)
    parser.add_argument("--port", type=int, help="listen here instead of config/hosts.json's port")
    parser.add_argument("--parent", type=int, help="end when this process, our parent, is gone")
    parser.add_argument("--lan", action="store_true", help="listen on every address")
    given = parser.parse_args(arguments)
    listens = any(row.name == name and row.port for row in SERVICES)
    port = given.port if given.port is not None else (get_port(name) if listens else 0)
    return Launch(name, EVERYWHERE if given.lan else LOCAL, port, given.lan, given.parent)


def rotate(log_file: Path, limit: int = LOG_BYTES, kept: int = LOGS_KEPT) -> None:
    """Moves a log that has grown beyond `limit` aside; the newest `kept` old ones stay."""
    log_file.parent.mkdir(parents=True, exist_ok=True)
    if not log_file.exists() or log_file.stat().st_size <= limit:
        return
    for number in range(kept - 1, 0, -1):
        older = log_file.with_name(f"{log_file.name}.{number}")
        if older.exists():
            os.replace(older, log_file.with_name(f"{log_file.name}.{number + 1}"))
    os.replace(log_file, log_file.with_name(f"{log_file.name}.1"))


def give_way(level: int) -> None:
    """Lowers the priority of this process, and of its session if it leads one.

    Where the kernel groups processes by session, a nice level counts only inside the group:
    without the second step a trainer would take as much as everybody else together.
    """
    os.nice(level)
    if os.getsid(0) == os.getpid():
        # Not every kernel has groups, and it may refuse a change soon after another one.
        with contextlib.suppress(OSError):
            AUTOGROUP.write_text(str(level))


def beat(name: str) -> None:
    """Touches `state/<name>.alive`: how a service without a port says that it is well."""
    (folder("state") / f"{name}.alive").touch()


def die_with(parent: int, death_signal: int = signal.SIGTERM) -> None:
    """Makes this process end when its parent does; for every process a service starts itself.

    Args:
        parent: the parent's number, taken before this process was started.
        death_signal: what the kernel sends at that moment; five seconds later comes SIGKILL.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
    # Asked for first, looked at second: a parent that ended in between is seen here.
    if os.getppid() != parent:
        sys.exit(ORPHANED)
    threading.Thread(target=_watch, args=(parent,), name="lifeline", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LAST_WORDS_S)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # with everything this service started
    os._exit(ORPHANED)


def _leave(_number: int, _frame: object) -> None:
    """SIGTERM is a way to end like any other: what was registered for the end is run.

    Once: the kernel's signal and the watching thread's come soon after one another, and the
    second would break off what the first one set going.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)


def _leave_nobody() -> None:
    """What this service started and did not end goes with it."""
    born = birth(os.getpid()) or ""
    for pid in session_members(os.getpid(), born):
        if pid != os.getpid():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _rename_process(name: str) -> None:
    """The name `top` and `ps` show, at most 15 bytes."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(15, f"lc-{name}".encode()[:15], 0, 0, 0)
