"""The Tavern between browsers and the Oracle: one socket a match, fanned out, everything read."""

import json

import pytest
from starlette.websockets import WebSocketDisconnect

from levelcap.play.live.person import LAYOUT, Input
from levelcap.play.show import frames
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.http import make_app
from levelcap.services.door.rights import check_rights
from levelcap.services.door.tokens import load_tokens
from levelcap.services.tavern import arena
from tests.services.callers import caller
from tests.services.matrix import walk
from tests.services.oracles import oracle
from tests.services.reach import try_paths
from tests.services.realms import free_ports, until

PORT = 8888
NOWHERE = "http://127.0.0.1:9"


def tavern(oracle_url, role="admin"):
    """The arena's routes behind the guard, and a client with a token."""
    tokens = load_tokens()
    app = make_app("tavern", tokens=tokens, port=PORT)
    client = arena.OracleClient(oracle_url, tokens.worker)
    app.include_router(arena.routes(client, KeeperClient(NOWHERE, tokens.admin), tokens))
    return app, caller(app, PORT, role)


def watch(client, match_id):
    return client.websocket_connect(f"ws://localhost:{PORT}/arena/ws/{match_id}")


def header_of(socket):
    message = socket.receive_bytes()
    assert message[0] == frames.KIND_HEADER
    return json.loads(message[1:])


def closed_with(socket):
    try:
        while True:
            socket.receive_bytes()
    except WebSocketDisconnect as closed:
        return closed.code, closed.reason


def test_the_routes_of_the_arena_are_guarded_and_take_no_paths():
    app, client = tavern(NOWHERE)
    check_rights(app)
    methods, kinds = ("GET", "POST", "BREW"), ("none", "viewer", "worker", "admin")
    assert walk(app, load_tokens(), PORT, methods, kinds) > 600
    with client:
        assert try_paths(app, client, stride=9) > 8


@pytest.mark.parametrize("role", ["viewer", "worker"])
def test_a_socket_needs_the_highest_right(role):
    _, client = tavern(NOWHERE, role)
    with client, pytest.raises(WebSocketDisconnect), watch(client, "live-x"):
        pass


def test_an_oracle_that_is_away_is_said_to_be_away():
    [port] = free_ports(1)
    _, client = tavern(f"http://127.0.0.1:{port}")
    with client:
        assert client.get("/arena/api/choices").status_code == 409
        assert client.get("/arena/api/replays/live-x").status_code == 409
        assert client.get("/arena/replays/live-x.gif").status_code == 409
        # Pages ask for the exhibition time and again: no error of theirs.
        show = client.post("/arena/api/exhibition", json={})
        assert (show.status_code, show.json()["id"]) == (200, None)
        assert "The Oracle sleeps" in show.json()["show"]
        with watch(client, "live-x") as socket:
            assert closed_with(socket) == (1013, "The Oracle does not answer")


def test_one_match_for_many_browsers_and_only_the_first_has_the_hands():
    with oracle() as (direct, _):
        _, client = tavern(direct.url)
        with client:
            said = client.post("/arena/api/matches", json={"seats": ["person", "idle"]})
            assert said.status_code == 201
            match = said.json()["id"]
            with watch(client, match) as first:
                assert header_of(first)["you"] == 0
                with watch(client, match) as second, watch(client, match) as third:
                    assert header_of(second)["you"] is None and header_of(third)["you"] is None
                    # However many watch, the Oracle serves one socket.
                    assert direct.call("GET", "/matches")["live"][0]["watched"] == 1
                    good = Input(1, 0, 0, 1.0, 0.0, 0.0, 0.0).pack()
                    second.send_bytes(good)
                    code, reason = closed_with(second)
                    assert code == 1007 and "another browser" in reason
                    third.send_text('{"speed": "fast"}')
                    assert closed_with(third)[0] == 1007
                first.send_bytes(good)
                until(lambda: _ack(first.receive_bytes()) == 1, 20, "the input was taken in")
                first.send_bytes(LAYOUT.pack(1, 0, 0, 0, 2, float("nan"), 0, 0, 0))
                assert closed_with(first)[0] == 1007
            with watch(client, match) as later:
                assert header_of(later)["you"] == 0  # whoever comes next takes over
            assert direct.call("DELETE", f"/matches/{match}") == {"ended": match}
            with watch(client, "live-none") as nobody:
                code, reason = closed_with(nobody)
                assert code == 4404 and "live-none" in reason
            assert client.get("/arena/api/replays/live-none").status_code == 404
            refused = client.post("/arena/api/matches", json={"seats": ["os:system"]})
            assert refused.status_code == 400 and "code by name" in refused.json()["message"]
            wrong = {"match": match, "recipe": {"quest": "reinforce"}}
            assert client.post("/arena/api/quests", json=wrong).status_code == 400


def _ack(message):
    kind = message[0] == frames.KIND_STATE
    return int.from_bytes(message[8:12], "little") if kind else None
