"""P18-P22 on every app that listens: who gets in, what bodies do, what uploads reach."""

import resource
import time

import pytest
from starlette.testclient import TestClient

from levelcap.campaign.realm import open_realm
from levelcap.campaign.story import campaigns
from levelcap.kit.db import transaction
from levelcap.kit.paths import folder
from levelcap.services.door.tokens import load_tokens
from levelcap.services.keeper.app import build
from tests.services.fuzz import bodies
from tests.services.matrix import walk
from tests.services.reach import try_paths, try_queries

pytestmark = [pytest.mark.trust, pytest.mark.timeout(1500)]
PORT = 8767
FUZZED = 20_000
QUERIED = ("/api/ledger", "/api/evals", "/api/compare", "/api/quests", "/api/jobs")


@pytest.fixture
def app(home):
    realm = open_realm()
    with transaction(realm.engine) as connection:
        campaigns.create(connection, "kestrel", "test")
    yield build(realm, load_tokens(), PORT, housekeeping=False)
    realm.close()


@pytest.fixture
def client(app):
    headers = {"Authorization": f"Bearer {load_tokens().admin}", "Content-Type": "application/json"}
    with TestClient(
        app, base_url=f"http://localhost:{PORT}", headers=headers, raise_server_exceptions=False
    ) as opened:
        yield opened


def test_the_whole_matrix(app, figures):
    calls = walk(app, load_tokens(), PORT)
    figures.add("P18", f"{calls:,} calls route × method × token: 0 wrong", True, matrix=calls)
    figures.add("P19", "foreign Host and Origin on every route: refused", True)


def test_no_body_makes_a_500(app, client, figures):
    statuses, seen = {}, []
    for method, url, headers, content in bodies(app, seed=1, count=FUZZED):
        answer = client.request(method, url, content=content, headers=headers)
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        if answer.status_code >= 500:
            seen.append((method, url, headers, content[:200], answer.text[:300]))
    figures.add(
        "P20",
        f"{FUZZED:,} fuzzed bodies: {len(seen)} × 5xx, {statuses}",
        not seen,
        fuzzed=FUZZED,
        http_500=len(seen),
    )
    assert not seen, seen[:3]
    assert statuses.get(200, 0) + statuses.get(201, 0) > FUZZED // 100  # some get through


def test_no_upload_makes_a_500_or_leaves_the_inbox(app, client, figures):
    import random

    rng, seen = random.Random(2), []
    good = b"quest: record\nworld: duel\ngames: 10\n"
    outside = [
        p
        for p in folder("state").parent.rglob("*")
        if "inbox" not in p.parts and "state" not in p.parts
    ]
    for number in range(FUZZED):
        data = bytearray(good + rng.randbytes(rng.choice([0, 0, 8, 500])))
        for _ in range(rng.randrange(6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        name = rng.choice(["a.yaml", "b.yml", "..%2Fx.yaml", "x.exe", "%2e%2e", f"n{number}.yaml"])
        answer = client.post(
            f"/api/quests/upload/{name}",
            content=bytes(data),
            headers={"Content-Type": "application/yaml"},
        )
        if answer.status_code >= 500:
            seen.append((name, bytes(data[:100]), answer.text[:300]))
    after = [
        p
        for p in folder("state").parent.rglob("*")
        if "inbox" not in p.parts and "state" not in p.parts
    ]
    figures.add(
        "P20",
        f"{FUZZED:,} fuzzed uploads: {len(seen)} × 5xx",
        not seen,
        fuzzed=FUZZED,
        http_500=len(seen),
    )
    assert not seen, seen[:3]
    assert sorted(outside) == sorted(after)


def test_uploads_and_ids_reach_no_file(app, client, figures):
    before = sorted(str(p) for p in folder("state").parent.rglob("*"))
    tried = try_paths(app, client) + try_queries(
        client, QUERIED, ("campaign", "run", "hero", "checkpoint", "a", "b", "before")
    )
    after = sorted(str(p) for p in folder("state").parent.rglob("*"))
    figures.add("P21", f"{tried:,} path payloads: 0 escapes", after == before, paths=tried)
    assert after == before


def test_bombs_are_refused_cheaply(client, figures):
    began_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worst = 0.0
    bombs = [
        b"[" * 900_000,
        b'{"a":' * 180_000,
        b"1" * 1_000_000,
        b'"' + b"\\u0041" * 160_000 + b'"',
        b"[" + b"{}," * 300_000 + b"{}]",
        b" " * 1_000_000,
        b"1e" + b"9" * 900_000,
    ]
    for bomb in bombs:
        began = time.monotonic()
        answer = client.post("/api/jobs", content=bomb)
        worst = max(worst, time.monotonic() - began)
        assert 400 <= answer.status_code < 500
    yaml = b"a: &a [x,x]\n" + b"".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)},*{chr(97 + n)}]\n".encode()
        for n in range(20)
    )
    began = time.monotonic()
    answer = client.post(
        "/api/quests/upload/b.yaml", content=yaml, headers={"Content-Type": "application/yaml"}
    )
    worst = max(worst, time.monotonic() - began)
    assert answer.status_code == 400
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - began_kb) / 1024
    figures.add(
        "P22",
        f"{len(bombs) + 1} bombs: {worst:.2f} s, {grown_mb:.0f} MiB at worst",
        worst <= 1 and grown_mb <= 64,
        bomb_s=round(worst, 3),
    )
    assert worst <= 1.0 and grown_mb <= 64


def test_schemathesis_finds_nothing(home, figures, tmp_path):
    """An outside tool, against a real server: its own reading of our OpenAPI."""
    import re
    import subprocess
    import sys
    from pathlib import Path

    from tests.services.keepers import keeper

    with keeper() as (client, process):
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            "run",
            f"{client.url}/openapi.json",
            "-H",
            f"Authorization: Bearer {load_tokens().admin}",
            "--checks",
            "not_a_server_error,content_type_conformance,response_schema_conformance",
            "--exclude-path",
            "/api/events",
            "--max-examples",
            "25",
            "--max-time",
            "150",
            "--seed",
            "1",
            "--phases",
            "examples,coverage,fuzzing",
            "--no-color",
        ]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=400)
        assert process.poll() is None
    cases = re.findall(r"(\d[\d,]*) generated", run.stdout)
    clean = run.returncode == 0
    figures.add(
        "P20",
        f"Schemathesis: {cases[-1] if cases else '?'} cases, {'clean' if clean else 'failures'}",
        clean,
        schemathesis_clean=clean,
    )
    assert clean, run.stdout[-3000:] + run.stderr[-500:]
