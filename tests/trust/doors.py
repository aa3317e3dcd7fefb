"""What strangers do to the Tavern and the Oracle, with figures; each guard can be switched off.

    python -m tests.trust.doors        # the Tavern, in a process of its own

prints one line of JSON. The Tavern is walked in memory, then fuzzed as a server of its own with a
Keeper and an Oracle behind it, whose ports follow $LEVELCAP_PORT_OFFSET.
"""

import json
import random
import struct
from contextlib import contextmanager
from unittest.mock import patch

import httpx
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from levelcap.campaign.realm import open_realm
from levelcap.kit.paths import folder
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door import guard
from levelcap.services.door.tokens import load_tokens
from levelcap.services.process.hosts import get_port, get_service_url
from levelcap.services.tavern import entry
from tests.services.fuzz import ODD, bodies
from tests.services.matrix import walk, walk_sockets
from tests.services.paths import PATHS, in_url
from tests.services.reach import try_paths

FUZZED = 3_000
PAGES = ("/", "/quests", "/vault", "/jobs", "/vault?part=x", "/live", "/static/x")
FRAMES = 300
LIVE = "/live"
BROKEN = 1011  # a socket closed because something failed here
# protection -> its owner, its name, and what stands there when it is switched off
GUARDS = {
    "token": (guard.Guard, "_role", lambda self, scope: "admin"),
    "right": (guard.Right, "allows", lambda self, role: True),
    "host": (guard, "_check_host", lambda scope, hosts: None),
    "origin": (guard, "_check_origin", lambda scope, hosts: None),
    "kind": (guard, "_check_kind", lambda scope, declared: None),
}
NOT_OF_SOCKETS = ("kind",)


@contextmanager
def without(protection):
    """The services with one protection switched off."""
    owner, name, off = GUARDS[protection]
    with patch.object(owner, name, off):
        yield


def unseen(app, tokens, port, cookie=None):
    """Protections whose absence the walks do not see."""
    methods, kinds, found = ("GET", "POST", "DELETE"), ("none", "viewer", "admin"), []
    for protection in GUARDS:
        with without(protection):
            if _passes(walk, app, tokens, port, methods, kinds, cookie=cookie):
                found.append(protection)
            if protection not in NOT_OF_SOCKETS and _passes(
                walk_sockets, app, tokens, port, cookie=cookie
            ):
                found.append(f"{protection} of sockets")
    return found


def _passes(walks, *given, **named):
    try:
        walks(*given, **named)
    except AssertionError:
        return False
    return True


def fuzz(client, requests, end=lambda match_id: None):
    """Sends (method, url, headers, content); returns statuses with counts, and every 5xx.

    end: breaks a match off that one of them has started, so that four are never reached.
    """
    statuses, broken = {}, []
    for method, url, headers, content in requests:
        answer = client.request(method, url, content=content, headers=headers)
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        if answer.status_code == 201 and url.endswith("/matches"):
            end(answer.json()["id"])
        if answer.status_code >= 500:
            broken.append((method, url, headers, content[:200], answer.text[:300]))
    return statuses, broken


def matches(url, seed, count):
    """Matches that almost can be played, as requests."""
    rng = random.Random(seed)
    odd = [*ODD, "person", "master", "../x", "os:system", "champion", "checkpoint-x", "seer-2"]
    good = {
        "world": ["duel", "lms", "siege", "crown"],
        "seats": [["idle"], ["rookie", "person"]],
        "seed": [0, 2**53 - 1],
        "patch": ["1.0", "1.1"],
        "champions": ["base", "random", None],
        "speed": [0.5, 32.0],
        "person": [{}, {"name": "ann", "consent": True}],
    }
    for _ in range(count):
        body = {name: rng.choice(values) for name, values in good.items() if rng.random() < 0.7}
        for name in rng.sample(sorted(good), rng.choice([0, 1, 1, 2])):
            body[name] = rng.choice([rng.choice(odd), [rng.choice(odd)], {"name": rng.choice(odd)}])
        yield "POST", url, {"Content-Type": "application/json"}, json.dumps(body).encode()


def frames(seed, count):
    """Messages nobody should send over a match's socket: bytes as inputs, text as paces."""
    rng = random.Random(seed)
    texts = ["", "{", "[]", "null", '{"speed": NaN}', '{"speed": 1e999}', '{"paused": 1}', "\x00"]
    for _ in range(count):
        kind = rng.randrange(4)
        if kind == 0:
            yield rng.choice([*texts, json.dumps({"speed": rng.choice([-1, 10**400, "x", None])})])
        elif kind == 1:
            yield rng.randbytes(rng.choice([0, 1, 23, 24, 25, 4000]))
        else:
            floats = [rng.choice([0.0, 1.0, -1.0, 2.0, float("nan"), float("inf")]) for _ in "mmaa"]
            head = (1, rng.randrange(64), rng.randrange(64), 0, rng.randrange(2**32))
            yield struct.pack("<BBBBIffff", *head, *floats)


def hostile_ids(client, calls):
    """Every spelling of a path as an id in a body; calls: (method, url, body of an id)."""
    tried = 0
    for method, url, body in calls:
        for payload in PATHS:
            answer = client.request(method, url, json=body(payload))
            assert 400 <= answer.status_code < 500, (url, payload, answer.status_code)
            tried += 1
    return tried


def _broken_sockets(url, cookie, messages):
    """Sends each message, coming in again when it was shown out; returns the unexplained ends."""
    headers, found, socket = {"Cookie": cookie}, [], None
    for message in messages:
        if socket is None:
            socket = connect(url, additional_headers=headers, proxy=None)
        try:
            socket.send(message)
            socket.recv(timeout=0.02)
        except TimeoutError:
            continue
        except ConnectionClosed as closed:
            if closed.rcvd is None or closed.rcvd.code == BROKEN:
                found.append((message[:60], str(closed)))
            socket = None
    if socket is not None:
        socket.close()
    return found


def _bystander_lives(url, cookie):
    """Whether an open page's socket goes on while another one sends rubbish and is shown out."""
    with connect(url, additional_headers={"Cookie": cookie}, proxy=None) as bystander:
        hello = bystander.recv(timeout=10)
        _broken_sockets(url, cookie, map(repr, frames(6, FRAMES // 3)))
        return "hero" in json.loads(hello) and bystander.recv(timeout=10) is not None


def _page_requests(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        path = rng.choice(PAGES) + rng.choice(["", "", "?x=%00", "?client_id=" + "9" * 400])
        if rng.random() < 0.3:
            path = "/" + in_url(rng.choice(PATHS[1:]))
        headers = {"Content-Type": rng.choice(["application/json", "text/plain"])}
        yield rng.choice(["GET", "GET", "POST", "PUT", "DELETE"]), path, headers, rng.randbytes(9)


def tavern_figures():
    """Everything about the Tavern."""
    from levelcap.services.tavern.app import build
    from levelcap.services.tavern.arena import OracleClient

    port, tokens = get_port("tavern"), load_tokens()
    cookie = f"{entry.cookie_name()}={entry.enter(entry.make_code())}"
    realm, oracle = open_realm(), OracleClient.local(tokens)
    app = build(realm, tokens, KeeperClient.local(), port)
    calls = walk(app, tokens, port, cookie=cookie)
    sockets = walk_sockets(app, tokens, port, cookie=cookie)
    missed = unseen(app, tokens, port, cookie)
    before = _files()
    with httpx.Client(
        base_url=get_service_url("tavern"), headers={"cookie": cookie}, timeout=30
    ) as client:
        asked = [
            *bodies(app, 3, FUZZED),
            *matches("/arena/api/matches", 4, FUZZED // 5),
            *_page_requests(5, FUZZED // 10),
        ]
        statuses, broken = fuzz(client, asked, lambda one: oracle.call("DELETE", f"/matches/{one}"))
        paths = try_paths(app, client)
        quest = {"quest": "imitate", "policies": ["person-x"]}
        paths += hostile_ids(
            client,
            [
                ("POST", "/arena/api/matches", lambda text: {"seats": [text]}),
                ("POST", "/arena/api/quests", lambda text: {"match": text, "recipe": quest}),
                (
                    "POST",
                    "/arena/api/quests",
                    lambda text: {"match": "live-x", "recipe": quest | {"shards": [text]}},
                ),
            ],
        )
        made = client.post("/arena/api/matches", json={"seats": ["person", "idle"]}).json()
        url = get_service_url("tavern").replace("http", "ws", 1)
        ends = _broken_sockets(f"{url}/arena/ws/{made['id']}", cookie, frames(5, FRAMES))
        assert _bystander_lives(url + LIVE, cookie)
    oracle.close()
    realm.close()
    return {
        "calls": calls,
        "sockets": sockets,
        "unseen": missed,
        "fuzzed": len(asked),
        "statuses": statuses,
        "broken": [repr(one) for one in broken],
        "paths": paths,
        "frames": FRAMES + FRAMES // 3,
        "ends": [repr(one) for one in ends],
        "written": sorted(set(_files()) ^ set(before)),
    }


def _files():
    """Files of the realm that requests might change: not the database, queue or replays."""
    kept = ("state", "replays", "inbox", "logs")
    home = folder("state").parent
    return [str(p) for p in home.rglob("*") if p.relative_to(home).parts[0] not in kept]


if __name__ == "__main__":
    print(json.dumps(tavern_figures()))
