"""Everything has an address: one checkpoint, some side by side, a quest, a job, a recipe's form."""

import html
import re

import pytest

from levelcap.campaign.story import quests
from levelcap.campaign.work.recipes import read_recipe
from levelcap.kit.db import transaction
from levelcap.kit.errors import BadValue
from levelcap.services.tavern.pages.quests import LESSONS_CAP, TEMPLATES, TEXT_TEMPLATES, plain_name
from levelcap.vault.ledger import rate
from levelcap.vault.notes import annotate
from tests.vault.made import entered


def words_of(page):
    return html.unescape(re.sub(r"\s+", " ", re.sub("<[^>]*>", "", page)))


def test_the_reload_case_an_open_thing_is_in_the_address(client, realm):
    one = entered(realm, 11_552)
    [quest] = realm.read(quests.list_quests)
    for path, title in (
        (f"/vault/{one.id}", "kestrel 11,552"),
        (f"/quests/{quest.id}", html.escape(quest.title).replace("&quot;", "&#34;")),
        (f"/jobs/{quest.job}", "Job"),
    ):
        page = client.get(path).text
        assert f'aria-label="{title.replace("&#x27;", "&#39;")}" data-close="/' in page, path
    assert f'data-copy="{one.id}"' in client.get(f"/vault/{one.id}").text
    for path in ("/vault/checkpoint-none", "/quests/quest-none", "/jobs/job-none", "/compare/a"):
        assert client.get(path).status_code in (400, 404), path


def test_checkpoints_are_named_as_people_call_them(client, realm):
    one, other = entered(realm, 11_552), entered(realm, 40)
    with transaction(realm.engine) as connection:
        annotate(connection, one.id, text="aims <b>well", tags=["sharp"])
    page = client.get("/vault").text
    assert f'title="{one.id}" data-checkpoint-id="{one.id}">kestrel 11,552</span>' in page
    assert "aims &lt;b&gt;well" in page and ">sharp</span>" in page
    assert other.id not in client.get("/vault", params={"q": "sharp"}).text
    assert "No checkpoint is like that" in client.get("/vault?q=nowhere").text


def test_the_palette_finds_pages_heroes_checkpoints_and_commands(client, realm):
    entered(realm, 11_552)

    def found(words):
        rows = client.get("/find", params={"q": words}).json()["found"]
        return {(row["kind"], row["name"], row.get("go") or row["order"]) for row in rows}

    assert ("page", "Vault", "/vault") in found("vault") | found("")
    assert ("command", "Pause", "/steer") in found("pau")
    assert any(kind == "hero" and go == "/choose" for kind, _, go in found("dio"))
    [(kind, name, go)] = found("kestrel 11,552")
    assert (kind, name) == ("checkpoint", "kestrel 11,552") and go.startswith("/vault/checkpoint-")
    assert found("nothing like that") == set()


def test_two_to_five_are_compared_with_marks(client, realm):
    rows = [entered(realm, n, train_loss=1 / n, val_loss=0.5) for n in (1, 2, 3, 4, 5, 6)]
    with transaction(realm.engine) as connection:
        rate(connection, rows[1].id, (1200.0, 1100.0, 1300.0))
    ids = [row.id for row in rows]
    page = client.get(f"/compare/{ids[0]}/{ids[1]}/{ids[2]}").text
    assert page.count(" ▲</td>") == 1 and page.count(" ▼</td>") == 1  # of the training losses
    assert "not judged in the same games" in page
    assert f'href="/arena?red={ids[0]}&amp;blue={ids[1]}"' in page
    for wrong in ("", f"/{ids[0]}", f"/{ids[0]}/{ids[0]}", "/" + "/".join(ids)):
        answer = client.get(f"/compare{wrong}")
        assert answer.status_code == 400 and "2 to 5" in answer.json()["message"]


def test_a_waiting_quest_says_what_it_waits_for(client, realm):
    assert "waits for a core: it is the next" in words_of(client.get("/quests").text)
    for number in range(2):
        realm.store.submit("health_check", {}, priority="high", idempotency_key=f"k{number}")
    assert "waits for a core: 2 ahead" in words_of(client.get("/quests").text)


def test_every_recipe_can_be_filled_in_with_help_beside_it(client):
    for kind in TEMPLATES:
        page = client.get("/quests", params={"kind": kind}).text
        fields = re.findall(r'<(?:input|select)[^>]* id="f-recipe-[^>]*>', page)
        assert len(fields) >= 4 and all("aria-describedby" in field for field in fields), kind
    assert {*TEMPLATES, *TEXT_TEMPLATES} >= {"study", "spar", "evaluate"}


def test_the_silent_name_case_a_copied_file_keeps_its_name_and_goes_on_the_board():
    assert plain_name("my recipe (1).yaml") == "my-recipe-1.yaml"
    assert plain_name(" évening.yaml ") == "évening.yaml" and plain_name("a/b.yaml") == "a/b.yaml"


def test_recipes_are_refused_in_our_words():
    for recipe, words in (
        ({"quest": "recrod"}, "Did you mean 'record'"),
        ({"quest": "record", "gmes": 4}, "Did you mean 'games'"),
        ({"quest": "record", "world": "dule"}, "Did you mean 'duel'"),
        ({"quest": "record", "games": "many"}, "it must be a valid integer; got 'many'"),
        ({"quest": "imitate"}, "shards is missing"),
    ):
        with pytest.raises(BadValue, match=words):
            read_recipe(recipe)


def test_lessons_are_answered_in_words_when_the_keeper_is_away(client):
    kind = {"content-type": "application/x-ndjson"}
    answer = client.post("/quests/lessons?name=a b.jsonl", content=b"{}", headers=kind)
    assert "is not reachable" in answer.json()["refused"]
    big = client.post(
        "/quests/lessons?name=a.jsonl", content=b"x" * LESSONS_CAP + b"x", headers=kind
    )
    assert big.status_code == 413
