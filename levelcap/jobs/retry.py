"""Try again or give up, and how long to wait: pure functions of what happened so far."""

from levelcap.jobs.job import RETRYABLE, Status

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0


def back_off_s(attempts: int) -> float:
    """Returns the wait before the next attempt: 1 s after the first, doubled each time, <= 60 s."""
    return min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(max(attempts, 1) - 1, 16))


def after_failure(code: str, attempts: int, max_attempts: int) -> Status:
    """Returns what becomes of a job whose worker reported a failure."""
    again = code in RETRYABLE and attempts < max_attempts
    return Status.QUEUED if again else Status.FAILED


def after_crash(attempts: int, max_attempts: int) -> Status:
    """Returns what becomes of a job whose worker said nothing: lost lease, or out of time."""
    return Status.QUEUED if attempts < max_attempts else Status.DEAD
