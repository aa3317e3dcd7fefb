"""Pages of the Tavern without a browser: every part is drawn, text is text, orders say why not."""

import json

from levelcap.campaign.story.events import say
from levelcap.kit.db import transaction
from levelcap.kit.paths import folder
from levelcap.services.tavern import lore
from levelcap.services.tavern.pages.jobs import JobsAsked
from levelcap.services.tavern.pages.vault import VaultAsked
from levelcap.services.tavern.view import TEMPLATES
from levelcap.vault.evals import TRIAL, store_eval
from tests.services.conftest import HOSTILE, PORT
from tests.vault.made import entered


def parts_of(name):
    text = (TEMPLATES / f"{name}.html").read_text()
    return [word.split('"')[0] for word in text.split('data-part="')[1:]]


def test_every_page_and_every_part_of_it_is_drawn(client):
    for place in lore.PLACES:
        page = client.get(place.path)
        assert page.status_code == 200 and page.text.startswith("<!doctype html>"), place
        assert HOSTILE not in page.text and "<img" not in page.text, place
        for part in parts_of(place.name_of_files):
            text = client.get(place.path, params={"part": part}).text
            assert f'data-part="{part}"' in text.strip().splitlines()[0], text[:200]
            assert "<!doctype" not in text


def test_text_of_people_is_shown_as_text(client):
    for path in ("/quests", "/settings"):
        assert "&lt;img src=x onerror=alert(1)&gt;&#39;&#34;&amp;" in client.get(path).text, path


def test_an_address_that_makes_no_sense_says_so(client):
    for address, status, words in (
        ("/vault?part=ledgr", 404, "did you mean 'ledger'"),
        ("/vault?sort=beauty", 400, "sort"),
        ("/vault?page=-1", 400, "page"),
        ("/vault?colour=red", 400, "colour"),
        ("/jobs?job=job-nowhere", 404, "job-nowhere"),
        ("/jobs?cursors=x", 404, "x"),
    ):
        answer = client.get(address)
        assert answer.status_code == status, address
        assert words in answer.json()["message"].lower(), address
        page = client.get(address, headers={"accept": "text/html"})
        assert page.status_code == status and page.text.startswith("<!doctype html>"), address


def test_an_order_that_fails_is_answered_in_words(client):
    for path, body in (
        ("/steer", {"values": {"action": "pause"}}),
        ("/vault/verify", {"id": "checkpoint-1"}),
        ("/quests/add", {"values": {"name": "a.yaml", "text": "quest: record"}}),
    ):
        answer = client.post(path, json=body)
        assert answer.status_code == 200 and "is not reachable" in answer.json()["refused"], path
    said = client.post("/settings/override", json={"id": "x", "values": {"name": " "}}).json()
    assert "a setting needs a name" in said["refused"]
    assert client.post("/settings/save", json={}).json()["said"] == "Nothing was changed"
    assert client.post("/vault/pin", json={"id": "../x"}).status_code == 400


def test_a_tab_hears_what_happened_and_gets_the_header(client, realm):
    with client.websocket_connect(f"ws://localhost:{PORT}/live") as socket:
        first = json.loads(socket.receive_bytes())
        assert first["hero"] == "kestrel" and 'id="top"' in first["header"]
        with transaction(realm.engine) as connection:
            say(connection, "data.rejected", "a file was wrong", severity="warning")
        while not (told := json.loads(socket.receive_bytes()))["news"]:
            assert told["header"] is None or told["kinds"]
        assert "data.rejected" in told["kinds"]
        assert told["news"][0]["text"] == "a file was wrong"
        socket.send_text("hello")
        while (last := socket.receive())["type"] == "websocket.send":
            pass
        assert "nothing is said on this socket" in last["reason"]


def test_a_breach_in_a_verdict_leads_to_its_moment_in_the_arena(client, realm):
    seen = {"value": 31.5, "match": 3, "seed": 7, "seat": 1, "tick": 450, "replay": "idle_s-7"}
    lost = seen | {"seat": 0, "replay": "idle_s-8"}
    rule = {"share": [0.25, 0.2, 0.3], "examples": [seen, lost], "passed": False, "refuses": True}
    parts = {
        "screen": {"games": 96},
        "safety": {
            "passed": False,
            "why": "idle_s: .25 > .01",
            "rules": {"idle_s": rule, "friendly_fire": {"vacuous": "none", "passed": True}},
        },
    }
    said = {"passed": False, "reason": "not safe", "champion": "checkpoint-2", "parts": parts}
    (folder("replays") / "idle_s-7.lcr").write_bytes(b"")
    made = entered(realm, 1).id
    with transaction(realm.engine) as connection:
        store_eval(connection, made, TRIAL, "job-1", 0, said)
    page = client.get(f"/vault/{made}").text
    assert "not safe" in page and "idle_s: .25 &gt; .01" in page and "25.0 % of the matches" in page
    assert 'href="/arena?replay=idle_s-7&amp;tick=450"' in page and "idle_s-8" not in page
    assert "seat 0 at tick 450: 31.5 <span" in page
    assert f'data-go="/vault/{made}"' in client.get("/vault").text
    assert client.get("/arena?replay=idle_s-7&tick=450").status_code == 200


def test_what_a_page_shows_stands_in_its_address():
    asked = VaultAsked(sort="elo", chosen="one,two")
    assert asked.sorted_by("elo") == "/vault?sort=elo&ascending=True&chosen=one%2Ctwo"
    assert asked.sorted_by("step") == "/vault?sort=step&chosen=one%2Ctwo"
    assert asked.choosing("one") == "/vault?sort=elo&chosen=two"
    assert VaultAsked(chosen="1,2,3,4,5").choosing("6") == "/vault?chosen=2%2C3%2C4%2C5%2C6"
    assert VaultAsked(id="one").to(page=2) == "/vault/one?page=2"
    assert JobsAsked(cursors="a,b").past == ["a", "b"]
