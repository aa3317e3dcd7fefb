"""Text heroes as bundles: one graph with a cache of keys and values, run without torch.

    from levelcap.export.text import load_text
    load_text("exports/dio").answer("①⓪ plus ①")

Shapes: B texts, T new tokens, P tokens in the cache, L layers, K key heads, D per head, V tokens.

The graph reads T tokens after P cached ones and gives the logits of the next: the whole prompt at
first (P = 0), then one token at a time. Descriptions are checked as those of arena bundles are.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levelcap.export.bundle import FILE, FORMAT, MAX_GRAPH_BYTES, MAX_SIZE, REMEDY, Port
from levelcap.export.session import AGAIN, Session
from levelcap.kit.errors import BadFile, BadValue, Conflict, refuse
from levelcap.kit.files import read_json
from levelcap.kit.publish import verify

GRAPH = "text.onnx"
PAD, END, MARKS = 0, 1, 2  # tokens before the characters
BETWEEN = "\n"
MAX_CHARACTERS = 4096
WITNESS = 8  # tokens of the text that a bundle is tried with when it is loaded
TOLERANCE = 1e-2


@dataclass(frozen=True)
class TextBundle:
    """What `bundle.json` says of a text hero."""

    characters: str
    """the closed alphabet, in token order after pad and end"""
    positions: int
    layers: int
    kv_heads: int
    head_dim: int
    source: str
    """sha256 of the weights it was made of"""
    witness: tuple[float, ...] = ()
    """logits after the first eight tokens, on the machine that exported it"""
    threads: int = 1
    kind: str = "text"
    format: int = FORMAT

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def files(self) -> dict[str, str]:
        """File of each graph by its name."""
        return {"text": GRAPH}

    @property
    def vocab(self) -> int:
        """V."""
        return len(self.characters) + MARKS

    @property
    def cache(self) -> Port:
        """What is kept of a text, without its rows and tokens."""
        return Port("float32", (self.layers, self.kv_heads, self.head_dim))


def text_bundle_from_json(values: Any) -> TextBundle:
    """Read it back, checked.

    Raises:
        BadFile: naming what is wrong. Conflict: another format.
    """
    if isinstance(values, dict) and values.get("format") != FORMAT:
        remedy = f"This version reads format {FORMAT}"
        raise Conflict(refuse("a bundle of another format", values.get("format"), remedy))
    try:
        bundle = TextBundle(**values | {"witness": tuple(float(x) for x in values["witness"])})
        counts = (bundle.positions, bundle.layers, bundle.kv_heads, bundle.head_dim, bundle.threads)
        fine = all(type(n) is int and 0 < n <= MAX_SIZE for n in counts)
        fine &= bundle.kind == "text" and len(bundle.witness) == bundle.vocab
        fine &= len(set(bundle.characters)) == len(bundle.characters) <= MAX_CHARACTERS
    except (TypeError, KeyError, ValueError) as error:
        raise BadFile(
            refuse(f"{FILE} does not describe a text hero", str(error), REMEDY)
        ) from error
    if not fine or not isinstance(bundle.source, str):
        raise BadFile(refuse(f"{FILE}: parts do not fit each other", bundle.kind, REMEDY))
    return bundle


class TextBundleHero:
    """A loaded text bundle."""

    def __init__(self, bundle: TextBundle, graph: bytes) -> None:
        self.bundle = bundle
        self._session = Session(graph, GRAPH, bundle.threads)
        self._numbers = {text: at + MARKS for at, text in enumerate(bundle.characters)}

    def answer(self, prompt: str, longest: int = 256) -> str:
        """The likeliest answer to a prompt, of at most `longest` tokens.

        Raises:
            BadValue: a character outside the alphabet, or a prompt that leaves no room.
        """
        tokens = self._encode(prompt + BETWEEN)
        room = min(len(tokens) + longest, self.bundle.positions)
        if len(tokens) >= self.bundle.positions:
            most = self.bundle.positions - 1
            what = f"a prompt has at most {most} tokens here"
            raise BadValue(refuse(what, len(tokens), "Shorten the prompt"))
        logits, cache = self.read(np.array([tokens]), None)
        said: list[int] = []
        while len(tokens) + len(said) < room:
            logits[:, PAD] = -np.inf  # a pad is no answer
            token = int(logits[0].argmax())
            if token == END:
                break
            said.append(token)
            if len(tokens) + len(said) < room:
                logits, cache = self.read(np.array([[token]]), cache)
        return "".join(self.bundle.characters[token - MARKS] for token in said)

    def read(
        self, tokens: NDArray[np.int64], cache: tuple[NDArray[Any], NDArray[Any]] | None
    ) -> tuple[NDArray[np.float32], tuple[NDArray[Any], NDArray[Any]]]:
        """tokens [B, T] after what is cached -> logits [B, V] of the next, and the cache."""
        if cache is None:
            layers, heads, size = self.bundle.cache.shape
            empty = np.zeros((len(tokens), layers, heads, 0, size), np.float32)
            cache = (empty, empty)
        out = self._session.run(tokens=tokens, keys=cache[0], values=cache[1])
        if out["logits"].shape != (len(tokens), self.bundle.vocab):
            raise BadFile(refuse(f"{GRAPH} gives other shapes", out["logits"].shape, AGAIN))
        return out["logits"], (out["next_keys"], out["next_values"])

    def _encode(self, text: str) -> list[int]:
        for place, character in enumerate(text):
            if character not in self._numbers:
                what = f"character {place + 1} is outside the hero's alphabet"
                raise BadValue(refuse(what, character, "Use the characters of the bundle"))
        return [self._numbers[character] for character in text]


def witness_of(hero: TextBundleHero) -> NDArray[np.float32]:
    """Logits [V] after eight tokens, read in two portions so that the cache counts."""
    tokens = (np.arange(WITNESS) * 7) % hero.bundle.vocab
    half = WITNESS // 2
    _, cache = hero.read(tokens[None, :half], None)
    return hero.read(tokens[None, half:], cache)[0][0]


def load_text(folder: str | Path) -> TextBundleHero:
    """A text bundle, every byte of it verified, ready to answer.

    Raises:
        BadFile, Corrupt, Conflict: no such bundle, a damaged one, or of another version; and why.
    """
    place = Path(folder)
    if not place.is_dir():
        raise BadFile(refuse("no such bundle folder", str(folder), "Give its path"))
    manifest = verify(place)
    missing = [name for name in (FILE, GRAPH) if name not in manifest.files]
    if missing or manifest.files[GRAPH]["bytes"] > MAX_GRAPH_BYTES:
        raise BadFile(refuse("no bundle of a text hero", missing or "too large", REMEDY))
    bundle = text_bundle_from_json(read_json(place / FILE))
    hero = TextBundleHero(bundle, (place / GRAPH).read_bytes())
    gap = np.abs(witness_of(hero) - np.array(bundle.witness, np.float32)).max()
    if not gap < TOLERANCE:
        what = "the bundle answers otherwise than when it was made"
        raise BadFile(refuse(what, float(gap), AGAIN))
    return hero
