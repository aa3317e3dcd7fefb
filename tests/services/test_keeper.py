"""The Keeper: every route guarded, every answer in shape, workers over HTTP, a stream of events."""

import json
import threading

import httpx
import psutil
import pytest

from levelcap.campaign.realm import open_realm
from levelcap.campaign.story import campaigns
from levelcap.campaign.story.events import say
from levelcap.campaign.wheel import breaker, flywheel
from levelcap.campaign.work.bench import handlers_of
from levelcap.campaign.work.lessons import locate
from levelcap.jobs.job import Job, Refused, Stale, Unreachable
from levelcap.jobs.worker import Worker
from levelcap.kit.db import transaction
from levelcap.kit.errors import BadValue, Conflict, UnknownName
from levelcap.kit.paths import folder
from levelcap.services.clients.keeper import HttpStore, KeeperClient
from levelcap.services.door.rights import check_rights, routes_of
from levelcap.services.door.tokens import load_tokens
from levelcap.services.keeper.app import build
from levelcap.vault.archive import pack
from tests.services.callers import caller
from tests.services.keepers import keeper
from tests.services.matrix import walk
from tests.services.reach import try_paths, try_queries
from tests.vault.made import entered

PORT = 8767
JSON = "application/json"
QUERIED = ("/api/ledger", "/api/evals", "/api/compare", "/api/quests", "/api/jobs")


@pytest.fixture
def app(realm):
    return build(realm, load_tokens(), PORT, housekeeping=False)


@pytest.fixture
def client(app):
    with caller(app, PORT) as opened:
        yield opened


@pytest.fixture
def active(realm):
    with transaction(realm.engine) as connection:
        return campaigns.create(connection, "kestrel", "test").id


def work(realm, role):
    """Let a worker beside the database take one job that waits for this role."""
    handlers = handlers_of(lambda name: locate(realm.engine, name))
    Worker(realm.store, "w", "local_gpu_1", [role], handlers).run(max_jobs=1)


def test_every_route_declares_its_right_and_is_described(app):
    check_rights(app)
    described = app.openapi()["paths"]
    for route in routes_of(app):
        if route.path not in ("/openapi.json",):
            assert route.path in described
    for path, methods in described.items():
        for method, entry in methods.items():
            assert entry.get("description"), f"{method} {path} has no description"


def test_nobody_gets_in_without_the_right_token_host_and_origin(app):
    # All methods and callers: tests/trust/test_doors.py.
    methods, kinds = ("GET", "POST", "DELETE", "BREW"), ("none", "viewer", "worker", "admin")
    assert walk(app, load_tokens(), PORT, methods, kinds) > 8_000


def test_no_path_in_place_of_an_id_reaches_a_file(app, client, realm):
    # All spellings: tests/trust/test_doors.py.
    before = sorted(str(p) for p in folder("state").parent.rglob("*"))
    assert try_paths(app, client, stride=9) > 300
    assert try_queries(client, QUERIED, ("campaign", "run", "hero", "checkpoint"), stride=9) > 300
    assert sorted(str(p) for p in folder("state").parent.rglob("*")) == before


def test_a_submission_is_accepted_refused_or_told_what_is_wrong(client, active):
    body = {"job_type": "record", "payload": {"shard": "s", "games": 4}, "idempotency_key": "k"}
    answer = client.post("/api/jobs", json=body)
    assert answer.status_code == 201
    said = answer.json()
    assert said["accepted"] is True and said["queue_position"] == 1
    assert client.post("/api/jobs", json=body).json()["job_id"] == said["job_id"]
    wrong = client.post("/api/jobs", json={**body, "payload": {"shard": "s", "games": "x"}})
    assert wrong.status_code == 400 and "games" in wrong.json()["message"]
    assert client.post("/api/jobs", json={"job_type": "dance", "payload": {}}).status_code == 404
    for number in range(19):
        payload = {"shard": f"s{number}", "games": 4}
        client.post("/api/jobs", json={"job_type": "record", "payload": payload})
    full = client.post("/api/jobs", json={"job_type": "record", "payload": {"shard": "x"}})
    assert full.status_code == 429 and full.headers["retry-after"]
    assert full.json()["accepted"] is False
    assert {
        "reason",
        "message",
        "pending",
        "running",
        "max_pending",
        "max_running",
        "retry_after_sec",
    } <= set(full.json())


def test_the_vault_over_http(client, realm, tmp_path):
    rows = [entered(realm, n, train_loss=1.0 / n) for n in (1, 2, 3)]
    listed = client.get("/api/ledger", params={"limit": 2}).json()["checkpoints"]
    assert [row["step"] for row in listed] == [3, 2]
    best = client.get("/api/ledger/best", params={"metric": "train_loss"}).json()
    assert best["checkpoint"]["step"] == 3
    assert client.get("/api/ledger/2").json()["checkpoints"][0]["id"] == rows[1].id
    note = client.post(f"/api/notes/{rows[0].id}", json={"text": "first", "tags": ["old"]}).json()
    assert client.get(f"/api/notes/{rows[0].id}").json() == note and note["tags"] == ["old"]
    assert client.post("/api/notes/nobody", json={"text": "x"}).status_code == 404
    promoted = client.post("/api/champion", json={"checkpoint": rows[0].id})
    assert promoted.json()["checkpoint"] == rows[0].id
    assert client.post("/api/champion", json={"checkpoint": rows[0].id}).status_code == 409
    client.post("/api/champion", json={"checkpoint": "latest"})
    back = client.post("/api/champion/rollback", json={"hero": "kestrel"}).json()
    assert back["champion"]["checkpoint"] == rows[0].id
    assert client.delete(f"/api/checkpoints/{rows[0].id}").status_code == 409
    assert client.delete(f"/api/checkpoints/{rows[1].id}").json() == {"removed": rows[1].id}
    tar = client.get(f"/api/checkpoints/{rows[2].id}/pack")
    assert tar.status_code == 200
    direct = pack(realm.engine, rows[2].id, tmp_path / "x.tar")
    assert tar.content == direct.read_bytes()
    types = {"content-type": "application/x-tar"}
    for content, ends in ((tar.content, "done"), (tar.content[:700], "failed")):
        taken = client.post("/api/checkpoints/unpack", content=content, headers=types)
        assert taken.status_code == 202
        work(realm, "vault_worker")
        job = client.get(f"/api/jobs/{taken.json()['job']}").json()
        assert job["status"] == ends
    assert "cannot be read as a tar" in job["error"]
    assert list(folder("exports").iterdir()) == []
    for old in (client.get("/api/checkpoints/x/export"), client.post("/api/checkpoints/import")):
        assert old.status_code == 404 and "unpack" in old.json()["message"]
    assert client.get("/api/compare", params={"a": "latest", "b": "champion"}).status_code == 200


def test_quests_campaigns_and_control_over_http(client, realm, active):
    made = client.post("/api/quests", json={"recipe": {"quest": "record", "games": 4}})
    assert made.status_code == 201 and made.json()["status"] == "queued"
    wrong = client.post("/api/quests", json={"recipe": {"quest": "record", "gamez": 4}})
    assert wrong.status_code == 400 and "gamez" in wrong.json()["message"]
    sent = client.post(
        "/api/quests/upload/a.yaml",
        content=b"quest: record\ngames: 6\n",
        headers={"content-type": "application/yaml"},
    )
    assert sent.status_code == 201
    assert client.post(f"/api/quests/{made.json()['id']}/cancel").json()["status"] == "cancelled"
    assert client.post("/api/training/control", json={"action": "pause"}).json() == {
        "state": "paused",
        "held": None,
    }
    assert client.get("/api/training/status").json()["state"] == "paused"
    with transaction(realm.engine) as connection:
        breaker.note_refusal(connection, active, "no such shard")
    assert "no such shard" in client.get("/api/training/status").json()["halt"]["reason"]
    assert client.post("/api/training/control", json={"action": "retry"}).status_code == 200
    assert client.get("/api/training/status").json()["halt"] is None
    new = client.post("/api/campaigns", json={"name": "two"})
    assert new.status_code == 201
    assert client.post(f"/api/campaigns/{active}/continue").json()["status"] == "active"
    hero = client.get("/api/heroes/kestrel").json()
    assert hero["campaign"]["id"] == active
    assert client.get("/api/heroes/nobody").status_code == 404


def submit(client, job_type, payload):
    return client.call("POST", "/api/jobs", {"job_type": job_type, "payload": payload})


def test_a_worker_over_http_does_a_job_and_its_effect_is_written_here(home):
    with keeper() as (client, process):
        assert "torch" not in " ".join(psutil.Process(process.pid).cmdline())
        store = HttpStore(client)
        submit(client, "health_check", {})
        done = Worker(
            store, "far", "local_gpu_1", ["eval_worker"], {"health_check": lambda j, c: {"x": 1}}
        ).run(max_jobs=1)
        assert done == 1
        [row] = client.call("GET", "/api/jobs", type="health_check")["jobs"]
        job = Job.from_json(row)
        assert (job.status, job.result) == ("done", {"x": 1})
        with pytest.raises(Stale):
            store.complete(job.id, "far", job.fence + 1, {})
        with pytest.raises(UnknownName):
            client.call("GET", "/api/jobs/job-none")
        with pytest.raises(BadValue):
            submit(client, "eval", {"checkpoint": "../x"})
        with pytest.raises(Conflict):
            client.call("POST", f"/api/jobs/{job.id}/retry")
        weak = KeeperClient(client.url, load_tokens().viewer)
        with pytest.raises(Exception, match="role|right|token"):
            weak.call("POST", "/api/training/control", {"action": "pause"})
        weak.close()
    with pytest.raises(Unreachable):
        client = KeeperClient(client.url, "x")
        client.call("GET", "/health")


def test_a_full_queue_over_http_is_the_same_error(home):
    with keeper() as (client, _):
        client.call("POST", "/api/training/control", {"action": "pause"})
        with pytest.raises(Refused) as refused:
            for number in range(30):
                submit(client, "record", {"shard": f"s{number}", "games": 4})
        assert refused.value.max_pending == 20 and refused.value.retry_after_sec > 0


def test_events_are_streamed(home):
    with keeper() as (client, _):
        realm = open_realm()
        heard = []

        def listen():
            headers = {"Authorization": f"Bearer {load_tokens().viewer}"}
            url = f"{client.url}/api/events?after=0"
            with httpx.stream("GET", url, headers=headers, timeout=20) as stream:
                for line in stream.iter_lines():
                    if line.startswith("data: "):
                        heard.append(json.loads(line.removeprefix("data: ")))
                        if heard[-1]["message"] == "the end":
                            return

        listener = threading.Thread(target=listen)
        listener.start()
        say(realm.engine, "service.up", "<b>one</b>")
        say(realm.engine, "service.up", "the end")
        listener.join(20)
        realm.close()
        assert not listener.is_alive()
        assert "<b>one</b>" in [event["message"] for event in heard]


def test_the_keeper_keeps_house_and_stays_small(home):
    with keeper() as (client, process):
        from tests.services.realms import until

        until(
            lambda: client.call("GET", "/api/quests")["quests"],
            20,
            "the wheel has added a quest",
        )
        assert client.call("GET", "/health")["housekeeping"]["problem"] is None
        assert psutil.Process(process.pid).memory_info().rss < 150e6
        until(lambda: list((folder("state") / "backups").glob("realm-*.db")), 20, "a backup")


def test_keeper_weaver_and_watchtower_start_without_torch():
    import subprocess
    import sys

    for module in ("keeper.app", "weaver.run", "watchtower.app", "clients"):
        code = f"import sys, levelcap.services.{module}; sys.exit('torch' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0, module


def test_the_wheel_does_not_turn_without_campaigns(realm):
    assert flywheel.turn(realm.store) == []


def test_the_guild_and_the_choice_of_a_hero_over_http(client, realm, active):
    heroes = client.get("/api/heroes").json()["heroes"]
    names = [hero["id"] for hero in heroes]
    assert names[:3] == ["kestrel", "merlin", "dio-tiny"] and heroes[0]["chosen"]
    assert client.post("/api/heroes/dio-tiny/choose").json()["chosen"] is True
    assert client.post("/api/heroes/flo/choose").status_code == 409
    assert client.post("/api/heroes/nobody/choose").status_code == 404
    assert client.get("/api/heroes/kestrel").json()["campaign"]["status"] == "paused"
    page = client.get("/api/guild/dio-tiny").json()
    assert [row["skill"] for row in page["skills"]] == ["bin", "sy"]
    assert page["passives"] is None and page["curriculum"]["skills"] == ["bin"]
    assert client.get("/api/guild/kestrel").status_code == 404
    assert client.get("/api/passives").status_code == 404  # no checkpoint yet
    lessons = b'{"prompt": "a", "answer": "b"}\n{"prompt": "c", "answer": "d"}\n'
    types = {"content-type": "application/x-ndjson"}
    made = client.post("/api/quests/lessons/a.jsonl", content=lessons, headers=types)
    assert made.status_code == 201 and made.json()["kind"] == "study"
    assert made.json()["report"] | {"rows": 2, "lessons": 2, "invalid": 0} == made.json()["report"]
    bad = client.post("/api/quests/lessons/b.jsonl", content=b"x\n", headers=types)
    assert bad.status_code == 400 and "line 1" in bad.json()["message"]
    assert client.post("/api/quests", json={"recipe": {"quest": "school"}}).status_code == 201
