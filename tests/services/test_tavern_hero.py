"""The hero's page in every state of the wheel: judged, stuck, begun anew."""

import re

import pytest

from levelcap.campaign.kinds.heroes import find_hero
from levelcap.campaign.sheet.hero import sheet
from levelcap.campaign.sheet.strength import strength_curve
from levelcap.campaign.story import campaigns, quests
from levelcap.campaign.story.events import say
from levelcap.campaign.wheel.control import status
from levelcap.campaign.work.desk import enter
from levelcap.campaign.work.recipes import read_recipe
from levelcap.kit.db import reading, transaction
from levelcap.vault.evals import QUICK, store_eval
from levelcap.vault.ledger import rate
from tests.vault.made import entered


def claim(realm, kind, payload):
    realm.store.register("judge", "local_gpu_1", ["eval_worker", "trainer"])
    realm.store.submit(kind, payload)
    return realm.store.claim("judge", types=[kind])


@pytest.mark.parametrize(
    ("kind", "payload", "told", "words"),
    [
        ("eval", {}, "800 of 2,400, cousins master, score 61% so far", "the sealed panel"),
        ("trial", {"champion": "CHAMPION"}, "screen: 32 of 96 sealed games", "kestrel 7"),
        (
            *("test", {"test": "test-1", "a": "ID", "b": "master"}),
            *("pairs 1 2 3 4 5, games 10 won 2 drawn 18 lost, LLR", "master"),
        ),
    ],
)
def test_a_judged_checkpoint_is_on_trial_and_nobody_rests(
    client, realm, kind, payload, told, words
):
    ids = {"ID": entered(realm, 11_552).id, "CHAMPION": entered(realm, 7).id}
    payload = {name: ids.get(value, value) for name, value in payload.items()}
    payload |= {} if kind == "test" else {"checkpoint": ids["ID"]}
    job = claim(realm, kind, payload)
    realm.store.progress(job.id, "judge", job.fence, 1 / 3, told)
    [found] = realm.read(status)["trials"]
    assert (found["job"], found["checkpoint"]) == (job.id, ids["ID"])
    page = client.get("/").text
    assert "On trial: kestrel 11,552" in page and f"against {words}" in re.sub("<[^>]*>", "", page)
    said = "30 games, 10 won 2 drawn 18 lost" if kind == "test" else told
    assert said in page and "<title>33 % · Kestrel · Hero</title>" in page
    assert "No battle" not in page and ">resting<" not in page and ">Ready<" not in page
    blue = ids["CHAMPION"] if kind == "trial" else "master"
    assert f'href="/arena?red={ids["ID"]}&amp;blue={blue}"' in page
    realm.store.fail(job.id, "judge", job.fence, "execution_error", "it fell")
    assert client.get("/").text.count("On trial") == 0


def test_the_storm_case_is_one_card_with_its_cause_and_the_button_that_helps(client, realm):
    with reading(realm.engine) as connection:
        campaign = campaigns.active(connection, "kestrel")
    realm.store.cancel(realm.store.list("queued")[0].id)
    for number in range(3):
        recipe = read_recipe({"quest": "record", "games": 4, "seed": number})
        enter(realm.store, campaign.id, recipe, source="scheduler")
        realm.store.register("judge", "local_gpu_1", ["data_forge", "trainer"])
        job = realm.store.claim("judge", types=["record"])
        realm.store.fail(job.id, "judge", job.fence, "validation_error", "no such teacher <b>")
    for path in ("/", "/quests", "/jobs"):
        page = client.get(path).text
        assert page.count('class="card halt"') == 1, path
        assert (
            "record failed 3 times in a row (validation_error: no such teacher &lt;b&gt;)" in page
        )
        assert page.count('data-values=\'{"action": "retry"}\'') == 2, path  # card and header
    with reading(realm.engine) as connection:
        assert quests.count(connection)["failed"] == 3
    with client.websocket_connect("ws://localhost:8888/live") as socket:
        assert b"card halt" in socket.receive_bytes()  # a card comes and goes without a reload


def test_the_feed_says_everything_once_and_in_order(client, realm):
    for words in ("one", "two", "two", "two", "three"):
        with transaction(realm.engine) as connection:
            say(connection, "data.recorded", words)
    page = client.get("/").text
    lines = re.findall(r'event-title ">([^<]*)</span><span class="event-text">([^<]*)<', page)
    assert lines[:3] == [
        *(("Recording kept", "three"), ("Recording kept × 3", "two"), ("Recording kept", "one")),
    ]


def test_a_campaign_from_a_champion_inherits_its_judged_figures(realm):
    first = entered(realm, 500, val_loss=0.5, train_loss=0.25, cost_core_seconds=60.0)
    with transaction(realm.engine) as connection:
        rate(connection, first.id, (1200.0, 1150.0, 1250.0))
        made = campaigns.create(connection, "kestrel", "again", starting_checkpoint=first.id)
        found = sheet(connection, find_hero("kestrel"))
        curve = strength_curve(connection, made, "duel")
    assert found.campaign.name == "again" and found.elo.elo == 1200.0
    assert found.stats["DEF"].value == 2.0 and found.checkpoint == first.id
    assert found.bests == {"ATK": 4.0, "DEF": 2.0}
    assert curve.points == [(0.0, 1200.0, 1150.0, 1250.0)] and curve.crowns == []


def test_strength_is_a_picture_with_bots_and_loss_is_one_click_away(client, realm):
    campaign = realm.read(campaigns.active, "kestrel").id
    one = entered(realm, 1, campaign=campaign, cost_core_seconds=60.0)
    sealed = {"veteran": {"win_rate": 0.625, "low": 0.5, "high": 0.75, "games": 40}}
    with transaction(realm.engine) as connection:
        rate(connection, one.id, (900.0, 850.0, 1e9), ">")
        store_eval(connection, one.id, QUICK, "job-1", 0, {"sealed": sealed, "scores": {}})
    page = client.get("/").text
    assert 'aria-label="Strength over training"' in page and "[1.0, 850.0, 1300.0]" in page
    assert "veteran-like" in page and "62 %" in page
    assert 'data-go="?picture=loss"' in page
    assert "Loss of this battle" in client.get("/?picture=loss").text
