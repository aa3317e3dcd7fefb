"""A text hero without torch answers what the original answers, token by token through the cache."""

import json

import numpy as np
import pytest
import torch

from levelcap.export import text_graph
from levelcap.export.exporter import ModelExporter
from levelcap.export.text import load_text, text_bundle_from_json
from levelcap.guild.alphabet import load_alphabet
from levelcap.kit.errors import BadFile, BadValue, Conflict, Corrupt
from levelcap.nets.checkpoint import save_snapshot, weights_of
from levelcap.nets.meta import text_meta
from levelcap.nets.text.qwen3 import fresh_text_net
from levelcap.nets.text.shape import character_shape


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    place = tmp_path_factory.mktemp("text")
    alphabet = load_alphabet()
    shape = character_shape("dummy", alphabet.version, alphabet.characters)
    meta = text_meta(shape, "dummy")
    net = fresh_text_net(meta, 3)
    with torch.no_grad():  # louder, so that answers have more than one character in them
        for weight in net.parameters():
            weight *= 6
    save_snapshot(place / "checkpoint", weights_of(net), meta, "test")
    exporter = ModelExporter(place / "checkpoint")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_graph, "LONGEST", 32)  # untrained, it hardly ever ends an answer
        return place, net, exporter.export("onnx", place / "bundle"), exporter


def test_two_hundred_answers_are_the_same(text):
    parity = text[2].parity
    assert (parity.observations, parity.action_agreement) == (200, 1.0)
    assert parity.max_difference < 1e-3


def test_the_cache_read_in_portions_is_the_text_read_at_once(text):
    place, net, *_ = text
    hero = load_text(place / "bundle")
    tokens = np.random.default_rng(0).integers(2, hero.bundle.vocab, (3, 17))
    whole, _ = hero.read(tokens, None)
    cache = None
    for part in (tokens[:, :5], tokens[:, 5:6], tokens[:, 6:]):
        logits, cache = hero.read(part, cache)
    assert np.allclose(logits, whole, atol=1e-4)
    with torch.no_grad():
        wanted, _ = net.begin(torch.from_numpy(tokens), torch.tensor([17] * 3), 20)
    assert np.allclose(whole, wanted.numpy(), atol=1e-4)


def test_what_it_cannot_read_or_trust_is_refused(text, tmp_path):
    place, _, _, exporter = text
    hero = load_text(place / "bundle")
    with pytest.raises(BadValue, match="alphabet"):
        hero.answer("\u4e2d")
    with pytest.raises(BadValue, match="Shorten"):
        hero.answer("1" * hero.bundle.positions)
    good = hero.bundle.as_json()
    for change in ({"layers": 0}, {"characters": "aa"}, {"kind": "flat"}, {"witness": [1.0]}):
        with pytest.raises(BadFile):
            text_bundle_from_json(json.loads(json.dumps(good | change)))
    with pytest.raises(Conflict):
        text_bundle_from_json(good | {"format": 9})
    with pytest.raises(BadFile, match="no such"):
        load_text(tmp_path / "nowhere")
    with pytest.raises(BadValue, match="onnx or mobile"):
        exporter.export("torchserve", tmp_path / "mar")
    data = bytearray((place / "bundle" / "text.onnx").read_bytes())
    data[len(data) // 2] ^= 64
    (place / "bundle" / "text.onnx").write_bytes(data)
    with pytest.raises(Corrupt):
        load_text(place / "bundle")
