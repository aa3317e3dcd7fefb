"""Moving a waiting job forward or back among those that wait."""

from levelcap.jobs.job import Job, Status, rank_of
from levelcap.jobs.rows import find, job_of
from levelcap.jobs.store import Store
from levelcap.kit.db import transaction
from levelcap.kit.errors import Conflict, refuse


def set_priority(store: Store, id: str, priority: str) -> Job:
    """Gives a waiting job another priority; its age still counts among equals.

    Raises:
        UnknownName: no such job or priority.
        Conflict: it does not wait (any more).
    """
    rank = rank_of(priority)
    with transaction(store.engine) as connection:
        row = find(connection, id)
        if row.status != Status.QUEUED:
            what = f"only a waiting job has a place in the queue, {id} is {row.status}"
            raise Conflict(refuse(what, row.status, "Leave it"))
        detail = {"priority": priority}
        moved = store.moves.move(connection, row, "prioritised", None, {"rank": rank}, detail)
    return job_of(moved)
