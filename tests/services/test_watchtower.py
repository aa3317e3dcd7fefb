"""Alarms red and green, readings of a real realm, and the service as a process."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest
from starlette.testclient import TestClient

from levelcap.campaign.realm import open_realm
from levelcap.campaign.story import campaigns
from levelcap.campaign.story.events import follow
from levelcap.campaign.wheel import breaker, flywheel
from levelcap.campaign.wheel.control import control
from levelcap.kit.db import transaction
from levelcap.kit.log import MetricsWriter
from levelcap.kit.paths import folder
from levelcap.services.door.tokens import load_tokens
from levelcap.services.process.processes import birth
from levelcap.services.process.standing import Standing, write_standings
from levelcap.services.process.voice import voice
from levelcap.services.watchtower import alarms
from levelcap.services.watchtower.app import make_watchtower
from levelcap.services.watchtower.readings import (
    Disk,
    Jobs,
    Reader,
    Reading,
    Service,
    Training,
    read_training,
)
from levelcap.services.watchtower.watch import Memory, Watch, judge
from tests.services.matrix import walk
from tests.services.realms import SLACK, free_ports, until

PORT = 8081
CALM = [1.0 + 0.1 * (n % 7 - 3) for n in range(100)]
ROOMY = Disk(used=10**9, free=10**11, cap=20 * 10**9)


def reading(now_s=0.0, jobs=None, training=(), services=None, disk=ROOMY):
    return Reading(now_s, True, services or {}, jobs or Jobs(), training, disk)


def test_a_loss_that_jumps_is_a_spike_until_it_is_back():
    assert alarms.loss_spike(CALM, raised=False) is None
    assert "deviations above" in alarms.loss_spike([*CALM, *[9.0] * 5], raised=False)
    assert alarms.loss_spike([*CALM, 9.0], raised=False) is None  # one row is no spike
    assert alarms.loss_spike([*CALM, *[-9.0] * 5], raised=False) is None  # downwards is good
    # 1.8 above, six times the spread of 0.3: too little to raise, too much to clear.
    edge = [*CALM, *[2.8] * 5]
    assert alarms.loss_spike(edge, raised=False) is None
    assert alarms.loss_spike(edge, raised=True) is not None
    assert alarms.loss_spike([*CALM, *[9.0] * 5, *CALM[:10]], raised=True) is None


def test_a_young_run_and_a_constant_loss_raise_nothing():
    assert alarms.loss_spike([1.0] * 10 + [99.0] * 5, raised=False) is None
    assert alarms.loss_spike([1.0] * 100 + [1.05] * 5, raised=False) is None
    assert alarms.loss_spike([1.0] * 100 + [1.5] * 5, raised=False) is not None


def test_a_falling_loss_of_a_healthy_run_raises_nothing_at_any_time():
    healthy = [3.0 / (1 + n / 20) + 0.05 * ((n * 7919) % 13 - 6) / 6 for n in range(600)]
    assert [n for n in range(600) if alarms.loss_spike(healthy[:n], False)] == []


def test_values_that_are_not_finite_raise_until_twenty_clean_rows():
    assert alarms.non_finite(bad_rows=0, clean_rows=200, raised=False) is None
    assert alarms.non_finite(bad_rows=2, clean_rows=0, raised=False) is not None
    assert alarms.non_finite(bad_rows=2, clean_rows=10, raised=False) is None
    assert alarms.non_finite(bad_rows=2, clean_rows=10, raised=True) is not None
    assert alarms.non_finite(bad_rows=2, clean_rows=20, raised=True) is None


def test_a_queue_is_stalled_when_a_free_worker_takes_nothing_for_five_minutes():
    def stalled(raised=False, **changes):
        fields = {"queued": 3, "idle_workers": 1, "unclaimed_s": 301.0, **changes}
        return alarms.stalled_queue(alarms.Queue(**fields), raised) is not None

    assert stalled()
    assert not stalled(unclaimed_s=299.0)
    assert not stalled(queued=0)
    assert not stalled(idle_workers=0)  # all are busy: that is work, not a stall
    assert not stalled(may_train=False)
    assert stalled(raised=True, idle_workers=0)
    assert not stalled(raised=True, unclaimed_s=1.0)


def test_the_disk_is_low_by_its_free_bytes_or_by_our_share():
    def low(free=50e9, used=1e9, raised=False):
        return alarms.disk_low(free, used, 20e9, raised)

    assert low() is None
    assert "0.9 GB are free" in low(free=0.9e9)
    assert low(free=1.5e9) is None
    assert low(free=1.5e9, raised=True) is not None
    assert low(free=2.1e9, raised=True) is None
    assert "19.5 of 20.0 GB" in low(used=19.5e9)
    assert low(used=18.5e9) is None
    assert low(used=18.5e9, raised=True) is not None


def test_a_service_flaps_when_it_stays_down_or_restarts_twice_in_ten_minutes():
    def flaps(state="up", times=(), now_s=1000.0, raised=False):
        return alarms.flapping({"keeper": state}, {"keeper": times}, now_s, raised) is not None

    assert not flaps()
    assert flaps(state="down")
    assert not flaps(times=[900.0])
    assert flaps(times=[800.0, 900.0])
    assert flaps(times=[900.0], raised=True)
    assert not flaps(times=[300.0, 350.0], now_s=1000.0)
    assert not flaps(times=[300.0, 350.0], raised=True)


def test_claims_and_restarts_are_seen_by_their_change():
    memory = Memory()
    waiting = Jobs(queued=1, idle_workers=1, oldest_queued_s=1000.0, claims=5)

    def look(now_s, claims, restarts):
        up = Service("keeper", "up", True, restarts, "", 0)
        jobs = Jobs(**{**waiting.__dict__, "claims": claims})
        one = reading(now_s, jobs, services={"keeper": up})
        memory.take(one)
        return set(judge(one, memory, set()))

    assert look(1000.0, 5, restarts=4) == set()  # restarts from before the watch began
    assert look(1299.0, 5, restarts=4) == set()
    assert look(1301.0, 5, restarts=4) == {"stalled_queue"}
    assert look(1302.0, 6, restarts=5) == set()
    assert look(1310.0, 6, restarts=6) == {"flapping"}


def test_a_stopped_wheel_is_an_alarm_with_the_way_out(realm):
    flywheel.begin(realm.store)
    with transaction(realm.engine) as connection:
        campaign = campaigns.active(connection, "kestrel").id
        breaker.note_refusal(connection, campaign, "no such shard")
    found = judge(Reader(realm.engine).read(), Memory(), set())
    assert "no such shard" in found["wheel_stopped"]
    assert "levelcap training retry" in found["wheel_stopped"]
    control(realm.store, "retry")
    assert "wheel_stopped" not in judge(Reader(realm.engine).read(), Memory(), set())


def test_an_alarm_is_said_once_when_raised_and_once_when_cleared_also_over_a_restart():
    said = []
    now = [reading()]

    def say(kind, severity, message, data):
        said.append((kind, severity, data["raised"]))

    watch = Watch(lambda: now[0], say)
    watch.look()
    assert said == []
    now[0] = reading(disk=Disk(0, 5 * 10**8, 10**10))
    watch.look()
    watch.look()
    assert said == [("alarm.disk_low", "error", True)]
    again = Watch(lambda: now[0], say)
    again.look()
    assert len(said) == 1
    now[0] = reading()
    again.look()
    again.look()
    assert said[1:] == [("alarm.disk_low", "success", False)]


def test_metrics_are_read_while_they_are_written(tmp_path):
    writer = MetricsWriter(tmp_path / "run-1" / "metrics.jsonl")
    for step in range(300):
        loss = float("nan") if step == 290 else 1.0
        writer.write(step, {"value_loss": loss, "steps_per_s": 7.0, "updates": step, "steps": 9})
    with writer.path.open("a") as file:
        file.write('{"step": 300, "value_lo')
    found = read_training(writer.path.parent)
    assert (found.run, found.bad_rows, found.clean_rows) == ("run-1", 1, 9)
    assert (len(found.losses), found.steps_per_s, found.updates) == (199, 7.0, 299.0)
    assert read_training(tmp_path / "none") == Training("none", losses=[])


def test_harder_lessons_of_a_new_level_are_no_spike(tmp_path):
    writer = MetricsWriter(tmp_path / "study-1" / "metrics.jsonl")
    for step in range(150):
        level = 2 if step >= 120 else 1
        writer.write(step, {"loss": 0.05 + 0.4 * (level - 1) + 0.001 * (step % 3), "level": level})
    found = read_training(writer.path.parent)
    assert len(found.losses) == 30 and alarms.loss_spike(found.losses, False) is None
    for step in range(150, 160):
        writer.write(step, {"loss": 2.0, "level": 2})  # within a level it still is one
    assert alarms.loss_spike(read_training(writer.path.parent).losses, False)


@pytest.fixture
def realm():
    realm = open_realm()
    yield realm
    realm.close()


def client_of(watch):
    app = make_watchtower(watch, tokens=load_tokens(), port=PORT)
    return TestClient(app, base_url=f"http://localhost:{PORT}")


def viewer():
    return {"authorization": f"Bearer {load_tokens().viewer}"}


def test_gauges_show_the_queue_the_services_the_run_and_the_disk(realm, monkeypatch):
    for _ in range(3):
        realm.store.submit("health_check", {})
    me = Standing("keeper", "up", os.getpid(), birth(os.getpid()), 8767, "", 2)
    write_standings({"keeper": me, "arena": Standing("arena", "down", restarts=3)})
    watch = Watch(Reader(realm.engine).read, voice(realm.engine))
    watch.look()
    text = client_of(watch).get("/metrics", headers=viewer()).text
    for line in (
        'levelcap_jobs{status="queued",type="health_check"} 3.0',
        'levelcap_service_up{service="keeper"} 1.0',
        'levelcap_service_up{service="arena"} 0.0',
        'levelcap_service_restarts{service="arena"} 3.0',
        'levelcap_disk_bytes{kind="cap"} 2e+10',
        'levelcap_alarm{alarm="flapping"} 1.0',
        'levelcap_alarm{alarm="disk_low"} 0.0',
    ):
        assert line in text
    events = [(event.kind, event.severity) for event in follow(realm.engine)]
    assert events == [("alarm.flapping", "error")]


def test_health_and_alarms_say_what_is_wrong(realm):
    watch = Watch(Reader(realm.engine).read, voice(realm.engine))
    client = client_of(watch)
    assert client.get("/api/health", headers=viewer()).json()["status"] == "unknown"
    write_standings({"arena": Standing("arena", "down", reason="ended (7)")})
    watch.look()
    health = client.get("/api/health", headers=viewer()).json()
    assert health["status"] == "degraded"
    assert health["services"]["arena"]["reason"] == "ended (7)"
    found = client.get("/api/alarms", headers=viewer()).json()["alarms"]
    assert [name for name, alarm in found.items() if alarm["raised"]] == ["flapping"]
    assert "arena" in found["flapping"]["message"]


def test_a_running_quest_is_followed_in_its_run_folder(realm):
    run = folder("runs") / "reinforce-1"
    MetricsWriter(run / "metrics.jsonl").write(5, {"loss": 0.25, "steps_per_s": 1000})
    with transaction(realm.engine) as connection:
        connection.execute(
            "INSERT INTO campaigns VALUES ('c', 'h', 'n', '', 'active', NULL, 0, 0, '', '{}', '',"
            " '[]', '{}', '{}', NULL)"
        )
        connection.execute(
            "INSERT INTO quests (id, campaign, kind, title, recipe, priority, source, status, run,"
            " created, seq) VALUES ('q', 'c', 'reinforce', '', '{}', 'normal', '', 'running',"
            " 'reinforce-1', '', 1)"
        )
    found = Reader(realm.engine).read().training
    assert [(t.run, list(t.losses), t.steps_per_s) for t in found] == [("reinforce-1", [0.25], 1e3)]


def test_a_database_in_trouble_does_not_end_the_watch(realm):
    with transaction(realm.engine) as connection:
        connection.execute("DROP TABLE job_events")
    watch = Watch(Reader(realm.engine).read, voice(realm.engine))
    watch.look()
    assert client_of(watch).get("/api/health", headers=viewer()).json()["database"] is False


def test_every_route_is_guarded(realm):
    watch = Watch(Reader(realm.engine).read, voice(realm.engine))
    app = make_watchtower(watch, tokens=load_tokens(), port=PORT)
    assert walk(app, load_tokens(), PORT) > 1000


def test_the_service_starts_without_torch_stays_small_and_stops_within_three_seconds(home):
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "levelcap.services.watchtower", "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"

        def is_up():
            try:
                return httpx.get(f"{url}/health", timeout=1).status_code == 200
            except httpx.HTTPError:
                return False

        until(is_up, 60, "the Watchtower answers")
        page = httpx.get(f"{url}/metrics", headers=viewer(), timeout=5)
        assert "levelcap_leader 0.0" in page.text
        maps = Path(f"/proc/{process.pid}/maps").read_text()
        memory_mb = psutil.Process(process.pid).memory_info().rss / 1e6
        print(f"Watchtower: {memory_mb:.0f} MB resident")
        assert "torch" not in maps
        assert memory_mb < 150
        with httpx.stream("GET", f"{url}/health"):  # an open connection does not delay the end
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
            seconds = time.monotonic() - began
        print(f"stopped in {seconds:.1f} s")
        assert seconds < 3 * SLACK
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    lines = (folder("state") / "logs" / "watchtower.log").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines][:2] == ["started", "listening"]
