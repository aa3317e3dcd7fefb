"""Answers of a text hero: cached generation is uncached generation; exact match is greedy match."""

import numpy as np
import pytest
import torch

from levelcap.kit.errors import BadFile, BadValue
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.family import describe, new_net
from levelcap.nets.meta import text_meta
from levelcap.nets.text.pretrained import to_transformers
from levelcap.nets.text.qwen3 import fresh_text_net
from levelcap.nets.text.shape import character_shape
from levelcap.nets.text.tokens import character_tokens
from levelcap.play.answers import SamplingParams, TextHero, load_text_hero
from levelcap.world.spec import arena_spec

SHAPE = character_shape("tiny", 1, "abcdefgh \n")
META = text_meta(SHAPE, "tiny")


@pytest.fixture(scope="module")
def hero():
    net = fresh_text_net(META, 0)
    with torch.no_grad():
        for parameter in net.parameters():  # larger weights: answers that end, and differ
            if parameter.ndim == 2:
                parameter.mul_(6)
    return TextHero(net.eval(), character_tokens(SHAPE), META)


def some_prompts(count=24):
    rng = np.random.default_rng(1)
    return ["".join(rng.choice(list("abcdefgh "), rng.integers(1, 20))) for _ in range(count)]


def test_greedy_answers_are_those_of_transformers_generation(hero):
    theirs = to_transformers(hero.net)
    for prompt, answer in zip(some_prompts(8), hero.answers(some_prompts(8), 12), strict=True):
        tokens = torch.tensor([hero.tokens.encode(prompt + "\n")])
        for _ in range(12):
            chosen = theirs(tokens).logits[0, -1, 1:].argmax() + 1  # 0 is the pad
            if chosen == hero.tokens.end:
                break
            tokens = torch.cat([tokens, chosen.view(1, 1)], 1)
        assert hero.tokens.decode(tokens[0].tolist()) == f"{prompt}\n{answer}"


def test_an_answer_does_not_depend_on_what_is_answered_beside_it(hero):
    prompts = some_prompts()
    assert hero.answers(prompts, 20) == [hero.answers([p], 20)[0] for p in prompts]


def test_exact_match_without_generating_is_greedy_match(hero):
    prompts = some_prompts(60)
    found = {p: hero.answers([p], 60)[0] for p in prompts}
    ended = [p for p in prompts if len(found[p]) < 60]
    assert len(ended) > 10  # or this test compares too little
    rng = np.random.default_rng(2)
    wanted = [found[p] if rng.random() < 0.5 else _spoiled(found[p], rng) for p in ended]
    right = hero.exact(ended, wanted)
    assert right.tolist() == [found[p] == w for p, w in zip(ended, wanted, strict=True)]
    assert 0 < right.sum() < len(right)


def _spoiled(text, rng):
    place = int(rng.integers(0, len(text) + 1))
    return text[:place] + "a" + text[place + int(rng.integers(0, 2)) :]


def test_an_answer_that_goes_on_too_long_is_no_match(hero):
    for prompt in some_prompts(10):
        answer = hero.answers([prompt], 60)[0]
        if len(answer) > 1:
            assert not hero.exact([prompt], [answer[:-1]])[0]


def test_sampling_follows_its_seed_and_its_temperature(hero):
    prompts = some_prompts(6)
    one, same = (hero.answers(prompts, 20, SamplingParams(1.0, seed=4)) for _ in range(2))
    assert one == same != hero.answers(prompts, 20, SamplingParams(1.0, seed=5))
    assert hero.answers(prompts, 20, SamplingParams(1.0, top_k=1)) == hero.answers(prompts, 20)


def test_nothing_asked_is_nothing_answered(hero):
    assert hero.answers([]) == []
    assert hero.exact([], []).shape == (0,)


def test_refusals(hero, tmp_path):
    with pytest.raises(BadValue, match="alphabet"):
        hero.answers(["xyz"])
    with pytest.raises(BadValue, match="4095 tokens"):
        hero.answers(["a" * 5000])
    with pytest.raises(BadValue, match="temperature"):
        SamplingParams(temperature=-1.0)
    flat = describe("flat", arena_spec("duel"), "dummy")
    save_snapshot(tmp_path / "flat", weights_of(new_net(flat)), flat, "test")
    with pytest.raises(BadFile, match="reads no text"):
        load_text_hero(tmp_path / "flat")


def test_a_loaded_hero_answers_the_same(hero, tmp_path):
    save_snapshot(tmp_path / "s", weights_of(hero.net), META, "test")
    assert load_text_hero(tmp_path / "s").answers(some_prompts(4), 9) == hero.answers(
        some_prompts(4), 9
    )
