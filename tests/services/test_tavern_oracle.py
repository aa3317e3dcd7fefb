"""The Tavern's way to the Oracle: answers as they come, refusals in words, problems judged."""

import asyncio
import json

import pytest
from starlette.testclient import TestClient

from levelcap.campaign.realm import open_realm
from levelcap.guild.engine import get_engine
from levelcap.kit.errors import BadValue, UnknownName
from levelcap.play.answers import load_text_hero
from levelcap.services.door.http import make_app
from levelcap.services.door.tokens import load_tokens
from levelcap.services.tavern.arena import OracleClient
from levelcap.services.tavern.oracle import checkpoint_label, draw, routes
from tests.services.oracles import oracle, text_in_vault
from tests.services.realms import until

PORT = 8888
PROMPT = "Compute: add(①⓪, ⓪①)"


def visitor(url):
    """A browser with every right at a Tavern whose Oracle is at `url`."""
    tokens = load_tokens()
    app = make_app("tavern", tokens=tokens, port=PORT)
    app.include_router(routes(OracleClient(url, tokens.worker)))
    headers = {"Authorization": f"Bearer {tokens.admin}", "Content-Type": "application/json"}
    return TestClient(app, base_url=f"http://localhost:{PORT}", headers=headers)


def events(answer):
    lines = [line.removeprefix("data: ") for line in answer.text.split("\n") if line]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def test_answers_and_refusals_of_a_real_oracle_reach_the_browser(home):
    realm = open_realm()
    entry, place = text_in_vault(realm.engine, 3)
    realm.close()
    wanted = load_text_hero(place).answers([PROMPT], 20)[0]
    with oracle() as (client, _), visitor(client.url) as browser:
        said = browser.get("/oracle/api/checkpoints").json()
        assert said["checkpoints"] == [{"id": entry.id, "label": "dio-tiny · step 3 · BIN 2"}]
        assert {row["id"] for row in said["skills"]} == {"bin", "sy"}
        asked = {"checkpoint": entry.id, "prompt": PROMPT, "max_tokens": 20}
        answer = browser.post("/oracle/api/chat", json=asked)
        assert answer.headers["content-type"].startswith("text/event-stream")
        pieces = [row["choices"][0]["delta"].get("content", "") for row in events(answer)]
        assert "".join(pieces) == wanted
        [refusal] = events(browser.post("/oracle/api/chat", json=asked | {"prompt": "☃"}))
        assert "alphabet" in refusal["error"]["message"]
        [refusal] = events(browser.post("/oracle/api/chat", json=asked | {"checkpoint": "none"}))
        assert "none" in refusal["error"]["message"]
        leaves_early(client, entry.id)


def leaves_early(client, checkpoint):
    """Closing the relay ends the Oracle's computation."""
    asked = {
        "model": checkpoint,
        "messages": [{"role": "user", "content": PROMPT}],
        "n": 8,
        "max_tokens": 1024,
        "stream": True,
    }
    before = client.call("GET", "/health")["written"]

    async def leave():
        own = OracleClient(client.url, load_tokens().worker)
        pieces = await own.stream("POST", "/v1/chat/completions", asked)
        async for _ in pieces:
            break
        await pieces.aclose()

    asyncio.run(leave())
    until(lambda: client.call("GET", "/health")["writing"] == 0, 20, "nothing is written")
    assert client.call("GET", "/health")["written"] - before < 8 * 1024 // 2


def test_an_oracle_that_is_away_is_a_sentence(home):
    with visitor("http://127.0.0.1:9") as browser:
        asked = {"checkpoint": "champion", "prompt": PROMPT}
        [refusal] = events(browser.post("/oracle/api/chat", json=asked))
        assert "The Oracle is not reachable" in refusal["error"]["message"]
        assert browser.get("/oracle/api/checkpoints").status_code == 409


@pytest.mark.parametrize("skill", ["bin", "sy"])
def test_a_problem_is_judged_by_its_seed(home, skill):
    with visitor("http://127.0.0.1:9") as browser:
        where = {"skill": skill, "level": 2, "seed": 11}
        said = browser.get("/oracle/api/problem", params=where).json()
        assert said["prompt"] == draw(skill, 2, 11).prompt != draw(skill, 2, 12).prompt
        right = get_engine().solve(draw(skill, 2, 11))
        for answer, good in ((right, True), (right + " ", False), ("", False)):
            judged = browser.post("/oracle/api/judge", json=where | {"answer": answer}).json()
            assert judged == {"right": good, "wanted": right}


def test_a_typed_problem_is_judged_when_the_guild_can_solve_it(home):
    with visitor("http://127.0.0.1:9") as browser:

        def judged(prompt, answer):
            return browser.post(
                "/oracle/api/judge_typed", json={"prompt": prompt, "answer": answer}
            )

        drawn = draw("sy", 2, 11)
        right = get_engine().solve(drawn)
        assert judged(drawn.prompt, right).json() == {"right": True, "wanted": right, "by": "sy"}
        said = judged(PROMPT, "nonsense").json()
        assert not said["right"] and said["by"] == "bin" and "①①" in said["wanted"]
        assert judged("Who are you?", "DIO").json()["by"] == ""


def test_problems_that_do_not_exist_are_refused():
    with pytest.raises(UnknownName):
        draw("chess", 1, 0)
    with pytest.raises(BadValue, match="level"):
        draw("bin", 31, 0)


def test_a_label_holds_no_figure_that_was_not_measured():
    row = {"id": "c", "hero": "dio-tiny", "step": 1500, "skill": None, "level": None}
    assert checkpoint_label(row | {"accuracy": None}) == "dio-tiny · step 1,500"
    known = row | {"skill": "bin", "level": 3, "accuracy": 0.814}
    assert checkpoint_label(known) == "dio-tiny · step 1,500 · BIN 3 · 81 % exact"
