"""P1, P2 and P3: the queue under kills, pauses and poison.

Each also with its protection switched off: then the harness must see it.
"""

import time

import pytest

from levelcap.jobs.store import Store
from tests.trust import roles
from tests.trust.kills import Crowd, kill_at_random, pause_some
from tests.trust.mutants import KILL_MUTANTS

pytestmark = [pytest.mark.trust, pytest.mark.timeout(600)]

CREW = {roles.work: 6, roles.submit: 1, roles.reap: 1}
KILLS = 1000
MUTANT_KILLS = 100
ZOMBIES = 200


def test_a_thousand_kills_lose_and_double_nothing(tmp_path, figures):
    with Crowd(tmp_path, CREW, seed=1) as crowd:
        at_work = kill_at_random(crowd, KILLS, pause_s=(0.0, 0.03))
        outcome = crowd.settle(limit_s=120)
        said = crowd.said()
    figure = (
        f"{KILLS:,} kill -9 over 6 workers, submitter and reaper, {at_work:.0%} of them at work;"
        f" {outcome.accepted:,} jobs: {outcome.lost} lost, {outcome.doubled} doubled"
    )
    kept = outcome.violations == 0 and at_work >= 0.6 and said == ""
    figures.add(
        "P1",
        figure,
        kept,
        kills=KILLS,
        lost=outcome.lost,
        doubled=outcome.doubled,
        kills_at_work=round(at_work, 3),
    )
    assert (outcome.lost, outcome.doubled, outcome.stale, said) == (0, 0, 0, "")
    assert at_work >= 0.6


@pytest.mark.parametrize("mutant", KILL_MUTANTS)
def test_a_queue_without_its_protection_is_caught_within_a_hundred_kills(tmp_path, figures, mutant):
    with Crowd(tmp_path, CREW, mutant=mutant, seed=2) as crowd:
        kill_at_random(crowd, MUTANT_KILLS, pause_s=(0.0, 0.03))
        outcome = crowd.settle(limit_s=6)
    figure = f"{mutant} within {MUTANT_KILLS} kills: {outcome.violations} violations seen"
    caught = outcome.violations > 0
    figures.add("P1 mutation", figure, caught, mutants_caught=int(caught))
    assert caught


def test_two_hundred_paused_workers_cannot_report(tmp_path, figures):
    crew = {roles.work: 24, roles.submit: 1}
    with Crowd(tmp_path, crew, lease_s=0.6, work_s=(0.1, 0.3), seed=3) as crowd:
        zombies, refused = pause_some(crowd, ZOMBIES, limit_s=240)
        outcome = crowd.settle(limit_s=60)
    figure = (
        f"{zombies} workers paused until others had their jobs, {refused} of them reported and were"
        f" refused: {outcome.stale} stale completions"
    )
    kept = zombies >= ZOMBIES and refused >= 0.9 * zombies and outcome.violations == 0
    figures.add("P2", figure, kept, zombies=zombies, stale=outcome.stale)
    assert zombies >= ZOMBIES
    assert refused >= 0.9 * zombies  # the others were killed before they came to it
    assert (outcome.lost, outcome.doubled, outcome.stale) == (0, 0, 0)


def test_zombies_are_seen_when_nobody_looks_at_the_fence(tmp_path, figures):
    crew = {roles.work: 12, roles.submit: 1}
    with Crowd(tmp_path, crew, mutant="no_fence", lease_s=0.6, work_s=(0.1, 0.3)) as crowd:
        zombies, _ = pause_some(crowd, 40, limit_s=60)
        outcome = crowd.count()
    caught = outcome.stale > 0
    figure = f"no_fence with {zombies} zombies: {outcome.stale} stale completions seen"
    figures.add("P2 mutation", figure, caught, mutants_caught=int(caught))
    assert caught


# ---- P3


def throughput(tmp_path, name, poison, mutant="", seconds=8.0):
    """Jobs done a second beside so many poisonous ones, and what became of those."""
    crew = {roles.work: 6, roles.submit: 1}
    with Crowd(tmp_path / name, crew, mutant=mutant, lease_s=1.0, work_s=(0.02, 0.04)) as crowd:
        crowd.await_begun(crowd.slots(roles.work))
        store = Store(crowd.engine, roles.TYPES)
        ids = [store.submit("poison", {"n": n}, priority="high").job_id for n in range(poison)]
        before, began = store.stats()["types"]["add"].get("done", 0), time.monotonic()
        while time.monotonic() - began < seconds:
            crowd.replace_dead()
            time.sleep(0.02)
        took = time.monotonic() - began
        rate = (store.stats()["types"]["add"]["done"] - before) / took
        jobs = [store.get(job_id) for job_id in ids]
        claims = [sum(e["kind"] == "claimed" for e in store.events(i)) for i in ids]
    return rate, jobs, claims


def test_poisonous_jobs_die_after_exactly_their_attempts_and_others_go_on(tmp_path, figures):
    # One after the other and twice each, so that a neighbour's load does not decide.
    rates = {"clean": 0.0, "poisoned": 0.0}
    for turn in range(2):
        clean, _, _ = throughput(tmp_path, f"clean{turn}", poison=0)
        rate, jobs, claims = throughput(tmp_path, f"poisoned{turn}", poison=5)
        rates["clean"] += clean
        rates["poisoned"] += rate
        assert [job.status.value for job in jobs] == ["dead"] * 5
        assert claims == [roles.TYPES["poison"].tries] * 5
    share = rates["poisoned"] / rates["clean"]
    figure = f"10 poisonous jobs dead after exactly 3 attempts; others kept {share:.0%} throughput"
    figures.add("P3", figure, share >= 0.8, poison_throughput=round(share, 3))
    assert share >= 0.8


def test_poison_is_seen_when_attempts_are_not_counted(tmp_path, figures):
    _, jobs, claims = throughput(tmp_path, "endless", poison=2, mutant="no_counting", seconds=6)
    wrong = sum(job.status.value != "dead" or n != 3 for job, n in zip(jobs, claims, strict=True))
    figures.add(
        "P3 mutation",
        f"no_counting: {wrong} of 2 jobs do not die",
        wrong > 0,
        mutants_caught=int(wrong > 0),
    )
    assert wrong > 0
