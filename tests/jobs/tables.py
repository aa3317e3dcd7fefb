"""Job types and a clock for the tests of the queue."""

from pydantic import BaseModel, ConfigDict

from levelcap.jobs.job import JobType
from levelcap.kit.clock import Clock


class Number(BaseModel):
    """A payload with one field that must be given and one that need not."""

    model_config = ConfigDict(extra="forbid", strict=True)

    n: int
    note: str = ""


def job_type(name: str, **limits) -> JobType:
    """A roomy type; what a test is about is given by name."""
    roomy = {
        "payload": Number,
        "timeout_s": 600.0,
        "tries": 3,
        "max_pending": 1000,
        "max_running": 100,
        "when_full": "reject",
        "roles": ("trainer",),
    }
    return JobType(name=name, **{**roomy, **limits})


TYPES = {
    t.name: t
    for t in (
        job_type("add"),
        job_type("once", tries=1),
        job_type("short", timeout_s=20.0, tries=2),
        job_type("rating", roles=("eval_worker", "analytics")),
        job_type("narrow", max_pending=2, max_running=1),
        job_type("warned", max_pending=1, when_full="warn"),
        job_type("open", max_pending=1, when_full="allow"),
    )
}


class HandClock:
    """Time that passes only when the test says so; the boot id can be changed, too."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.boot_id = "boot-1"

    def clock(self) -> Clock:
        return Clock(self.boot_id, lambda: self.seconds)

    def pass_s(self, seconds: float) -> None:
        self.seconds += seconds
