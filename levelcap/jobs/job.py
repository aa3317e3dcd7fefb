"""What a job is, what a type of job allows, and how a request about one can be turned down.

A job is queued -> running -> done. A running one whose lease ends, or that fails with a retryable
code, is queued again while it has attempts left; else it is dead (crashed) or failed (said so).
`fence` counts its claims: only the newest claim may report.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel

from levelcap.kit.errors import BadValue, StateError, check_known, refuse


class Status(StrEnum):
    """Where a job stands; `queued` and `running` are open, the others final until a retry."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DEAD = "dead"
    CANCELLED = "cancelled"


OPEN = (Status.QUEUED, Status.RUNNING)
PRIORITIES = ("critical", "high", "normal", "low", "idle")
# code -> whether another attempt may help
ERROR_CODES: Mapping[str, bool] = {
    "transport_error": True,
    "connection_refused": True,
    "worker_setup": False,
    "model_not_found": False,
    "resource_unavailable": False,
    "generator_error": False,
    "inference_error": True,
    "validation_error": False,
    "execution_error": False,
    "payload_invalid": False,
    "payload_version": False,
    "timeout": True,
    "lease_expired": True,
    "cancelled": False,
    "superseded": False,
    "unknown": False,
}
RETRYABLE = frozenset(code for code, again in ERROR_CODES.items() if again)


@dataclass(frozen=True)
class JobType:
    """What every job of one type has in common."""

    name: str
    payload: type[BaseModel]
    """checks the payload; its config forbids extra fields"""
    timeout_s: float
    """a job running longer is taken from its worker"""
    tries: int
    """claims until a crashing job is dead"""
    max_pending: int
    max_running: int
    when_full: Literal["reject", "warn", "allow"]
    """what a submission meets when `max_pending` jobs wait"""
    roles: tuple[str, ...]
    """a worker needs one of them"""

    def __post_init__(self) -> None:
        least = min(self.timeout_s, self.tries, self.max_pending, self.max_running)
        if least <= 0 or not self.roles:
            what = f"job type {self.name!r} needs limits above 0 and a role"
            raise BadValue(refuse(what, (least, self.roles), "Correct the table of job types"))


@dataclass(frozen=True)
class Job:
    """One row of the queue. Times are ISO 8601 in UTC, for people; leases use another clock."""

    id: str
    type: str
    payload: dict[str, Any]
    status: Status
    priority: str
    attempts: int
    max_attempts: int
    fence: int
    worker: str | None
    created: str
    started: str | None
    ended: str | None
    progress: float
    message: str
    result: dict[str, Any] | None
    error_code: str | None
    error: str | None
    idempotency_key: str | None
    campaign: str | None

    def as_json(self) -> dict[str, Any]:
        """Returns the fields as JSON values."""
        return asdict(self) | {"status": self.status.value}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Job":
        """Returns the job that `as_json` described."""
        return cls(**{**fields, "status": Status(fields["status"])})


@dataclass(frozen=True)
class Accepted:
    """The answer to a submission; `existed` says that the idempotency key was known."""

    job_id: str
    status: Status
    queue_position: int
    """1 = next among all queued jobs; 0 when it no longer waits"""
    warnings: list[str] = field(default_factory=list)
    existed: bool = False


@dataclass(eq=False)
class Refused(StateError):
    """The queue of this type is full; nothing was stored."""

    reason: str
    message: str
    pending: int
    running: int
    max_pending: int
    max_running: int
    retry_after_sec: int

    def __str__(self) -> str:
        return self.message

    def as_json(self) -> dict[str, Any]:
        """Returns the body of the 429 answer."""
        return {"accepted": False, **asdict(self)}


class Stale(StateError):
    """The caller no longer holds this job; nothing was written."""


class Unreachable(StateError):
    """The store cannot be asked at the moment; what was sent may or may not have arrived."""


class JobFailed(Exception):
    """Raised by a handler: this job fails with this code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = check_code(code)
        self.message = message


class Interrupted(Exception):
    """Raised by a handler: the job goes back unfinished, the attempt does not count."""


def check_code(code: str) -> str:
    """Returns `code` if it is an error code.

    Raises:
        UnknownName: it is none.
    """
    check_known("error code", code, ERROR_CODES)
    return code


def rank_of(priority: str) -> int:
    """Returns 0 for the most urgent priority, and so on.

    Raises:
        UnknownName: no such priority.
    """
    check_known("priority", priority, PRIORITIES)
    return PRIORITIES.index(priority)
