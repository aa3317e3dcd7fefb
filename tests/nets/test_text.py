"""The text net: equal to transformers', whatever stands beside a text; tokens; snapshots."""

import dataclasses

import numpy as np
import pytest
import torch

from levelcap.kit.errors import BadFile, BadValue
from levelcap.kit.files import read_json
from levelcap.nets.checkpoint import load_snapshot, save_snapshot, weights_of
from levelcap.nets.family import describe
from levelcap.nets.meta import meta_from_json, text_meta
from levelcap.nets.text.pretrained import load_published, to_transformers
from levelcap.nets.text.qwen3 import Qwen3Net, fresh_text_net
from levelcap.nets.text.rows import lay_out, padded
from levelcap.nets.text.shape import TextShape, character_shape
from levelcap.nets.text.tokens import character_tokens, file_tokens
from levelcap.world.spec import arena_spec

SHAPE = character_shape("tiny", 1, "ab()=,: \n⓪①")
META = text_meta(SHAPE, "tiny")


def some_texts(count=9, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 70, count)
    return [rng.integers(2, SHAPE.vocab, size).tolist() for size in sizes]


def places_of(rows):
    spans = zip(rows.starts.tolist(), rows.lengths.tolist(), strict=True)
    return torch.cat([torch.arange(start, start + length) for start, length in spans])


@pytest.mark.parametrize("tied", [True, False])
def test_it_computes_what_transformers_computes(tied):
    net = fresh_text_net(text_meta(dataclasses.replace(SHAPE, tied=tied), "tiny"), 3)
    with torch.no_grad():
        for parameter in net.parameters():  # norms that are all 1 would hide a mistake
            parameter.add_(torch.randn(parameter.shape) * 0.1)
    theirs, texts = to_transformers(net), some_texts()
    rows = lay_out(texts, 0)
    with torch.no_grad():
        mine = net(rows, places_of(rows))
        wanted = torch.cat([theirs(torch.tensor([text])).logits[0] for text in texts])
    torch.testing.assert_close(mine, wanted, rtol=1e-5, atol=1e-5)


def test_gradients_are_those_of_transformers():
    net, texts = fresh_text_net(META, 1), some_texts(3)
    theirs, rows = to_transformers(net), lay_out(texts, 0)
    net(rows, places_of(rows)).square().mean().backward()
    loss = torch.cat([theirs(torch.tensor([text])).logits[0] for text in texts]).square().mean()
    loss.backward()
    wanted = dict(theirs.named_parameters())
    for name, parameter in net.named_parameters():
        torch.testing.assert_close(parameter.grad, wanted[name].grad, rtol=1e-3, atol=1e-6)


def test_the_number_of_parameters_is_known_without_building():
    for shape in (SHAPE, dataclasses.replace(SHAPE, tied=False, layers=2, ffn=8)):
        net = Qwen3Net(text_meta(shape, "x"))
        assert shape.parameters == sum(p.numel() for p in net.parameters())


def test_texts_are_padded_by_at_most_an_eighth_and_blocks_cover_every_token():
    assert [padded(n) for n in (1, 8, 9, 64, 65, 129, 300)] == [8, 8, 16, 64, 80, 160, 320]
    texts = some_texts(40)
    rows = lay_out(texts, 0)
    for text, start in zip(texts, rows.starts.tolist(), strict=True):
        assert rows.tokens[start : start + len(text)].tolist() == text
        assert rows.positions[start : start + len(text)].tolist() == list(range(len(text)))
    assert sum(block.rows * block.length for block in rows.blocks) == len(rows.tokens)


def test_tokens_are_characters_and_back():
    tokens = character_tokens(SHAPE)
    text = "a(⓪①, b) = \n①"
    assert tokens.encode(text) == [SHAPE.characters.index(c) + 2 for c in text]
    assert tokens.decode([*tokens.encode(text), tokens.end, 4, 5]) == text
    assert tokens.decode([tokens.pad, tokens.end]) == ""


def test_a_character_outside_the_alphabet_is_refused_by_its_place():
    with pytest.raises(BadValue, match="character 3 is outside the hero's alphabet"):
        character_tokens(SHAPE).encode("abc")


def test_a_snapshot_is_rebuilt_from_its_folder_alone(tmp_path):
    net = fresh_text_net(META, 5)
    save_snapshot(tmp_path / "s", weights_of(net), META, "test")
    again, meta, _ = load_snapshot(tmp_path / "s")
    assert meta == META and isinstance(again, Qwen3Net)
    assert meta.text.characters == SHAPE.characters and meta.text.alphabet_version == 1
    for name, weight in net.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], weight, rtol=0, atol=0)


def test_nets_of_a_world_describe_themselves_as_before(tmp_path):
    meta = describe("flat", arena_spec("duel"), "dummy")
    assert "text" not in meta.as_json()
    assert meta_from_json(meta.as_json(), "here") == meta
    with pytest.raises(BadFile, match="text"):
        meta_from_json({**meta.as_json(), "text": None}, "here")
    lacking = {k: v for k, v in META.as_json().items() if k != "text"}
    with pytest.raises(BadFile, match="text"):
        meta_from_json(lacking, "here")


def test_a_published_folder_is_loaded_with_its_tokenizer(tmp_path):
    net = fresh_text_net(META, 2)
    to_transformers(net).save_pretrained(tmp_path / "model")
    character_tokens(SHAPE).tokenizer.save(str(tmp_path / "model" / "tokenizer.json"))
    again, tokens, meta = load_published(tmp_path / "model")
    assert read_json(tmp_path / "model" / "config.json")["model_type"] == "qwen3"
    assert meta.size == "model" and tokens.encode("ab(") == character_tokens(SHAPE).encode("ab(")
    rows = lay_out(some_texts(4), 0)
    with torch.no_grad():
        theirs, ours = again(rows, places_of(rows)), net(rows, places_of(rows))
    torch.testing.assert_close(theirs, ours, rtol=1e-5, atol=1e-6)


def test_what_is_no_model_folder_is_refused(tmp_path):
    with pytest.raises(BadFile, match="dio-tiny"):
        load_published(tmp_path)
    with pytest.raises(BadFile, match=r"tokenizer\.json"):
        file_tokens(tmp_path / "tokenizer.json")


def test_impossible_shapes_are_refused():
    for change in ({"heads": 3, "kv_heads": 2}, {"head_dim": 5}, {"vocab": 4}, {"layers": 0}):
        with pytest.raises(BadValue):
            dataclasses.replace(SHAPE, **change)
    assert isinstance(SHAPE, TextShape)
