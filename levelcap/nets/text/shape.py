"""What a text net is made of: sizes of a Qwen3, and the characters it reads. No torch here.

The same few numbers are what `config.json` of a published Qwen3 folder says; `nets.pretrained`
translates between the two.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from levelcap.kit.errors import BadFile, BadValue, check_known, refuse

PAD, END = "<pad>", "<end>"
MARKS = (PAD, END)  # tokens 0 and 1, before the characters
# Texts of characters are short and their digits stand at exact distances: with Qwen3's 10,000 half
# of the rotating pairs hardly turn within a text (benchmarks/log has the comparison).
CHARACTER_THETA = 100.0


@dataclass(frozen=True)
class TextShape:
    """Sizes and alphabet of one text net; enough to build it again."""

    vocab: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    tied: bool = True
    """the embedding is also the last layer"""
    rope_theta: float = 10_000.0
    norm_eps: float = 1e-6
    positions: int = 4096
    """longest text, in tokens"""
    alphabet_version: int = 0
    characters: str = ""
    """the closed alphabet in token order; empty: the tokens are those of a tokenizer file"""

    def __post_init__(self) -> None:
        for name in ("vocab", "hidden", "layers", "heads", "kv_heads", "head_dim", "ffn"):
            value = getattr(self, name)
            if value < 1:
                raise BadValue(refuse(f"{name} of a text net is at least 1", value, "Raise it"))
        if self.heads % self.kv_heads or self.head_dim % 2:
            what = "heads must be a multiple of kv_heads, and head_dim even"
            value = (self.heads, self.kv_heads, self.head_dim)
            raise BadValue(refuse(what, value, "Choose other sizes"))
        if self.characters and self.vocab != len(self.characters) + len(MARKS):
            what = f"{len(self.characters)} characters and {len(MARKS)} marks are the tokens"
            raise BadValue(refuse(what, self.vocab, "Give vocab their sum"))

    @property
    def parameters(self) -> int:
        """Trainable numbers of the net."""
        attention = self.hidden * self.head_dim * 2 * (self.heads + self.kv_heads)
        layer = attention + 2 * self.head_dim + 3 * self.hidden * self.ffn + 2 * self.hidden
        embeddings = self.vocab * self.hidden * (1 if self.tied else 2)
        return embeddings + self.layers * layer + self.hidden


# hidden, layers, heads, kv_heads, head_dim, ffn
SIZES: dict[str, tuple[int, int, int, int, int, int]] = {
    "dummy": (16, 1, 2, 1, 8, 32),
    "tiny": (128, 3, 4, 2, 32, 384),
}


def character_shape(size: str, version: int, characters: str) -> TextShape:
    """The shape of a net of this size that reads single characters of a closed alphabet."""
    check_known("size of a text net", size, SIZES)
    vocab = len(characters) + len(MARKS)
    return TextShape(
        vocab,
        *SIZES[size],
        rope_theta=CHARACTER_THETA,
        alphabet_version=version,
        characters=characters,
    )


def shape_from_json(values: Any, where: str) -> TextShape:
    """Read a shape back.

    Raises:
        BadFile: a key is missing or unknown.
    """
    names = {f.name for f in dataclasses.fields(TextShape)}
    if not isinstance(values, dict) or set(values) != names:
        odd = sorted(set(values) ^ names) if isinstance(values, dict) else type(values).__name__
        remedy = "Use a checkpoint written by this version"
        raise BadFile(refuse(f"{where} does not describe a text net", odd, remedy))
    try:
        return TextShape(**values)
    except TypeError as error:  # a text where a number belongs
        what = f"{where} does not describe a text net ({error})"
        raise BadFile(refuse(what, sorted(values), "Give whole numbers as sizes")) from error
