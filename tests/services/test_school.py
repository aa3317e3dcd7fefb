"""The skill servers: every route guarded, samples that are true, nothing hostile gets a 500."""

import os
import signal
import subprocess
import sys

import httpx
import pytest
from starlette.testclient import TestClient

from levelcap.campaign.work.lessons import gate
from levelcap.guild.engine import get_engine
from levelcap.kit.files import append_jsonl
from levelcap.services.door.rights import check_rights
from levelcap.services.door.tokens import load_tokens
from levelcap.services.process.hosts import get_service_url
from levelcap.services.school.app import MOST, make_school
from tests.services.fuzz import bodies
from tests.services.matrix import walk
from tests.services.realms import ROOT, free_ports, until

PORT = 8090


@pytest.fixture(params=["bin", "sy"])
def app(request, home):
    return make_school(request.param, tokens=load_tokens(), port=PORT)


@pytest.fixture
def client(app):
    headers = {"Authorization": f"Bearer {load_tokens().viewer}"}
    with TestClient(
        app, base_url=f"http://localhost:{PORT}", headers=headers, raise_server_exceptions=False
    ) as opened:
        yield opened


def test_nobody_gets_in_without_the_right_token_host_and_origin(app):
    check_rights(app)
    assert walk(app, load_tokens(), PORT) > 1_000


def test_info_and_levels_say_what_the_skill_file_says(client, app):
    info = client.get("/info").json()
    skill = get_engine().get(info["skill"])
    assert app.title == f"school-{skill.id}"
    assert (info["min_level"], info["max_level"]) == (1, skill.levels)
    assert (info["name"], info["version"]) == (skill.name, skill.version)
    rows = client.get("/levels").json()["levels"]
    assert [row["level"] for row in rows] == list(range(1, len(skill.file.levels) + 1))
    assert sum(row["built"] for row in rows) == skill.levels
    assert all(row["eval_samples"] == 96 and row["threshold"] == 0.8 for row in rows)


def test_lessons_are_true_repeatable_and_pass_the_data_gate(client, tmp_path):
    skill = get_engine().get(client.get("/info").json()["skill"])
    order = {"level": 3, "count": 20, "seed": 7}
    made = client.post("/generate", json=order).json()
    assert (made["count"], made["level"], len(made["samples"])) == (20, 3, 20)
    assert client.post("/generate", json=order).json() == made
    for row in made["samples"]:
        assert set(row) == {"id", "user_prompt", "assistant_response", "tags", "rubric"}
        assert skill.solve(row["user_prompt"]) == row["assistant_response"]
    fresh = [client.post("/generate", json={"level": 3, "count": 5}).json() for _ in range(2)]
    assert fresh[0]["samples"] != fresh[1]["samples"]
    append_jsonl(tmp_path / "lessons.jsonl", made["samples"])
    assert gate(tmp_path / "lessons.jsonl").refused is None


def test_an_exam_is_what_the_guild_asks(client):
    skill = get_engine().get(client.get("/info").json()["skill"])
    found = client.get("/eval", params={"level": 5, "seed": 3}).json()
    assert found["count"] == 96 and found["level"] == 5
    wanted = [problem.prompt for problem in skill.exam(5, 96, 3)]
    assert [row["user_prompt"] for row in found["samples"]] == wanted


BAD = [
    {},
    {"level": 0},
    {"level": 9999},
    {"level": "1"},
    {"level": 1.5},
    {"level": True},
    {"level": 1, "count": 0},
    {"level": 1, "count": MOST + 1},
    {"level": 1, "count": 10**12},
    {"level": 1, "seed": -1},
    {"level": 1, "seed": 2**63},
    {"level": 1, "more": 1},
    [],
    "x",
]


def test_wrong_orders_are_refused_with_a_reason(client):
    for body in BAD:
        answer = client.post("/generate", json=body)
        assert answer.status_code == 400 and answer.json()["message"], body
    for query in ("", "level=x", "level=0", "level=99", "level=1&count=501", "level=1&seed=-1"):
        assert client.get(f"/eval?{query}").status_code == 400, query


def test_no_body_makes_a_500(app, client):
    seen = {}
    for method, url, headers, content in bodies(app, seed=5, count=600):
        status = client.request(method, url, headers=headers, content=content).status_code
        seen[status] = seen.get(status, 0) + 1
    assert max(seen) < 500 and seen.get(200, 0) > 20


def test_a_server_starts_without_torch_and_ends_when_told(home):
    [port] = free_ports(1)
    code = (
        "import runpy, sys\n"
        f"sys.argv = ['x', '--port', '{port}']\n"
        "try:\n    runpy.run_module('levelcap.services.school.bin', run_name='__main__')\n"
        "finally:\n    assert 'torch' not in sys.modules"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ}, stderr=subprocess.DEVNULL
    )

    def answers():
        try:
            return httpx.get(f"http://127.0.0.1:{port}/health", timeout=1).json()
        except httpx.HTTPError:
            return None

    assert until(answers, 40, "the school answers")["service"] == "school-bin"
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert get_service_url("bin").endswith(":8090") and get_service_url("sy").endswith(":8080")
