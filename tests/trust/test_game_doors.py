"""P18-P21 on the Tavern, the Oracle and the Watchtower: pages, decisions, matches, sockets."""

import json
import os
import random
import re
import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest
from starlette.websockets import WebSocketDisconnect

from levelcap.guild.skill import Skill
from levelcap.kit import ids
from levelcap.kit.paths import folder
from levelcap.play.roster import find
from levelcap.play.seats import Seats, views_of
from levelcap.services.door.tokens import load_tokens
from levelcap.services.oracle import app as app_module
from levelcap.services.oracle import match_api
from levelcap.services.oracle.app import build
from levelcap.services.school.app import make_school
from levelcap.services.watchtower.app import make_watchtower
from levelcap.services.watchtower.readings import Reader
from levelcap.services.watchtower.watch import Watch
from levelcap.world import make
from levelcap.world.replay import Recorder
from tests.browser.inn import Inn
from tests.services.callers import caller
from tests.services.fuzz import ODD, bodies
from tests.services.matrix import walk, walk_sockets
from tests.services.oracles import net_in_vault
from tests.services.reach import try_paths
from tests.services.realms import ROOT
from tests.trust.doors import BROKEN, frames, fuzz, hostile_ids, matches, unseen

pytestmark = [pytest.mark.trust, pytest.mark.timeout(600)]
PORT = 8765
FUZZED, FRAMES = 2_000, 400


@pytest.fixture
def app(realm):
    return build(realm.engine, load_tokens(), PORT, capacity=2)


def acts(checkpoint, seed, count):
    """Requests for decisions that are almost right."""
    rng = random.Random(seed)
    for _ in range(count):
        row = {"features": [0.5] * 19, "mask": [1] * rng.choice([3, 56]), "key": 7}
        name = rng.choice([*row, "player", "x"])
        row[name] = rng.choice([rng.choice(ODD), [rng.choice(ODD)] * 19, [[0.0] * 19]])
        body = {"checkpoint": checkpoint, "world": "duel", "rows": [row] * rng.choice([1, 2, 300])}
        if rng.random() < 0.4:
            body[rng.choice([*body, "greedy"])] = rng.choice(ODD)
        yield "POST", "/act", {"Content-Type": "application/json"}, json.dumps(body).encode()


def unchecked(body):
    """A request for decisions, believed as it stands."""
    return body["checkpoint"], body["world"], body["rows"], False


def school(skill):
    return make_school(skill, tokens=load_tokens(), port=PORT)


def test_the_matrix_of_the_oracle_the_watchtower_and_the_schools(app, realm, figures):
    tower = make_watchtower(
        Watch(Reader(realm.engine).read, lambda *said: None), tokens=load_tokens(), port=PORT
    )
    schools = [(f"School of {name.upper()}", school(name)) for name in ("bin", "sy")]
    for name, one in (("Oracle", app), ("Watchtower", tower), *schools):
        calls, sockets = walk(one, load_tokens(), PORT), walk_sockets(one, load_tokens(), PORT)
        figures.add(
            "P18", f"{name}: {calls:,} calls route × method × token: 0 wrong", True, matrix=calls
        )
        figures.add(
            "P19",
            f"{name}: foreign Host and Origin on every route, {sockets:,} knocks "
            "at sockets: refused before accept",
            True,
            socket_knocks=sockets,
        )
    missed = unseen(app, load_tokens(), PORT)
    figures.add("P19", f"Oracle: guards switched off that nobody noticed: {missed}", not missed)
    assert not missed


def test_no_body_makes_the_oracle_fail(app, realm, figures):
    entry, _ = net_in_vault(realm.engine, 1)
    with caller(app, PORT) as client:
        asked = [
            *bodies(app, 7, FUZZED),
            *acts(entry.id, 8, FUZZED),
            *acts("champion", 9, 200),
            *matches("/matches", 10, FUZZED // 8),
        ]
        statuses, broken = fuzz(client, asked, lambda one: client.delete(f"/matches/{one}"))
    figures.add(
        "P20",
        f"Oracle: {len(asked):,} fuzzed bodies: {len(broken)} × 5xx, {statuses}",
        not broken,
        fuzzed=len(asked),
        http_500=len(broken),
    )
    assert not broken, broken[:3]
    assert statuses[200] + statuses[201] > 200
    careless = patch.object(app_module, "check_request", unchecked)
    with careless, caller(app, PORT) as client:
        _, broken = fuzz(client, acts(entry.id, 8, 300))
    assert broken  # a check less, and the fuzz sees it


@pytest.mark.parametrize("skill", ["bin", "sy"])
def test_no_body_makes_a_school_fail(skill, home, figures):
    app = school(skill)
    with caller(app, PORT) as client:
        asked = list(bodies(app, 12, FUZZED))
        statuses, broken = fuzz(client, asked)
        figures.add(
            "P20",
            f"School of {skill.upper()}: {len(asked):,} fuzzed bodies: "
            f"{len(broken)} × 5xx, {statuses}",
            not broken,
            fuzzed=len(asked),
            http_500=len(broken),
        )
        assert not broken, broken[:3]
        with patch.object(Skill, "check", lambda *_: None):
            orders = [
                (
                    "POST",
                    "/generate",
                    {"Content-Type": "application/json"},
                    json.dumps({"level": level}).encode(),
                )
                for level in (51, 999)
            ]
            assert fuzz(client, orders)[1]  # a check less, and the fuzz sees it


def test_no_message_breaks_a_socket_of_the_oracle(app, figures):
    with caller(app, PORT) as client:
        ends = send_all(client, frames(11, FRAMES))
        assert client.get("/health").json()["status"] == "ok"
    figures.add(
        "P20",
        f"Oracle: {FRAMES} messages at a match: {ends.get(BROKEN, 0)} failures, closed with {ends}",
        BROKEN not in ends,
        fuzzed=FRAMES,
    )
    assert BROKEN not in ends and ends[1007] > 50
    with patch.object(match_api, "read_command", json.loads), caller(app, PORT) as client:
        assert BROKEN in send_all(client, frames(11, FRAMES // 10))


def send_all(client, messages):
    """Sends each message to a match with a person; returns the closing codes with their counts."""
    made = client.post("/matches", json={"seats": ["person", "idle"]}).json()
    ends = {}
    for message in messages:
        try:
            with client.websocket_connect(f"ws://localhost:{PORT}/matches/{made['id']}") as socket:
                (socket.send_text if isinstance(message, str) else socket.send_bytes)(message)
                socket.send_text("{")  # no pace: the good ones end here
                while True:
                    socket.receive_bytes()
        except WebSocketDisconnect as closed:
            ends[closed.code] = ends.get(closed.code, 0) + 1
    client.delete(f"/matches/{made['id']}")
    return ends


def hide_a_replay():
    """A match in the folder of replays under a name that no id may have."""
    policies = [find("master"), find("rookie")]
    world = make("duel", views=views_of(policies), seed=7)
    views, recorder = world.reset(), Recorder(world)
    table = Seats(world, policies, np.array([[0, 1]]))
    while not recorder.done:
        views, *_, info = world.step(table.act(views))
        recorder.record(info)
    recorder.save(folder("replays") / ".hidden.lcr")


def test_no_id_leads_the_oracle_to_a_file(app, realm, figures):
    entry, _ = net_in_vault(realm.engine, 1)
    row = {"features": [0.5] * 19}
    hide_a_replay()
    before = sorted(str(p) for p in folder("state").parent.rglob("*"))
    with caller(app, PORT) as client:
        tried = try_paths(app, client) + hostile_ids(
            client,
            [
                ("POST", "/models/load", lambda text: {"checkpoint": text}),
                ("POST", "/act", lambda text: {"checkpoint": text, "rows": [row]}),
                ("POST", "/matches", lambda text: {"seats": [text]}),
                ("POST", "/matches", lambda text: {"seats": ["idle"], "patch": text}),
                ("POST", "/matches", lambda text: {"seats": ["idle"], "person": {"name": text}}),
            ],
        )
        after = sorted(str(p) for p in folder("state").parent.rglob("*"))
        anything = patch.object(ids, "ID_PATTERN", re.compile(".*", re.DOTALL))
        with anything, pytest.raises(AssertionError, match="hidden"):
            try_paths(app, client)
    figures.add("P21", f"Oracle: {tried:,} path payloads: 0 escapes", after == before, paths=tried)
    assert after == before


def test_the_tavern_with_everything_behind_it(home, figures):
    """In processes of their own; a Keeper and an Oracle answer, so that more than refusals show."""
    inn = Inn(home)
    try:
        for name, port in (("keeper", 8767), ("oracle", 8765), ("tavern", 8888)):
            inn.start(name)
            inn.wait(port, name)
        run = subprocess.run(
            [sys.executable, "-m", "tests.trust.doors"],
            cwd=ROOT,
            env={**os.environ, **inn.env},
            capture_output=True,
            text=True,
            timeout=500,
        )
        assert run.returncode == 0, run.stderr[-3000:]
        assert all(process.poll() is None for process in inn.processes.values())
    finally:
        inn.close()
    said = json.loads(run.stdout.splitlines()[-1])
    figures.add(
        "P18",
        f"Tavern: {said['calls']:,} calls route × method × token and cookie: 0 wrong",
        True,
        matrix=said["calls"],
    )
    figures.add(
        "P19",
        f"Tavern: {said['sockets']:,} knocks at sockets refused before accept; "
        f"guards switched off that nobody noticed: {said['unseen']}",
        not said["unseen"],
        socket_knocks=said["sockets"],
    )
    broken, ends = said["broken"], said["ends"]
    figures.add(
        "P20",
        f"Tavern: {said['fuzzed']:,} fuzzed bodies: {len(broken)} × 5xx, "
        f"{said['statuses']}; {said['frames']} messages: {len(ends)} failures",
        not broken and not ends,
        fuzzed=said["fuzzed"] + said["frames"],
        http_500=len(broken),
    )
    figures.add(
        "P21",
        f"Tavern: {said['paths']:,} path payloads: {len(said['written'])} escapes",
        not said["written"],
        paths=said["paths"],
    )
    assert not (said["unseen"] or broken or ends or said["written"]), said
