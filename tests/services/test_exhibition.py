"""The exhibition: on while somebody looks, of the hero as soon as there is one, in nobody's way."""

import json

import pytest
from starlette.websockets import WebSocketDisconnect

from levelcap.campaign.story import matches, runs
from levelcap.campaign.story.events import list_events
from levelcap.kit.db import reading, transaction
from levelcap.kit.files import write_json
from levelcap.kit.paths import folder
from levelcap.learn.league.config import LeagueConfig
from levelcap.learn.league.players import Player
from levelcap.learn.league.state import League
from levelcap.play.show import frames
from levelcap.services.door.tokens import load_tokens
from levelcap.services.oracle import endings, replays
from levelcap.services.oracle.app import build
from levelcap.services.oracle.exhibition import BOTS_ONLY, find_hero, find_rivals
from levelcap.trials.verdict import Override
from levelcap.vault.champion import promote
from tests.services.callers import caller
from tests.services.oracles import net_in_vault, text_in_vault
from tests.services.realms import until

PORT = 8765
RULED = Override("for a test", "test")


@pytest.fixture
def client(realm):
    with caller(build(realm.engine, load_tokens(), PORT), PORT) as opened:
        yield opened


def attend(client, **body):
    answer = client.post("/exhibition", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def watch(client, match_id):
    return client.websocket_connect(f"ws://localhost:{PORT}/matches/{match_id}")


def live(client, match_id):
    return next((m for m in client.get("/matches").json()["live"] if m["id"] == match_id), None)


def test_bots_show_the_game_until_there_is_a_hero_and_say_so(client, realm):
    first = attend(client)
    assert (first["hero"], first["show"]) == (None, BOTS_ONLY)
    assert first["seats"] == ["master", "veteran"]
    assert attend(client, hero="kestrel")["id"] == first["id"]  # everybody sees the same
    text_in_vault(realm.engine, 3)
    assert attend(client, hero="dio-tiny")["id"] == first["id"]  # a text hero plays no match
    net_in_vault(realm.engine, 1)
    then = attend(client, hero="kestrel")
    assert then["id"] != first["id"] and then["hero"] == "kestrel"
    assert then["show"] == "The newest checkpoint against master, the strongest bot"
    assert then["seats"] == ["kestrel 1", "master"]
    until(lambda: live(client, first["id"]) is None, 10, "the bots have left")


def test_it_stands_still_while_nobody_looks_takes_no_pace_and_no_place_of_others(client):
    show = attend(client)
    ids = [client.post("/matches", json={"seats": ["idle"]}).json()["id"] for _ in range(4)]
    assert client.post("/matches", json={"seats": ["idle"]}).status_code == 503
    with watch(client, show["id"]) as socket:
        header = json.loads(socket.receive_bytes()[1:])
        assert header["show"] == BOTS_ONLY and header["you"] is None
        socket.send_text('{"speed": 32, "paused": true}')
        until(lambda: live(client, show["id"])["seconds"] > 0.5, 10, "it goes on")
        assert live(client, show["id"])["speed"] == 1.0
    until(lambda: live(client, show["id"])["watched"] == 0, 10, "nobody looks")
    stood = live(client, show["id"])["seconds"]
    with pytest.raises(AssertionError):
        until(lambda: live(client, show["id"])["seconds"] > stood + 0.15, 0.6, "it moves")
    for match_id in ids:
        client.delete(f"/matches/{match_id}")


def test_what_remains_of_it_is_a_replay_and_no_news(client, realm, monkeypatch):
    monkeypatch.setitem(endings.KEPT, "show", 1)
    for end in ("lcr", "gif"):
        (folder("replays") / f"show-20260101-000000-0000.{end}").write_bytes(b"an old one")
    show = attend(client)
    with watch(client, show["id"]) as socket:
        until(lambda: live(client, show["id"])["seconds"] > 1.0, 20, "a second was played")
        client.delete(f"/matches/{show['id']}")
        notes = notes_of(socket)
    assert notes["saved"]["replay"] == show["id"]
    assert [path.name for path in folder("replays").iterdir()] == [f"{show['id']}.lcr"]
    with reading(realm.engine) as connection:
        assert matches.list_matches(connection) == []
        assert list_events(connection, kind="league.match_played") == []


def notes_of(socket):
    notes = {}
    try:
        while True:
            message = socket.receive_bytes()
            if message[0] == frames.KIND_NOTE:
                note = json.loads(message[1:])
                notes[note["type"]] = note
    except WebSocketDisconnect:
        return notes


def test_the_champion_meets_its_predecessor_whom_it_trains_against_and_the_league(client, realm):
    old, _ = net_in_vault(realm.engine, 1)
    new, place = net_in_vault(realm.engine, 2)
    promote(realm.engine, old.id, RULED)
    promote(realm.engine, new.id, RULED)
    run_of(realm, "reinforce-1", "reinforce", {"config": {"opponents": ["rookie", "os:system"]}})
    season = runs.run_folder("league-1")
    run_of(realm, "league-1", "league_round", None, ended=True)
    league = League(season, "duel", LeagueConfig())
    league.put(Player("main_exploiter:1", "main_exploiter", str(place), new.sha256))
    league.save()
    hero = find_hero(realm.engine, "kestrel")
    assert (hero.entry.id, hero.words) == (new.id, "The champion")
    words = [rival.words for rival in find_rivals(realm.engine, hero)]
    assert words == [
        "its predecessor",
        "rookie, whom it trains against",
        "main_exploiter:1 of the league",
        "master, the strongest bot",
    ]
    seen = []
    for _ in words:
        show = attend(client, hero="kestrel")
        seen.append((show["show"].split(" against ")[1], show["seats"][1]))
        client.delete(f"/matches/{show['id']}")
    names = ["kestrel 1", "rookie", "main_exploiter:1", "master"]
    assert seen == list(zip(words, names, strict=True))


def run_of(realm, name, kind, config, ended=False):
    place = runs.run_folder(name)
    place.mkdir(parents=True)
    if config is not None:
        write_json(place / "config.json", config)
    with transaction(realm.engine) as connection:
        runs.begin(connection, runs.NewRun(name, kind, 0, "", world="duel"), None, 0)
        if ended:
            cost = {"seconds": 1.0, "core_seconds": 1.0, "steps": 1, "updates": 1}
            runs.finish(connection, name, cost)


def test_a_rival_that_cannot_play_is_left_out_the_next_time(client, realm):
    old, place = net_in_vault(realm.engine, 1)
    new, _ = net_in_vault(realm.engine, 2)
    promote(realm.engine, old.id, RULED)
    promote(realm.engine, new.id, RULED)
    (place / "model.safetensors").write_bytes(b"damaged")
    assert client.post("/exhibition", json={}).status_code == 409
    assert attend(client)["show"].endswith("master, the strongest bot")


def test_one_film_is_drawn_at_a_time_and_nobody_waits_in_line(client):
    """Who waited would keep a thread that answers others."""
    (folder("replays") / "live-1.lcr").write_bytes(b"no replay at all")
    with replays._FILMING:
        assert client.get("/replays/live-1/film").status_code == 503
    broken = client.get("/replays/live-1/film")
    assert broken.status_code == 409 and "could not be drawn" in broken.json()["message"]
    assert client.delete("/replays/live-1").json() == {"deleted": "live-1"}
    assert client.delete("/replays/live-1").status_code == 404
