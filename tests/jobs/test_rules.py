"""The pure functions: pressure and retry."""

import pytest

from levelcap.jobs.job import Refused, Status
from levelcap.jobs.pressure import Load, retry_after_s, warnings_or_refuse
from levelcap.jobs.retry import after_crash, after_failure, back_off_s
from levelcap.kit.errors import BadValue
from tests.jobs.tables import job_type


def test_waits_double_up_to_a_minute():
    assert [back_off_s(n) for n in (0, 1, 2, 3, 6, 7, 10_000)] == [1, 1, 2, 4, 32, 60, 60]


def test_a_crash_is_tried_again_until_the_attempts_are_used():
    assert [after_crash(n, 3) for n in (1, 2, 3)] == [Status.QUEUED, Status.QUEUED, Status.DEAD]


def test_a_failure_is_final_when_its_code_says_so_or_the_attempts_are_used():
    assert after_failure("timeout", 1, 2) is Status.QUEUED
    assert after_failure("timeout", 2, 2) is Status.FAILED
    assert after_failure("payload_invalid", 1, 2) is Status.FAILED


@pytest.mark.parametrize("when_full", ["reject", "warn", "allow"])
def test_below_the_limit_everything_is_accepted(when_full):
    type_ = job_type("x", max_pending=3, when_full=when_full)
    assert warnings_or_refuse(type_, Load(2, 50)) == []


def test_at_the_limit_the_type_decides():
    load = Load(3, 1)
    with pytest.raises(Refused):
        warnings_or_refuse(job_type("x", max_pending=3), load)
    assert len(warnings_or_refuse(job_type("x", max_pending=3, when_full="warn"), load)) == 1
    assert warnings_or_refuse(job_type("x", max_pending=3, when_full="allow"), load) == []


def test_the_time_until_a_place_is_free():
    assert retry_after_s(job_type("x", timeout_s=60, max_running=10)) == 6
    assert retry_after_s(job_type("x", timeout_s=1, max_running=10)) == 1
    assert retry_after_s(job_type("x", timeout_s=3600, max_running=1)) == 60


def test_a_type_without_room_or_roles_is_refused():
    for wrong in ({"tries": 0}, {"max_pending": 0}, {"timeout_s": 0}, {"roles": ()}):
        with pytest.raises(BadValue, match="limits above 0 and a role"):
            job_type("x", **wrong)
