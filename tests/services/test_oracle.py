"""The Oracle: guarded routes, decisions bit for bit, a bounded shelf, live matches over sockets."""

import gc
import json
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from levelcap.campaign.story import matches
from levelcap.campaign.story.events import list_events
from levelcap.campaign.work.recipes import read_recipe
from levelcap.coach.orders import ORDERS
from levelcap.kit.db import reading
from levelcap.kit.paths import folder
from levelcap.lake.read import open_shards
from levelcap.play.live.person import FIRE, LAYOUT, Input
from levelcap.play.load import load_checkpoint
from levelcap.play.orders import save_orders
from levelcap.play.roster import find
from levelcap.play.show import frames
from levelcap.services.door.rights import check_rights, routes_of
from levelcap.services.door.tokens import load_tokens
from levelcap.services.oracle.app import build, keep_collections_short
from levelcap.trials.verdict import Override
from levelcap.vault.champion import promote
from levelcap.world import make
from levelcap.world.actions import to_mouse
from levelcap.world.replay import load as load_replay
from levelcap.world.spec import FLAT_VIEWS
from tests.play.messages import minds_of, unstack
from tests.services.callers import caller
from tests.services.matrix import walk
from tests.services.oracles import net_in_vault, oracle
from tests.services.reach import try_paths
from tests.services.realms import until

PORT = 8765


@pytest.fixture
def app(realm):
    return build(realm.engine, load_tokens(), PORT, capacity=2)


@pytest.fixture
def client(app):
    with caller(app, PORT) as opened:
        yield opened


def rows_of(count, seed=3):
    """Views of the first seats of `count` matches, and the same rows as JSON."""
    world = make("duel", count, views=FLAT_VIEWS, seed=seed)
    views = {name: array[:, 0] for name, array in world.reset().items()}
    names = (*FLAT_VIEWS, "mask")
    rows = [
        {n: views[n][i].ravel().tolist() for n in names} | {"key": int(views["key"][i])}
        for i in range(count)
    ]
    return world, views, rows


def watch(client, match_id):
    return client.websocket_connect(f"ws://localhost:{PORT}/matches/{match_id}")


def notes_until_the_end(socket):
    """Reads to the end; the notes by type, and how many states came."""
    notes, states = {}, 0
    try:
        while True:
            message = socket.receive_bytes()
            if message[0] == frames.KIND_STATE:
                states += 1
            elif message[0] == frames.KIND_NOTE:
                note = json.loads(message[1:])
                notes[note["type"]] = note
    except WebSocketDisconnect as closed:
        assert closed.code == 1000
    return notes, states


def run_at_the_enemy(socket):
    """Plays seat 1 of a duel to its end, unarmed; returns the notes by type."""
    notes, number = {}, 0
    try:
        while True:
            message = socket.receive_bytes()
            if message[0] == frames.KIND_NOTE:
                note = json.loads(message[1:])
                notes[note["type"]] = note
            elif message[0] == frames.KIND_STATE:
                number += 1
                players = np.frombuffer(message, frames.PLAYER, 2, frames.HEAD.itemsize)
                way = np.array([-np.diff(players["x"])[0], -np.diff(players["y"])[0]])
                move = (way / max(1.0, float(np.abs(way).max()))).tolist()
                socket.send_bytes(Input(number, 0, 0, *move, 0.0, 0.0).pack())
    except WebSocketDisconnect:
        return notes


def start(client, **body):
    answer = client.post("/matches", json={"speed": 32.0, "seed": 4, **body})
    assert answer.status_code == 201, answer.text
    return answer.json()


def closed_with(socket):
    """Code and reason with which the other side closes."""
    try:
        while True:
            socket.receive_bytes()
    except WebSocketDisconnect as closed:
        return closed.code, closed.reason


def test_every_route_declares_its_right_and_is_described(app):
    check_rights(app)
    described = app.openapi()["paths"]
    for route in routes_of(app):
        if route.methods and route.path != "/openapi.json":
            assert route.path in described
    for path, methods in described.items():
        for method, entry in methods.items():
            assert entry.get("description"), f"{method} {path} has no description"


def test_nobody_gets_in_without_the_right_token_host_and_origin(app):
    methods, kinds = ("GET", "POST", "DELETE", "BREW"), ("none", "viewer", "worker", "admin")
    assert walk(app, load_tokens(), PORT, methods, kinds) > 1_500


def test_no_path_in_place_of_an_id_reaches_a_file(app, client):
    assert try_paths(app, client, stride=9) > 40


@pytest.mark.parametrize("role", ["none", "viewer"])
def test_a_socket_needs_the_token_of_a_worker(app, role):
    headers = {} if role == "none" else {"Authorization": f"Bearer {load_tokens().viewer}"}
    with TestClient(app, base_url=f"http://localhost:{PORT}", headers=headers) as stranger:
        with pytest.raises(WebSocketDisconnect):
            with watch(stranger, "live-x"):
                pass


def test_decisions_are_those_of_the_policy_bit_for_bit(client, realm):
    # In a thread, as a request is: torch.set_num_threads of an earlier test reaches only its own,
    # and another number of threads adds in another order.
    aside = ThreadPoolExecutor(1)
    entry, place = net_in_vault(realm.engine, 1, size="slim")
    promote(realm.engine, entry.id, Override("test", "test"))
    world, views, rows = rows_of(5)
    for greedy in (False, True):
        policy = load_checkpoint(place, greedy)
        policy.bind(world)
        decision = aside.submit(policy.act, views, None).result()
        for name in (entry.id, "champion", entry.canonical_name):
            body = {"checkpoint": name, "world": "duel", "rows": rows, "greedy": greedy}
            said = client.post("/act", json=body).json()
            assert said["checkpoint"] == entry.id
            assert np.array_equal(said["actions"], decision.actions)
            assert np.array_equal(np.array(said["log_probs"], np.float32), decision.log_probs)
            assert np.array_equal(np.array(said["values"], np.float32), decision.values)


def test_requests_that_make_no_sense_are_told_what_is_wrong(client, realm):
    entry, _ = net_in_vault(realm.engine, 1)
    _, _, [row] = rows_of(1)
    good = {"checkpoint": entry.id, "rows": [row]}
    assert client.post("/act", json=good).status_code == 200
    bad = [
        {**good, "rows": []},
        {**good, "rows": [row] * 257},
        {**good, "rows": [[1]]},
        {**good, "rows": [{**row, "player": [1.0]}]},
        {**good, "rows": [{**row, "player": "x"}]},
        {**good, "rows": [{**row, "player": [[1], [2, 3]]}]},
        {**good, "rows": [{**row, "player": [1e300] * 16}]},
        {**good, "rows": [{**row, "player": [10**400] * 16}]},
        {**good, "rows": [{**row, "key": -1}]},
        {**good, "rows": [{**row, "key": 2**64}]},
        {**good, "rows": [{**row, "key": 1.5}]},
        {**good, "greedy": 1},
        {**good, "checkpoint": 7},
        {**good, "checkpoint": ""},
        [],
        "x",
    ]
    for body in bad:
        assert client.post("/act", json=body).status_code == 400, body
    missing = [
        {**good, "checkpoint": "checkpoint-none"},
        {**good, "world": "chess"},
        {**good, "rows": [{**row, "frame": [1]}]},
        {**good, "colour": "red"},
    ]
    for body in missing:
        assert client.post("/act", json=body).status_code == 404, body
    assert (
        client.post("/act", content=b"", headers={"content-type": "application/json"}).status_code
        == 400
    )


def test_the_shelf_is_bounded_and_forgets_what_was_used_least(client, realm):
    ids = [net_in_vault(realm.engine, n)[0].id for n in (1, 2, 3)]
    for name in (ids[0], ids[1], ids[0], ids[2]):
        assert client.post("/models/load", json={"checkpoint": name}).status_code == 200
    models = client.get("/models").json()
    assert [one["id"] for one in models["loaded"]] == [ids[0], ids[2]]
    assert {row["id"] for row in models["known"]} == set(ids) and models["champion"] is None


def test_a_damaged_checkpoint_is_refused_and_others_go_on(client, realm):
    (bad, place), (good, _) = (net_in_vault(realm.engine, n) for n in (1, 2))
    weights = place / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    refused = client.post("/models/load", json={"checkpoint": bad.id})
    assert refused.status_code == 409 and refused.json()["error"] == "corrupt"
    assert client.post("/matches", json={"seats": [bad.id, "idle"]}).status_code == 409
    assert client.post("/models/load", json={"checkpoint": good.id}).status_code == 200


def test_a_match_of_bots_runs_to_its_end_and_its_replay_verifies(client, realm):
    match = start(client, seats=["master", "rookie"])
    with watch(client, match["id"]) as socket:
        header = json.loads(socket.receive_bytes()[1:])
        assert [seat["name"] for seat in header["seats"]] == ["master", "rookie"]
        notes, states = notes_until_the_end(socket)
    assert states > 3 and notes["saved"]["replay"] == match["id"]
    replay = load_replay(folder("replays") / f"{match['id']}.lcr")
    assert replay.check() == replay.header["decisions"]
    assert replay.header["result"]["winner"] == notes["result"]["winner"]
    with reading(realm.engine) as connection:
        [event] = list_events(connection, kind="league.match_played")
        [played] = matches.list_matches(connection)
    assert event.data["winner"] == notes["result"]["winner"] and event.data["human"] is False
    assert (played.id, played.a, played.b) == (match["id"], "master", "rookie")
    hashes = [find(name).content_hash for name in ("master", "rookie")]
    assert [played.a_sha256, played.b_sha256] == hashes
    assert (played.winner, played.seed) == (event.data["winner"], replay.header["match_seed"])
    [listed] = client.get("/replays").json()["replays"]
    assert listed["id"] == match["id"] and listed["ended"] is True
    messages = list(unstack(client.get(f"/replays/{match['id']}").content))
    assert json.loads(messages[0][1:])["live"] is False
    assert json.loads(messages[-1][1:])["winner"] == notes["result"]["winner"]


def test_a_net_at_the_table_shows_what_it_thinks(client, realm):
    entry, _ = net_in_vault(realm.engine, 1)
    match = start(client, seats=["rookie", entry.id])
    with watch(client, match["id"]) as socket:
        notes, _ = notes_until_the_end(socket)
    mind = load_replay(folder("replays") / f"{notes['saved']['replay']}.lcr").mind["value"]
    assert np.isnan(mind[:, 0]).all() and np.isfinite(mind[:, 1]).all()


def test_a_match_at_sixty_ticks_and_a_net_asked_at_every_tick(realm, client):
    match = start(client, world="duel-60hz", seats=["master", "idle"])
    with watch(client, match["id"]) as socket:
        header = json.loads(socket.receive_bytes()[1:])
        notes, _ = notes_until_the_end(socket)
    assert (header["ticks_per_s"], header["decision_ticks"]) == (60, 6)
    assert load_replay(folder("replays") / f"{match['id']}.lcr").header["tick_hz"] == 60
    entry, _ = net_in_vault(realm.engine, 1)
    refused = client.post("/matches", json={"world": "duel-60hz", "seats": ["idle", entry.id]})
    assert refused.status_code == 400 and "ticks a second" in refused.text
    for every_tick, ticks in ((False, 3), (True, 1)):
        match = start(client, seats=["rookie", entry.id], every_tick=every_tick)
        with watch(client, match["id"]) as socket:
            notes, _ = notes_until_the_end(socket)
        head = load_replay(folder("replays") / f"{notes['saved']['replay']}.lcr").header
        assert (head["decision_ticks"], head["seat_ticks"]) == (ticks, [3, ticks])


def test_a_net_plays_with_the_mouse_if_it_has_one(realm, client):
    body = {"world": "duel", "control": "mouse"}
    without, _ = net_in_vault(realm.engine, 1)
    refused = client.post("/matches", json=body | {"seats": ["rookie", without.id]})
    assert refused.status_code == 400 and "no heads for the mouse" in refused.text
    entry, _ = net_in_vault(realm.engine, 2, family="hierarchy", mouse="on")
    match = start(client, seats=["idle", entry.id], control="mouse")
    with watch(client, match["id"]) as socket:
        notes, _ = notes_until_the_end(socket)
    played = load_replay(folder("replays") / f"{notes['saved']['replay']}.lcr").actions[:, 1]
    assert to_mouse(played)[1] == 0 and len(np.unique(played, axis=0)) > 20


def test_a_person_plays_and_with_consent_the_play_is_kept(client, realm):
    match = start(client, seats=["person", "rookie"], person={"name": "ann", "consent": True})
    assert match["you"] == 0 and match["speed"] == 1.0
    with watch(client, match["id"]) as socket:
        for number in range(1, 15):
            sent = Input(number, FIRE, 0, 1.0, 0.0, 0.0, 1.0).pack()
            socket.send_bytes(sent)
            time.sleep(0.1)
        assert client.delete(f"/matches/{match['id']}").status_code == 200
        notes, states = notes_until_the_end(socket)
    # 30 states a second of play, and no result: it was broken off.
    assert states >= 30 and "result" not in notes and notes["saved"]["left"] == "it was ended"
    shard = folder("lake") / "trajectories" / notes["saved"]["shard"]
    shards = open_shards((shard,), world="duel").filtered(policies=("person-ann",))
    assert shards.num_steps >= 10
    [recipe] = notes["saved"]["recipes"]
    assert read_recipe(recipe).policies == ["person-ann"] and recipe["shards"] == [shard.name]
    assert client.get("/matches").json()["people"]["played"] == 0


def test_without_consent_nothing_of_a_person_is_kept_but_the_replay(client):
    match = start(client, seats=["master", "person"], person={"name": "bob"})
    with watch(client, match["id"]) as socket:
        notes = run_at_the_enemy(socket)
    assert notes["saved"]["shard"] is None and notes["saved"]["replay"] == match["id"]
    assert notes["saved"]["outcome"] == -1
    assert client.get("/matches").json()["people"] == {
        "played": 1,
        "won": 0,
        "drawn": 0,
        "lost": 1,
    }
    assert not (folder("lake") / "trajectories").exists()


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"", 1007),
        (bytes(23), 1007),
        (bytes(100_000), 1007),
        ("{", 1007),
        ("[]", 1007),
        ('{"speed": NaN}', 1007),
        ('{"speed": "fast"}', 1007),
        ('{"paused": 1}', 1007),
        ('{"seat": 0, "order": "sing"}', 1007),
        ("x" * 1000, 1007),
        (LAYOUT.pack(1, 0, 0, 0, 1, float("nan"), 0, 0, 0), 1007),
    ],
)
def test_a_hostile_message_closes_its_socket_with_a_reason(client, sent, code):
    match = start(client, seats=["person", "idle"])
    with watch(client, match["id"]) as friend, watch(client, match["id"]) as socket:
        (socket.send_text if isinstance(sent, str) else socket.send_bytes)(sent)
        got, reason = closed_with(socket)
        assert got == code and reason
        friend.receive_bytes(), friend.receive_bytes()  # others still hear the match
        assert client.get("/health").json()["matches"] == 1
    client.delete(f"/matches/{match['id']}")


def test_a_flood_closes_its_socket_and_hurts_nobody(client):
    match = start(client, seats=["person", "idle"])
    with watch(client, match["id"]) as socket:
        message = Input(1, 0, 0, 0.0, 0.0, 0.0, 0.0).pack()
        for _ in range(600):
            socket.send_bytes(message)
        code, reason = closed_with(socket)
    assert code == 1008 and "120" in reason
    assert client.delete(f"/matches/{match['id']}").status_code == 200
    until(lambda: client.get("/health").json()["matches"] == 0, 10, "the match has ended")


def test_inputs_for_a_match_without_a_person_are_refused(client):
    match = start(client, seats=["idle", "idle"], speed=1.0)
    with watch(client, match["id"]) as socket:
        socket.send_bytes(Input(1, 0, 0, 0.0, 0.0, 0.0, 0.0).pack())
        assert closed_with(socket)[0] == 1007


def test_a_match_can_be_paused_and_hurried(client):
    match = start(client, seats=["idle", "idle"], speed=1.0)
    with watch(client, match["id"]) as socket:
        socket.receive_bytes()
        socket.send_text('{"paused": true, "speed": 32}')
        until(lambda: client.get("/matches").json()["live"][0]["paused"], 5, "it is paused")
        time.sleep(0.3)
        shown = client.get("/matches").json()["live"][0]["seconds"]
        time.sleep(0.3)
        assert client.get("/matches").json()["live"][0]["seconds"] == shown
        socket.send_text('{"paused": false}')
        notes, _ = notes_until_the_end(socket)
    assert notes["result"]["seconds"] > shown


def test_a_hero_can_be_ordered_over_http_and_over_the_socket(client, realm):
    entry, place = net_in_vault(realm.engine, 5, family="hierarchy")
    save_orders(place, {"flee": np.ones(64), "fight": -np.ones(64)})
    match = start(client, seats=[entry.id, "idle"], speed=1.0)
    path = f"/matches/{match['id']}/order"
    with watch(client, match["id"]) as socket:
        header = json.loads(socket.receive_bytes()[1:])
        assert header["takes_orders"] == [0] and header["orders"] == list(ORDERS)
        answer = client.post(path, json={"seat": 0, "order": "flee"})
        assert answer.status_code == 200 and answer.json()["order"] == "flee"
        assert shown_order(socket) == "flee"
        socket.send_text('{"seat": 0, "order": "fight"}')
        until(lambda: shown_order(socket) == "fight", 10, "the second order counts")
        # What a hero or a bot cannot do is said, and ends nobody's socket.
        for seat, order in ((0, "loot"), (1, "flee"), (7, "flee")):
            refused = client.post(path, json={"seat": seat, "order": order})
            assert refused.status_code == 400, refused.text
        socket.send_text('{"seat": 1, "order": "flee"}')
        message = b"0"
        while message[0] != frames.KIND_NOTE:
            message = socket.receive_bytes()
        assert "takes no such order" in json.loads(message[1:])["text"]
        socket.send_text('{"seat": 0, "order": null}')
        until(lambda: shown_order(socket) is None, 10, "at ease")
    client.delete(f"/matches/{match['id']}")


def shown_order(socket):
    """What the next mind that comes says it was told."""
    while True:
        message = socket.receive_bytes()
        if message[0] == frames.KIND_STATE and (rows := minds_of(message)).size:
            order = int(rows[0]["order"])
            return list(ORDERS)[order - 1] if order else None


def test_there_are_at_most_four_matches(client):
    ids = [start(client, seats=["idle"])["id"] for _ in range(4)]
    fifth = client.post("/matches", json={"seats": ["idle"]})
    assert fifth.status_code == 503 and fifth.headers["retry-after"]
    for match_id in ids:
        client.delete(f"/matches/{match_id}")
    until(lambda: client.get("/health").json()["matches"] == 0, 10, "all have ended")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"seats": ["master", "rookie", "idle"]}, 400),
        ({"seats": ["person", "person"]}, 400),
        ({"seats": ["nobody", "rookie"]}, 404),
        ({"seats": ["os:system", "rookie"]}, 400),
        ({"seats": ["../x", "rookie"]}, 404),
        ({"seats": ["checkpoint-x", "rookie"]}, 404),
        ({"seats": ["champion", "rookie"]}, 404),
        ({"seats": ["idle"], "world": "chess"}, 404),
        ({"seats": ["person", "idle"], "world": "siege", "person": {"name": "a b"}}, 400),
        ({"seats": ["person", "idle"], "world": "siege"}, 400),
        ({"seats": ["seer-2", "idle"], "world": "siege"}, 400),
        ({"seats": ["idle"], "patch": "9.9"}, 404),
        ({"seats": ["idle"], "champions": "Zed"}, 404),
        ({"seats": ["idle"], "champions": ["Warden"]}, 400),
        ({"seats": ["idle"], "speed": 99}, 400),
        ({"seats": ["idle"], "seed": -1}, 400),
        ({"seats": ["idle"], "colour": 1}, 400),
    ],
)
def test_matches_that_cannot_be_played_are_refused(client, body, status):
    answer = client.post("/matches", json=body)
    assert answer.status_code == status, answer.text
    assert client.get("/health").json()["matches"] == 0


def test_choices_name_everything_a_match_can_be_made_of(client):
    said = client.get("/choices").json()
    assert said["worlds"]["siege"] == {"players": 10, "teams": 2}
    assert "master" in said["bots"] and "Lancer" in said["patches"]["1.1"]


def test_the_oracle_as_a_process_answers_and_leaves(home):
    with oracle() as (client, _):
        assert client.call("GET", "/health")["matches"] == 0
        assert client.call("GET", "/models")["loaded"] == []


def test_what_was_there_before_the_first_match_is_not_collected_again():
    """A collection of everything in memory is as long as many ticks: all of them would be late."""
    crowd = [[number] for number in range(200_000)]
    before = gc.get_threshold()

    def collection_s():
        began = time.thread_time()
        gc.collect()
        return time.thread_time() - began

    usual = collection_s()
    try:
        keep_collections_short()
        assert collection_s() < usual / 2 and gc.get_threshold()[2] > 100 * before[2]
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
    assert len(crowd) == 200_000
