"""Text heroes at the Oracle: `/generate`, OpenAI's routes and its own client, streams cut short."""

import asyncio
import json
import threading

import openai
import pytest

from levelcap.kit.errors import Busy
from levelcap.play.answers import SamplingParams, load_text_hero
from levelcap.services.door.tokens import load_tokens
from levelcap.services.oracle.app import build
from levelcap.services.oracle.generate import Ask, Desk, Tail, write
from levelcap.trials.verdict import Override
from levelcap.vault.champion import promote
from tests.services.callers import caller
from tests.services.oracles import net_in_vault, oracle, text_in_vault
from tests.services.realms import until

PORT = 8765
PROMPT = "Compute: add(①⓪, ⓪①)"
ASKED = {"messages": [{"role": "user", "content": PROMPT}]}


@pytest.fixture
def client(realm):
    app = build(realm.engine, load_tokens(), PORT, capacity=2)
    with caller(app, PORT) as opened:
        yield opened


def refused(answer, status):
    """Code and message of an error in our shape."""
    assert answer.status_code == status, answer.text
    return answer.json()["error"], answer.json()["message"]


def test_a_batch_is_answered_as_the_hero_answers_it(client, realm):
    entry, place = text_in_vault(realm.engine, 1, endless=False)
    prompts = [PROMPT, "Compute: subtract(①①, ⓪①)", "ab"]
    hero = load_text_hero(place)
    body = {"checkpoint": entry.id, "prompt": prompts, "max_tokens": 20}
    said = client.post("/generate", json=body).json()
    assert said["checkpoint"] == entry.id
    assert [row["text"] for row in said["answers"]] == hero.answers(prompts, 20)
    assert said["prompt_tokens"] == sum(len(prompt) + 1 for prompt in prompts)
    sampled = {**body, "temperature": 2.0, "top_k": 5, "seed": 9}
    wanted = hero.answers(prompts, 20, SamplingParams(2.0, 5, 9))
    for _ in range(2):
        said = client.post("/generate", json=sampled).json()
        assert [row["text"] for row in said["answers"]] == wanted


def test_an_answer_ends_at_its_length_or_before_a_stop_text(client, realm):
    entry, _ = text_in_vault(realm.engine, 1)
    body = {"checkpoint": entry.id, "prompt": PROMPT, "max_tokens": 12}
    [whole] = client.post("/generate", json=body).json()["answers"]
    assert (len(whole["text"]), whole["tokens"], whole["finish"]) == (12, 12, "length")
    stop = whole["text"][4:6]
    cut = whole["text"][: whole["text"].index(stop)]
    [short] = client.post("/generate", json=body | {"stop": ["zz", stop]}).json()["answers"]
    assert (short["text"], short["finish"]) == (cut, "stop")


def test_a_tail_holds_back_what_may_become_a_stop_text():
    tail = Tail(["abc", "x"])
    said = [tail.add(character)[0] for character in "1ab2ababc"]
    assert said == ["1", "", "", "ab2", "", "", "ab", "", ""] and tail.over
    free = Tail(["abc"])
    assert [free.add(c) for c in "ab"] == [("", 0), ("", 0)] and free.rest() == ("ab", 2)


def test_names_mean_heroes_of_the_kind_that_is_asked(client, realm):
    flat, _ = net_in_vault(realm.engine, 1)
    reader, _ = text_in_vault(realm.engine, 2)
    for entry in (flat, reader):
        promote(realm.engine, entry.id, Override("test", "test"))
    for name in ("champion", "best", "latest", "dio-tiny", reader.canonical_name):
        said = client.post("/generate", json={"checkpoint": name, "prompt": "ab", "max_tokens": 1})
        assert said.json()["checkpoint"] == reader.id
    models = client.get("/models").json()
    assert (models["champion"], models["text_champion"]) == (flat.id, reader.id)
    assert [row["id"] for row in models["known"]] == [flat.id]
    assert [(row["id"], row["level"]) for row in models["text"]] == [(reader.id, 2)]


def test_each_kind_of_net_is_refused_where_the_other_is_asked(client, realm):
    flat, _ = net_in_vault(realm.engine, 1)
    reader, _ = text_in_vault(realm.engine, 2)
    answer = client.post("/act", json={"checkpoint": reader.id, "rows": [{}]})
    assert "reads text and plays no world" in refused(answer, 400)[1]
    answer = client.post("/generate", json={"checkpoint": flat.id, "prompt": "ab"})
    assert "plays a world and reads no text" in refused(answer, 400)[1]
    answer = client.post("/matches", json={"seats": [reader.id, "idle"]})
    assert "reads text" in refused(answer, 400)[1]


def test_the_shelf_holds_nets_of_both_kinds_and_stays_bounded(client, realm):
    ids = [
        net_in_vault(realm.engine, 1)[0].id,
        text_in_vault(realm.engine, 2)[0].id,
        text_in_vault(realm.engine, 3)[0].id,
    ]
    for name in ids:
        assert client.post("/models/load", json={"checkpoint": name}).status_code == 200
    assert [one["id"] for one in client.get("/models").json()["loaded"]] == ids[1:]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"prompt": []}, "prompt"),
        ({"prompt": ["a"] * 33}, "prompt"),
        ({"prompt": 7}, "prompt"),
        ({"prompt": "a" * 8001}, "prompt"),
        ({"prompt": "a" * 4096}, "4095"),
        ({"prompt": ["a" * 1500] * 32}, "at once"),
        ({"prompt": "snow ☃"}, "alphabet"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 1025}, "max_tokens"),
        ({"temperature": -1}, "temperature"),
        ({"temperature": 11}, "temperature"),
        ({"stop": ["a"] * 5}, "stop"),
        ({"stop": ""}, "stop"),
        ({"seed": -1}, "seed"),
        ({"colour": "red"}, "colour"),
        ({"top_k": 1.5}, "top_k"),
    ],
)
def test_prompts_that_cannot_be_answered_are_refused_by_name(client, realm, change, word):
    entry, _ = text_in_vault(realm.engine, 1)
    answer = client.post("/generate", json={"checkpoint": entry.id, "prompt": "ab", **change})
    assert word in refused(answer, 400)[1]


def test_refusals_below_v1_have_the_shape_of_openai(client, realm):
    entry, _ = text_in_vault(realm.engine, 1)
    good = {"model": entry.id, **ASKED, "max_tokens": 4}

    def error(status, headers=None, content=None, **change):
        sent = {"json": good | change} if content is None else {"content": content}
        answer = client.post("/v1/chat/completions", headers=headers, **sent)
        assert answer.status_code == status, answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
        [(name, said)] = answer.json().items()
        assert name == "error" and set(said) == {"message", "type", "param", "code"}
        return said

    assert error(400, tools=[])["param"] == "tools"
    assert error(400, top_p=0.5)["param"] == "top_p"
    assert "☃" in error(400, messages=[{"role": "user", "content": "☃"}])["message"]
    assert (
        "none of the user" in error(400, messages=[{"role": "system", "content": "a"}])["message"]
    )
    assert error(404, model="checkpoint-none")["code"] == "not_found"
    assert error(401, headers={"Authorization": "Bearer no"})["code"] == "unauthorized"
    assert error(400, content=b"{")["code"] == "bad_json"
    assert client.get("/v1/nothing").json()["error"]["code"] == "not_found"


def test_a_stream_says_what_the_whole_answer_says(client, realm):
    entry, _ = text_in_vault(realm.engine, 1)
    body = {"model": entry.id, **ASKED, "max_tokens": 9, "n": 2, "temperature": 1.5, "seed": 4}
    whole = client.post("/v1/chat/completions", json=body).json()
    streamed = body | {"stream": True, "stream_options": {"include_usage": True}}
    with client.stream("POST", "/v1/chat/completions", json=streamed) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line.removeprefix("data: ") for line in answer.iter_lines() if line]
    assert lines[-1] == "[DONE]"
    texts = ["", ""]
    for line in lines[:-2]:
        [choice] = json.loads(line)["choices"]
        texts[choice["index"]] += choice["delta"].get("content", "")
    assert texts == [choice["message"]["content"] for choice in whole["choices"]]
    assert json.loads(lines[-2])["usage"] == whole["usage"]
    assert whole["usage"]["completion_tokens"] == 18


def test_a_generation_nobody_hears_ends_before_its_next_token(realm):
    _, place = text_in_vault(realm.engine, 1)
    hero, ask = load_text_hero(place), Ask((PROMPT,) * 4, 1000)
    gone = threading.Event()
    coming = write(hero, ask, gone)
    next(coming)
    gone.set()
    assert list(coming) == []

    async def listen():
        desk = Desk(running=1)
        pieces = desk.pieces(hero, ask)
        async for _ in pieces:
            break
        await pieces.aclose()
        while desk.writing:
            await asyncio.sleep(0.01)
        return [piece async for piece in desk.pieces(hero, Ask((PROMPT,), 3))], desk.tokens

    pieces, tokens = asyncio.run(listen())
    assert "".join(piece.text for piece in pieces) == hero.answers([PROMPT], 3)[0]
    assert tokens < 4 * 1000 // 2


def test_when_too_many_wait_the_next_is_told_to_come_back():
    desk = Desk(waiting=1)
    desk.check()
    desk.waiting = 1
    with pytest.raises(Busy, match="too many wait"):
        desk.check()


def test_the_client_of_openai_talks_to_a_real_oracle(realm):
    entry, place = text_in_vault(realm.engine, 1)
    wanted = load_text_hero(place).answers([PROMPT], 30)[0]
    with oracle() as (ours, _):
        client = openai.OpenAI(
            base_url=f"{ours.url}/v1", api_key=load_tokens().worker, max_retries=0
        )
        with client:
            assert [model.id for model in client.models.list()] == [entry.id]
            assert client.models.retrieve("dio-tiny").id == entry.id
            asked = {"model": entry.id, **ASKED, "max_tokens": 30}
            said = client.chat.completions.create(**asked)
            assert said.choices[0].message.content == wanted
            assert said.choices[0].finish_reason == "length"
            assert said.usage.completion_tokens == 30
            with client.chat.completions.create(**asked, stream=True) as stream:
                parts = [chunk.choices[0].delta.content or "" for chunk in stream]
            assert "".join(parts) == wanted and len(parts) > 10
            with pytest.raises(openai.NotFoundError, match="checkpoint-none"):
                client.chat.completions.create(**asked | {"model": "checkpoint-none"})
            with pytest.raises(openai.BadRequestError) as wrong:
                client.chat.completions.create(**asked, top_p=0.5)
            assert wrong.value.param == "top_p" and wrong.value.type == "invalid_request_error"
            cut_short(ours, client, asked)
        with openai.OpenAI(base_url=f"{ours.url}/v1", api_key="x", max_retries=0) as stranger:
            with pytest.raises(openai.AuthenticationError):
                stranger.models.list()


def cut_short(ours, client, asked):
    """Leaves a long stream after its first words; the Oracle writes few tokens after that."""
    before = ours.call("GET", "/health")["written"]
    long = asked | {"max_tokens": 1024, "n": 8}
    with client.chat.completions.create(**long, stream=True) as stream:
        for number, _ in enumerate(stream):
            if number == 20:
                break
    until(lambda: ours.call("GET", "/health")["writing"] == 0, 20, "nothing is written")
    assert 0 < ours.call("GET", "/health")["written"] - before < 8 * 1024 // 2
