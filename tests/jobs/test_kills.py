"""Real processes, really killed: the small form of the harness in tests/trust."""

from tests.services.realms import until
from tests.trust import roles
from tests.trust.kills import Crowd, kill_at_random, pause_some

KILLS = 100
ZOMBIES = 6


def test_a_hundred_kills_lose_no_accepted_job_and_double_none(tmp_path):
    crew = {roles.work: 6, roles.submit: 1, roles.reap: 1}
    with Crowd(tmp_path, crew) as crowd:
        at_work = kill_at_random(crowd, KILLS, pause_s=(0.0, 0.03))
        # A slow disk accepts few jobs between kills: the crowd goes on until there is enough.
        until(lambda: len(roles.read_acks(crowd.acks)) > 100, 60, "a hundred jobs accepted")
        outcome = crowd.settle(limit_s=60)
        said = crowd.said()
    print(f"{KILLS} kills, {at_work:.0%} of them at work; {outcome}")
    assert (outcome.lost, outcome.doubled, outcome.stale, said) == (0, 0, 0, "")
    assert outcome.accepted > 100
    assert at_work >= 0.6


def test_a_paused_worker_that_wakes_up_cannot_report(tmp_path):
    crew = {roles.work: 6, roles.submit: 1}
    with Crowd(tmp_path, crew, lease_s=0.4, work_s=(0.1, 0.2)) as crowd:
        zombies, refused = pause_some(crowd, ZOMBIES, limit_s=60)
        outcome = crowd.settle(limit_s=60)
    assert zombies >= ZOMBIES
    assert refused >= ZOMBIES // 2  # the others were killed before they came to report
    assert (outcome.lost, outcome.doubled, outcome.stale) == (0, 0, 0)
