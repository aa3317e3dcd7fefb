"""`levelcap match`: what the arena's buttons do, against a real Oracle."""

import json
import re
import time

import pytest
from websockets.sync.client import connect

from levelcap.campaign.realm import realm
from levelcap.campaign.story import quests
from levelcap.campaign.wheel import flywheel
from levelcap.kit.db import reading
from levelcap.play.live.person import FIRE, Input
from levelcap.services.clients.keeper import Client
from levelcap.services.door.tokens import load_tokens
from levelcap.services.process.hosts import get_service_url
from tests.browser.inn import Inn
from tests.cli.calling import levelcap


@pytest.fixture
def oracle(home, monkeypatch):
    inn = Inn(home)
    monkeypatch.setenv("LEVELCAP_PORT_OFFSET", inn.env["LEVELCAP_PORT_OFFSET"])
    try:
        inn.start("oracle")
        inn.wait(8765, "oracle")
        with Client(get_service_url("oracle"), load_tokens().worker) as client:
            yield client
    finally:
        inn.close()


def play_a_little(oracle, name):
    """A match of a person who fires upwards for a second and a half, recorded; returns its id."""
    person = {"name": name, "consent": True}
    made = oracle.call("POST", "/matches", {"seats": ["person", "idle"], "person": person})
    url = f"{oracle.url.replace('http', 'ws')}/matches/{made['id']}"
    with connect(url, additional_headers=oracle.headers, proxy=None) as socket:
        for number in range(1, 16):
            socket.send(Input(number, FIRE, 0, 0.0, 1.0, 0.0, 1.0).pack())
            time.sleep(0.1)
        oracle.call("DELETE", f"/matches/{made['id']}")
        for _ in socket:
            pass
    return made["id"]


def test_matches_are_started_listed_ended_and_made_into_quests(oracle, capsys):
    code, said, _ = levelcap(
        capsys, "match", "start", "master", "rookie", "--speed", "32", "--seed", "4", "--wait"
    )
    assert code == 0 and "/arena?match=live-" in said
    ended = json.loads(said.splitlines()[-1])
    assert ended["winner"] in (0, 1, -1) and ended["replay"].startswith("live-")

    code, _, refused = levelcap(capsys, "match", "start", "nobody", "rookie")
    assert code == 2 and "nobody" in refused

    waiting = levelcap(capsys, "match", "start", "idle")[1].split(":")[0]
    assert waiting in levelcap(capsys, "match", "ls")[1]
    assert "has ended" in levelcap(capsys, "match", "end", waiting)[1]

    with realm() as opened:
        flywheel.begin(opened.store)
    first, second = play_a_little(oracle, "ann-lee"), play_a_little(oracle, "ann-lee")
    recorded = json.loads(levelcap(capsys, "match", "ls", "--json")[1])["recorded"]
    assert [(row["id"], row["person"]) for row in recorded] == [
        (second, "person-ann-lee"),
        (first, "person-ann-lee"),
    ]
    assert "Imitate person-ann-lee (matches: 1)" in levelcap(capsys, "match", "quest", first)[1]
    made = levelcap(capsys, "match", "quest", first, "--all")[1]
    with realm() as opened, reading(opened.engine) as connection:
        quest = quests.get(connection, re.match(r"[^:]+", made).group())
    assert len(quest.recipe["shards"]) == 2 and quest.recipe["policies"] == ["person-ann-lee"]
    assert levelcap(capsys, "match", "quest", "live-x")[0] == 2
