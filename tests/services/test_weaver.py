"""The Weaver with real processes: order, mending, giving up, and never leaving anything behind."""

import os
import signal
import time

import psutil
import pytest

from levelcap.campaign.story.events import follow
from levelcap.kit.paths import folder
from levelcap.services.process.database import open_database
from levelcap.services.process.processes import is_alive
from levelcap.services.process.standing import read_leader, read_standings
from levelcap.services.weaver.restarts import HOUR_S, Restarts
from levelcap.services.weaver.stop import stop_realm
from tests.services.crowds import crowd
from tests.services.realms import (
    SLACK,
    Realm,
    free_ports,
    processes_of,
    tell,
    until,
    until_nobody_is_left,
)


@pytest.fixture
def realm(home):
    """Makes realms of stubs; what is left of them afterwards is killed."""
    made = []

    def make(**stubs):
        made.append(Realm(home, **stubs))
        return made[-1]

    yield make
    for one in made:
        one.close()


def starts():
    lines = (folder("state") / "starts.txt").read_text().split()
    return lines[::2], [float(moment) for moment in lines[1::2]]


def events():
    engine = open_database()
    try:
        return [(event.kind, event.severity, event.data["service"]) for event in follow(engine)]
    finally:
        engine.dispose()


def test_services_start_in_order_and_stop_without_a_trace(realm, home):
    a, b = free_ports(2)
    one = realm(alpha=(a, {"start": "slow"}), drum=(0, {}), beta=(b, {"child": True}))
    one.start().ready()
    names, moments = starts()
    assert names == ["alpha", "drum", "beta"]
    assert moments[1] - moments[0] > 0.7  # the second waited until the first answered
    assert {row.state for row in read_standings().values()} == {"up"}
    assert len(processes_of(home)) == 5  # Weaver, three services, a grandchild
    weaver = psutil.Process(one.weaver.pid)
    print(f"Weaver: {weaver.memory_info().rss / 1e6:.0f} MB resident")
    assert weaver.memory_info().rss < 150e6
    assert not any("torch" in part.path for part in weaver.memory_maps())
    one.stop()
    assert processes_of(home) == []
    assert read_leader() is None
    assert {row.state for row in read_standings().values()} == {"stopped"}
    found = events()
    assert found[:3] == [("service.up", "success", n) for n in ("alpha", "drum", "beta")]
    assert found[3:] == [("service.down", "info", n) for n in ("beta", "drum", "alpha")]


def test_a_killed_and_a_hanging_service_are_replaced(realm):
    a, b = free_ports(2)
    one = realm(alpha=(a, {}), beta=(b, {"child": True})).start().ready()
    before = read_standings()
    os.kill(before["alpha"].pid, signal.SIGKILL)
    tell(b, "hang")
    one.until_state("beta", "pausing")
    for name in ("alpha", "beta"):
        row = one.until_state(name, "up")
        assert row.pid != before[name].pid
        assert row.restarts == 1
        assert not is_alive(before[name].pid, before[name].birth)
    kinds = [(kind, name) for kind, _, name in events()]
    assert kinds.count(("service.down", "alpha")) == kinds.count(("service.down", "beta")) == 1


def test_a_service_that_keeps_crashing_stays_down_and_others_stay_up(realm, home):
    a, b = free_ports(2)
    one = realm(alpha=(a, {}), beta=(b, {"start": "crash"})).start()
    row = one.until_state("beta", "down")
    assert "ended (7) before it was ready; restarted 3 times within an hour" in row.reason
    assert starts()[0].count("beta") == 4
    assert read_standings()["alpha"].state == "up"
    until(lambda: ("service.flapping", "error", "beta") in events(), 30, "the alarm is logged")
    assert not read_leader().ready


def test_restarts_wait_longer_each_time_and_end_with_the_hours_limit():
    restarts = Restarts(per_hour=3)
    assert [restarts.next_pause(t) for t in (0.0, 10.0, 20.0, 30.0)] == [1.0, 2.0, 4.0, None]
    assert restarts.next_pause(HOUR_S + 5.0) == 4.0  # the first one is more than an hour old


def test_killing_the_weaver_ends_every_process_also_the_deaf_ones(realm, home):
    a, b = free_ports(2)
    one = realm(alpha=(a, {"child": True}), drum=(0, {}), beta=(b, {"deaf": True}))
    one.start().ready()
    os.kill(one.weaver.pid, signal.SIGKILL)
    began = time.monotonic()
    until_nobody_is_left(home, 8 * SLACK)
    print(f"all gone {time.monotonic() - began:.1f} s after kill -9 of the Weaver")


def test_after_killing_everything_the_next_start_clears_leftovers_and_works(realm, home):
    (a,) = free_ports(1)
    one = realm(alpha=(a, {"deaf": True, "child": True})).start().ready()
    first = read_standings()["alpha"]
    os.kill(first.pid, signal.SIGSTOP)  # it cannot end by itself, and keeps its port
    os.kill(one.weaver.pid, signal.SIGKILL)
    one.weaver.wait()
    two = realm(alpha=(a, {})).start().ready()
    assert not is_alive(first.pid, first.birth)
    assert len(processes_of(home)) == 2
    two.stop()
    assert processes_of(home) == []


def test_a_deaf_service_is_killed_when_the_realm_stops(realm, home):
    (a,) = free_ports(1)
    one = realm(alpha=(a, {"deaf": True, "child": True})).start().ready()
    began = time.monotonic()
    one.stop()
    assert 1.9 < time.monotonic() - began < 5 * SLACK
    assert processes_of(home) == []


def test_stopping_from_outside_says_what_it_stopped_and_is_no_error_twice(realm, home):
    (a,) = free_ports(1)
    realm(alpha=(a, {})).start().ready()
    assert stop_realm() == ["alpha", "weaver"]
    assert stop_realm() == []
    assert processes_of(home) == []


def test_a_second_weaver_is_refused_and_named_the_first(realm):
    (a,) = free_ports(1)
    one = realm(alpha=(a, {})).start().ready()
    two = realm(alpha=(a, {})).start()
    assert two.weaver.wait(60) == 1
    assert f"running already; got 'pid {one.weaver.pid}" in two.weaver.stderr.read()
    assert read_leader().pid == one.weaver.pid


def test_of_many_simultaneous_starts_one_leads(home):
    assert crowd(8, home / "crowded") == 1


def test_a_service_that_cannot_even_be_started_is_tried_again(realm):
    a, b = free_ports(2)
    logs = folder("state") / "logs"
    (logs / "beta.log").mkdir(parents=True)  # in the place of its log file
    one = realm(alpha=(a, {}), beta=(b, {})).start(first_pause_s=1.0)
    row = one.until_state("beta", "pausing")
    assert "could not be started" in row.reason
    (logs / "beta.log").rmdir()
    one.ready()
    assert read_standings()["alpha"].restarts == 0
