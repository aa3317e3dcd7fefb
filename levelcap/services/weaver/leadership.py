"""One leader a realm: a lock that the kernel frees when its holder ends, however it ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from levelcap.kit.errors import Busy, StateError, refuse
from levelcap.kit.paths import folder
from levelcap.services.process.standing import leader_path, read_leader

LOCK = "leader.lock"


@contextmanager
def leadership() -> Iterator[None]:
    """Holds the realm's lock inside the block.

    Raises:
        Busy: another Weaver holds it; names its process.
        StateError: the lock file cannot be opened.
    """
    path = folder("state") / LOCK
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        what = f"cannot open the lock of this realm ({error.strerror})"
        raise StateError(refuse(what, str(path), "Remove what is in its place")) from error
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _led_already() from error
        try:
            yield
        finally:
            leader_path().unlink(missing_ok=True)
    finally:
        os.close(fd)


def _led_already() -> Busy:
    leader = read_leader()
    who = f"pid {leader.pid}, since {leader.started}" if leader else "one that is just starting"
    remedy = "Use `levelcap status` to look at it or `levelcap down` to stop it"
    return Busy(refuse("this realm is running already", who, remedy))
