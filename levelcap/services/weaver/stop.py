"""Stopping a realm from outside: ask its Weaver, then make sure."""

import contextlib
import os
import signal
import time

from levelcap.services.process.processes import is_alive
from levelcap.services.process.standing import read_leader, read_standings
from levelcap.services.weaver.run import end_leftovers

PATIENCE_S = 15.0


def stop_realm() -> list[str]:
    """Stops the Weaver and every service of this realm; nothing to stop is no error.

    Returns:
        Names of what was stopped, the Weaver last.
    """
    leader = read_leader()
    stopped = []
    if leader is not None:
        stopped = [row.name for row in read_standings().values() if row.pid]
        with contextlib.suppress(ProcessLookupError):
            os.kill(leader.pid, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_S
        while is_alive(leader.pid, leader.birth):
            if time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(leader.pid, signal.SIGKILL)
            time.sleep(0.02)
    stopped += [name for name in end_leftovers() if name not in stopped]
    if leader is not None:
        stopped.append("weaver")
    return stopped
